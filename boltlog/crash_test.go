package boltlog

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/heraldbus/herald/store"
)

// The crash test kills a process that writes, again and again, and compares what it finds with what
// that process had said was durable. The process is this test binary.

// crashPath, if set, makes this process the one that is killed.
const crashPath = "HERALD_CRASH_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPath); path != "" {
		if err := writeUntilKilled(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1) // it should have been killed
	}
	os.Exit(m.Run())
}

// kills is how often the process is killed: HERALD_KILLS, else a number that fits into a minute.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("HERALD_KILLS")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// TestKill_G37_G38_G41_G42 shows that after kill -9 everything is there that was acknowledged, in order, without a gap,
// equal to what was written; cursors never point at what isn't there, and
// never behind what they were known to have committed (G37, G38, G41, G42).
func TestKill_G37_G38_G41_G42(t *testing.T) {
	t.Parallel() // it waits for the disk most of the time
	path := tempPath(t)
	random := rand.New(rand.NewPCG(1, 2))
	o := oracle{acknowledged: map[string]uint64{}, t: t}
	n := kills(t)
	for range n {
		o.life(path, 1+random.IntN(60))
		o.check(path)
	}
	fmt.Printf("proof: layer=crash kills=%d acknowledged=%d recovered=%d commits=%d lost=0 damaged=0\n", n, o.acknowledged["record"], o.recovered, o.acknowledged["commit"])
	if o.acknowledged["record"] == 0 || o.acknowledged["commit"] == 0 {
		t.Error("nothing was ever acknowledged")
	}
}

// An oracle knows what must be there.
type oracle struct {
	t            *testing.T
	acknowledged map[string]uint64 // the last "record" and "commit"
	recovered    uint64
}

// life runs a process until it has acknowledged so many steps more, and kills it.
func (o *oracle) life(path string, steps int) {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashPath+"="+path)
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.StdoutPipe()
	must(o.t, err)
	must(o.t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		o.note(lines.Text())
		if steps--; steps == 0 {
			must(o.t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	if steps > 0 {
		o.t.Fatalf("it ended by itself: %s", &diag)
	}
}

// note takes a line "record 17" or "commit 12".
func (o *oracle) note(line string) {
	o.t.Helper()
	what, number, ok := strings.Cut(line, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if !ok || err != nil {
		return // the last line, cut off
	}
	o.acknowledged[what] = max(o.acknowledged[what], n)
}

func (o *oracle) check(path string) {
	t := o.t
	t.Helper()
	s := open(t, path)
	defer func() { must(t, s.Close()) }()
	must(t, s.Verify(t.Context(), nil))
	l, err := s.Open(t.Context(), "orders", store.Settings{})
	must(t, err)
	got, err := readAll(t.Context(), l)
	must(t, err)
	for i, r := range got {
		want := record(i + 1)
		want.Offset = uint64(i + 1)
		if r.Offset != want.Offset || !bytes.Equal(r.Data, want.Data) || r.ID != want.ID || !r.Time.Equal(want.Time) {
			t.Fatalf("record %d is %+v, want %+v", i+1, r, want)
		}
	}
	if o.recovered = uint64(len(got)); o.recovered < o.acknowledged["record"] {
		t.Fatalf("%d records were acknowledged, %d are there", o.acknowledged["record"], o.recovered)
	}
	c, err := l.Cursor(t.Context(), "billing")
	if err != nil && o.acknowledged["commit"] == 0 {
		return
	}
	must(t, err)
	if c.Committed < o.acknowledged["commit"] || c.Committed > o.recovered {
		t.Fatalf("committed %d; at least %d was acknowledged, and %d records are there", c.Committed, o.acknowledged["commit"], o.recovered)
	}
	letters, err := l.Dead(t.Context(), 0, 1<<20)
	must(t, err)
	if want := c.Committed / 10; uint64(len(letters)) != want {
		t.Fatalf("%d dead letters with %d committed, want %d: they were buried in another step", len(letters), c.Committed, want)
	}
}

// writeUntilKilled appends records by their numbers and commits them, every tenth as dead, and says so
// line by line, each line after it's durable.
func writeUntilKilled(path string) error {
	s, err := Open(path, small)
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := s.Open(ctx, "orders", store.Settings{})
	if err != nil {
		return err
	}
	for {
		next := int(l.Bounds().Next)
		rs := records(next, 1+next%3)
		if err := l.Append(ctx, rs); err != nil {
			return err
		}
		fmt.Printf("record %d\n", rs[len(rs)-1].Offset)
		if err := commitOne(l); err != nil {
			return err
		}
	}
}

// commitOne moves the cursor by one record.
func commitOne(l store.Log) error {
	c, err := l.Cursor(context.Background(), "billing")
	if err != nil && c.Committed != 0 {
		return err
	}
	step := store.Commit{Cursor: store.Cursor{Committed: c.Committed + 1}}
	if step.Cursor.Committed%10 == 0 {
		step.Dead = []store.DeadLetter{{Record: record(int(step.Cursor.Committed)), At: began, Attempts: 1}}
	}
	if err := l.Commit(context.Background(), "billing", step); err != nil {
		return err
	}
	fmt.Printf("commit %d\n", step.Cursor.Committed)
	return nil
}
