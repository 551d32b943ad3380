package boltlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
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
	o := oracle{acknowledged: map[string]uint64{}, t: t, random: random}
	n := kills(t)
	for range n {
		o.life(path, 1+random.IntN(80))
		o.check(path)
	}
	fmt.Printf("proof: layer=crash kills=%d acknowledged=%d recovered=%d commits=%d unacknowledged=%d lost=0 damaged=0\n",
		n, o.lines, o.recovered, o.acknowledged["commit"], o.surprises)
	if o.lines == 0 || o.acknowledged["commit"] == 0 || o.surprises == 0 {
		t.Errorf("%d lines, %d commits, %d kills in the middle of a write: the test proves nothing", o.lines, o.acknowledged["commit"], o.surprises)
	}
}

// An oracle knows what must be there.
type oracle struct {
	t            *testing.T
	acknowledged map[string]uint64 // the last number of each publisher, and of "commit"
	lines        uint64            // records that were acknowledged
	recovered    uint64
	surprises    int // lives that left more than they had acknowledged: killed in the middle of a write
	random       *rand.Rand
	sum          uint32
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
			o.dawdle()
			must(o.t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	if steps > 0 {
		o.t.Fatalf("it ended by itself: %s", &diag)
	}
}

// dawdle lets a random bit of time pass, up to some transactions: a process that is killed right after a line
// is always killed at the same point, before its next write.
func (o *oracle) dawdle() {
	page := make([]byte, 4096)
	for range o.random.IntN(20_000) {
		o.sum = crc32.Update(o.sum, castagnoli, page)
	}
}

// note takes a line "publisher-1 17" or "commit 12".
func (o *oracle) note(line string) {
	o.t.Helper()
	what, number, ok := strings.Cut(line, " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if !ok || err != nil {
		return // the last line, cut off
	}
	if what != "commit" {
		o.lines += n - min(n, o.acknowledged[what])
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
	o.recovered = uint64(len(got))
	counts := map[string]uint64{}
	for i, r := range got {
		counts[r.Key]++
		want := record(int(counts[r.Key]))
		if r.Offset != uint64(i+1) || !bytes.Equal(r.Data, want.Data) || r.ID != want.ID || r.Codec != want.Codec {
			t.Fatalf("record %d is %+v, want %+v", i+1, r, want)
		}
	}
	more := false
	for p := range crashPublishers {
		key := publisher(p)
		if counts[key] < o.acknowledged[key] {
			t.Fatalf("%d records of %s were acknowledged, %d are there", o.acknowledged[key], key, counts[key])
		}
		more = more || counts[key] > o.acknowledged[key]
		o.acknowledged[key] = counts[key] // it was read, so it must stay
	}
	if more {
		o.surprises++
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

// writeUntilKilled lets publishers append records, each with numbers of its own, and commits them, every tenth as
// dead. Each line that it prints is durable before.
func writeUntilKilled(path string) error {
	s, err := Open(path, small)
	if err != nil {
		return err
	}
	l, err := s.Open(context.Background(), "orders", store.Settings{})
	if err != nil {
		return err
	}
	all, err := readAll(context.Background(), l)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, r := range all {
		counts[r.Key]++
	}
	ended := make(chan error)
	for p := range crashPublishers {
		go func() { ended <- publishFrom(l, publisher(p), counts[publisher(p)]+1) }()
	}
	go func() { ended <- commitAll(l) }()
	return <-ended
}

const crashPublishers = 3

func publisher(p int) string { return fmt.Sprint("publisher-", p) }

func publishFrom(l store.Log, key string, next int) error {
	for {
		rs := records(next, 1+next%3)
		for i := range rs {
			rs[i].Key = key
		}
		if err := l.Append(context.Background(), rs); err != nil {
			return err
		}
		next += len(rs)
		fmt.Printf("%s %d\n", key, next-1)
	}
}

func commitAll(l store.Log) error {
	for {
		if err := commitOne(l); err != nil && !errors.Is(err, store.ErrInvalid) { // it's at the end
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
