package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald/boltlog"
	"github.com/heraldbus/herald/store"
)

var began = time.Date(2020, 2, 29, 12, 0, 0, 1, time.UTC)

// orders makes a file with three records, two cursors, a dead letter and a delayed
// record.
func orders(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "orders.db")
	change(t, path, func(l store.Log) error {
		records := []store.Record{
			{Time: began, Key: "k1", ID: "a", Codec: "json", Data: []byte(`{"item": "book <1>"}`)},
			{Time: began, Priority: 1, Headers: []store.Header{{Key: "trace", Value: "7\xff"}}, Codec: "raw", Data: []byte("\x00\xfe")},
			{Time: began, Expires: began.Add(time.Hour), Data: []byte("plain")},
		}
		if err := l.Append(t.Context(), records); err != nil {
			return err
		}
		letter := store.DeadLetter{Record: records[1], Attempts: 3, Reason: "permanent", Err: "no such\nthing", At: began}
		done := store.Commit{Cursor: store.Cursor{Committed: 2}, Dead: []store.DeadLetter{letter}}
		if err := l.Commit(t.Context(), "billing", done); err != nil {
			return err
		}
		behind := store.Commit{Cursor: store.Cursor{Ahead: []uint64{2}, Attempts: map[uint64]int{1: 4}}}
		if err := l.Commit(t.Context(), "audit log", behind); err != nil {
			return err
		}
		return l.Delay(t.Context(), []store.Record{{Due: began.Add(time.Hour)}})
	})
	return path
}

