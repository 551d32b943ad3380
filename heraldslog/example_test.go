package heraldslog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/heraldbus/herald"
	"github.com/heraldbus/herald/heraldslog"
	"github.com/heraldbus/herald/policy"
)

// withoutTime makes the output of examples repeatable.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

var options = &slog.HandlerOptions{ReplaceAttr: withoutTime}

// run calls log.Run in the background, as programs do, and says how it ended
// if it wasn't well.
func run(ctx context.Context, log *heraldslog.Handler) {
	go func() {
		if err := log.Run(ctx); err != nil {
			fmt.Println("log:", err)
		}
	}()
}

// A console for warnings and a file for everything, each with a queue of its
// own.
func ExampleNew() {
	ctx := context.Background()
	var console, file bytes.Buffer // in a program os.Stderr and a file
	log := heraldslog.New()
	if err := errors.Join(
		log.Add("console", slog.LevelWarn, slog.NewTextHandler(&console, options)),
		log.Add("file", slog.LevelDebug, slog.NewJSONHandler(&file, options), herald.WithCapacity(1<<16)),
	); err != nil {
		fmt.Println(err)
		return
	}
	run(ctx, log)

	logger := slog.New(log).With("service", "shop") // or slog.SetDefault(slog.New(log))
	logger.Debug("cart opened", "customer", 7)
	logger.Warn("stock is low", slog.Group("item", "id", 42, "left", 3))

	if err := log.Drain(ctx); err != nil { // at the end of main, with a deadline
		fmt.Println(err)
	}
	fmt.Print("console:\n", console.String())
	fmt.Print("file:\n", file.String())
	// Output:
	// console:
	// level=WARN msg="stock is low" service=shop item.id=42 item.left=3
	// file:
	// {"level":"DEBUG","msg":"cart opened","service":"shop","customer":7}
	// {"level":"WARN","msg":"stock is low","service":"shop","item":{"id":42,"left":3}}
}

// Before a program crashes on purpose it makes sure that the reason can be
// read.
func ExampleHandler_Flush() {
	ctx := context.Background()
	log := heraldslog.New()
	if err := log.Add("console", nil, slog.NewTextHandler(os.Stdout, options)); err != nil {
		fmt.Println(err)
		return
	}
	run(ctx, log)
	defer log.Close()

	slog.New(log).Error("out of memory", "free", 0)
	if err := log.Flush(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println("exit status 1")
	// Output:
	// level=ERROR msg="out of memory" free=0
	// exit status 1
}

// A queue for three records gets ten. The latest are kept, and the log says
// what is missing.
func ExampleHandler_lostRecords() {
	ctx := context.Background()
	log := heraldslog.New()
	if err := log.Add("file", nil, slog.NewTextHandler(os.Stdout, options), herald.WithCapacity(3)); err != nil {
		fmt.Println(err)
		return
	}
	logger := slog.New(log)
	for i := range 10 {
		logger.Info("tick", "i", i) // nobody writes yet
	}
	log.Close()
	if err := log.Run(ctx); err != nil {
		fmt.Println(err)
	}
	for _, a := range log.Stats().Appenders {
		fmt.Printf("%s: %d wanted, %d written, %d lost\n", a.Name, a.Wanted, a.Written, a.Lost)
	}
	// Output:
	// level=WARN msg="7 records lost" lost=7
	// level=INFO msg=tick i=7
	// level=INFO msg=tick i=8
	// level=INFO msg=tick i=9
	// file: 10 wanted, 3 written, 7 lost
}

// An audit log must not lose anything: who logs waits for room, and a write
// that failed is tried again. What can't be written all the same is reported.
func ExampleWithErrorFunc() {
	ctx := context.Background()
	log := heraldslog.New(heraldslog.WithErrorFunc(func(err error) { fmt.Println(err) }))
	err := log.Add("audit", nil, brokenDisk{},
		herald.WithOverflow(policy.Block(0)),
		herald.WithRetry(policy.Schedule{0, 0}), // in a program policy.Exponential
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	slog.New(log).Info("paid", "order", 42)
	log.Close()
	if err := log.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// attempt
	// attempt
	// attempt
	// retries exhausted log/audit: disk full
	// attempt
	// report 1 lost records log/audit: disk full
}

// A brokenDisk writes nothing.
type brokenDisk struct{}

func (brokenDisk) Enabled(context.Context, slog.Level) bool { return true }
func (d brokenDisk) WithAttrs([]slog.Attr) slog.Handler     { return d }
func (d brokenDisk) WithGroup(string) slog.Handler          { return d }

func (brokenDisk) Handle(context.Context, slog.Record) error {
	fmt.Println("attempt")
	return errors.New("disk full")
}