// change changes the log of the topic orders.
func change(t *testing.T, path string, fn func(store.Log) error) {
	t.Helper()
	s, err := boltlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.Open(t.Context(), "orders", store.Settings{})
	if err == nil {
		err = fn(l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// runs runs the command as a shell would.
func runs(t *testing.T, args ...string) (code int, out, log string) {
	t.Helper()
	var o, l bytes.Buffer
	code = run(t.Context(), args, &o, &l)
	return code, o.String(), l.String()
}

// prints checks that a call is fine and writes exactly this.
func prints(t *testing.T, want string, args ...string) {
	t.Helper()
	code, out, log := runs(t, args...)
	if d := cmp.Diff(want, out); code != fine || d != "" || log != "" {
		t.Errorf("%v: exit code %d, standard error %q, output (-want +got):\n%s", args, code, log, d)
	}
}

func TestTopics(t *testing.T) {
	prints(t, ""+
		"TOPIC   FIRST  LAST  RECORDS  CURSORS  DEAD  DELAYED\n"+
		"orders  1      3     3        2        1     1\n",
		"topics", orders(t))
}

func TestCursors(t *testing.T) {
	want := "" +
		"TOPIC   SUBSCRIPTION  COMMITTED  LAG  AHEAD  RETRYING\n" +
		"orders  \"audit log\"   0          2    1      1\n" +
		"orders  billing       2          1    0      0\n"
	path := orders(t)
	prints(t, want, "cursors", path)
	prints(t, want, "cursors", path, "orders")
}

func TestDead(t *testing.T) {
	prints(t, ""+
		"NUMBER  SUBSCRIPTION  RECORD  ATTEMPTS  AT                    REASON     ERROR\n"+
		"1       billing       2       3         2020-02-29T12:00:00Z  permanent  \"no such\\nthing\"\n",
		"dead", orders(t), "orders")
}

const (
	line1 = `{"offset":1,"time":"2020-02-29T12:00:00.000000001Z","key":"k1","id":"a","codec":"json","data":{"item":"book <1>"}}` + "\n"
	line2 = `{"offset":2,"time":"2020-02-29T12:00:00.000000001Z","priority":1,"headers":[{"key":"trace","value":{"base64":"N/8="}}],"codec":"raw","data":{"base64":"AP4="}}` + "\n"
	line3 = `{"offset":3,"time":"2020-02-29T12:00:00.000000001Z","expires":"2020-02-29T13:00:00.000000001Z","data":"plain"}` + "\n"
)

func TestExport(t *testing.T) {
	path := orders(t)
	prints(t, line1+line2+line3, "export", path, "orders")
	prints(t, line2+line3, "export", "-from", "2", path, "orders")
	prints(t, line2, "export", "-from", "2", "-to", "2", path, "orders")
	prints(t, "", "export", "-from", "4", path, "orders")
	prints(t, `{"number":1,"subscription":"billing","attempts":3,"reason":"permanent","error":"no such\nthing","at":"2020-02-29T12:00:00.000000001Z","record":`+
		strings.TrimSuffix(line2, "\n")+"}\n", "export", "-dead", path, "orders")
}

func TestVerifyAndCompact(t *testing.T) {
	path := orders(t)
	prints(t, "ok\n", "verify", path)
	prints(t, "ok\n", "compact", path)
	prints(t, line1+line2+line3, "export", path, "orders")
}

// TestCompactGivesSpaceBack_G40 shows that compaction gives space back (G40).
func TestCompactGivesSpaceBack_G40(t *testing.T) {
	path := orders(t)
	change(t, path, func(l store.Log) error {
		big := store.DeadLetter{Record: store.Record{Data: make([]byte, 4<<20)}}
		if err := l.Commit(t.Context(), "billing", store.Commit{Cursor: store.Cursor{Committed: 2}, Dead: []store.DeadLetter{big}}); err != nil {
			return err
		}
		return l.Purge(t.Context(), 2)
	})
	prints(t, "ok\n", "compact", path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 1<<20 {
		t.Errorf("%d bytes for three records", info.Size())
	}
}

// TestProgress shows that long work tells how far it is, on standard error.
func TestProgress(t *testing.T) {
	path := orders(t)
	change(t, path, func(l store.Log) error {
		for range 5 {
			records := make([]store.Record, 60_000)
			for i := range records {
				records[i] = store.Record{Time: began, Data: make([]byte, 100)}
			}
			if err := l.Append(t.Context(), records); err != nil {
				return err
			}
		}
		return nil
	})
	for _, args := range [][]string{{"verify", path}, {"export", path, "orders"}, {"compact", path}} {
		code, out, log := runs(t, args...)
		if code != fine || out == "" || !strings.HasPrefix(log, args[0]+": ") || !strings.ContainsAny(log, "123456789") {
			t.Errorf("%v: exit code %d, standard error %q", args, code, log)
		}
	}
}

// TestWrong shows what calls that can't succeed say, and that they make no file.
func TestWrong(t *testing.T) {
	path := orders(t)
	gone := filepath.Join(t.TempDir(), "gone.db")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", misused, "usage: boltlog COMMAND"},
		{"-h", fine, "usage: boltlog COMMAND"},
		{"list " + path, misused, `no command "list"`},
		{"topics", misused, "usage: boltlog topics FILE"},
		{"topics -h", fine, "usage: boltlog topics FILE"},
		{"export -h", fine, "-from offset"},
		{"export -from x " + path + " orders", misused, "invalid value"},
		{"dead " + path, misused, "usage: boltlog dead FILE TOPIC"},
		{"topics " + gone, failed, "no such file"},
		{"verify " + gone, failed, "no such file"},
		{"compact " + gone, failed, "no such file"},
		{"dead " + path + " users", failed, "not found"},
		{"export " + path + " users", failed, "not found"},
		{"cursors " + path + " users", failed, "not found"},
		{"export -from 9 " + path + " orders", fine, ""},
	} {
		code, out, log := runs(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(log, c.says) || out != "" {
			t.Errorf("%s: exit code %d, want %d; standard error %q, want %q; output %q", c.args, code, c.code, log, c.says, out)
		}
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("a file was made: %v", err)
	}
}

// TestLocked shows that a file in use is left alone.
func TestLocked(t *testing.T) {
	path := orders(t)
	s, err := boltlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"topics", "verify", "compact"} {
		code, _, log := runs(t, name, path)
		if code != failed || !strings.Contains(log, store.ErrLocked.Error()) {
			t.Errorf("%s: exit code %d, %q", name, code, log)
		}
	}
}

// TestDamaged shows that damage has an exit code of its own, and that export
// goes on behind it when told so.
func TestDamaged(t *testing.T) {
	path := orders(t)
	spoil(t, path, []byte("book <1>"))
	code, _, log := runs(t, "verify", path)
	if code != damaged || !strings.Contains(log, "record 1") {
		t.Errorf("verify: exit code %d, %q", code, log)
	}
	code, out, _ := runs(t, "export", path, "orders")
	if code != damaged || out != "" {
		t.Errorf("export: exit code %d, %q", code, out)
	}
	code, out, log = runs(t, "export", "-skip", path, "orders")
	if code != damaged || out != line2+line3 || !strings.Contains(log, "skipped") {
		t.Errorf("export -skip: exit code %d, %q, %q", code, out, log)
	}
}

// spoil changes a byte of content in a file, wherever it is.
func spoil(t *testing.T, path string, content []byte) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := bytes.ReplaceAll(file, content, append([]byte("B"), content[1:]...))
	if bytes.Equal(file, spoilt) {
		t.Fatalf("no %q in the file", content)
	}
	if err := os.WriteFile(path, spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupted shows that an interrupt ends long work.
func TestInterrupted(t *testing.T) {
	path := orders(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	if code := run(ctx, []string{"export", path, "orders"}, &log, &log); code != failed {
		t.Errorf("exit code %d: %s", code, &log)
	}
}

// FuzzText shows that a text can be read back from JSON, whatever bytes it has.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "\xff", `"\u2028`, "ü\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(text(s))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readText(b); err != nil || got != s {
			t.Errorf("%q became %s: %q, %v", s, b, got, err)
		}
	})
}

func readText(b []byte) (string, error) {
	var plain string
	if json.Unmarshal(b, &plain) == nil {
		return plain, nil
	}
	var object map[string][]byte
	err := json.Unmarshal(b, &object)
	if len(object) != 1 {
		return "", fmt.Errorf("%d fields", len(object))
	}
	return string(object["base64"]), err
}
