package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// accept lets an intake read in, with two receivers and nobody who delivers.
func accept(t *testing.T, in io.Reader) (*intake, error) {
	t.Helper()
	base := demoSetup(newClient(), 1)
	base.capacity = 1000
	for _, name := range []string{"crm", "audit"} {
		base.receivers = append(base.receivers, Receiver{Name: name, URL: "http://" + name + ".test", Secret: Secret("key")})
	}
	d, err := newDispatcher(base)
	if err != nil {
		t.Fatal(err)
	}
	i := &intake{dispatcher: d}
	return i, i.read(t.Context(), in)
}

// TestBadLines proves that a line that is no event is reported with its number, and stops nothing.
func TestBadLines(t *testing.T) {
	const good = `{"id":"evt-01","receiver":"crm","type":"test","data":{"a":1}}`
	lines := []struct{ text, want string }{
		{good, ""},
		{good + "\r", ""},
		{"", ""},
		{" \t", ""},
		{`{"id":"evt-02","receiver":"crm"`, "no event in JSON: `{\"id\":\"evt-02\",\"receiver\":\"crm\"`"},
		{`[1, 2]`, "no event in JSON: `[1, 2]`"},
		{`{"id":7}`, "no event in JSON: `{\"id\":7}`"},
		{good + good, "no event in JSON: `{\"id\":\"evt-01\",\"receiver\":\"crm\",` …"},
		{"\x00\xff", `no event in JSON: "\x00\xff"`},
		{`{"receiver":"crm","type":"test"}`, "no id"},
		{`{"id":"a\nb","receiver":"crm","type":"test"}`, `an id that can't be a header: "a\nb"`},
		{`{"id":"` + strings.Repeat("a", idLimit+1) + `","receiver":"crm","type":"test"}`,
			"an id that can't be a header: `" + strings.Repeat("a", quoteLimit) + "` …"},
		{`{"id":"evt-03","receiver":"crm"}`, "no type"},
		{`{"id":"evt-04","type":"test"}`, `unknown receiver ""`},
		{`{"id":"evt-05","receiver":"fax","type":"test"}`, `unknown receiver "fax"`},
		{strings.Repeat(" ", lineLimit) + good, "longer than 65536 bytes"},
		{strings.Repeat("x", 2*lineLimit+1), "longer than 65536 bytes"},
		{good, ""},
	}
	var in strings.Builder
	var want []string
	for i, l := range lines {
		in.WriteString(l.text + "\n")
		if l.want != "" {
			want = append(want, fmt.Sprintf("line %d: %s", i+1, l.want))
		}
	}
	for name, in := range map[string]io.Reader{
		"whole":       strings.NewReader(in.String()),
		"no last end": strings.NewReader(strings.TrimSuffix(in.String(), "\n")),
		"in bytes":    iotest.OneByteReader(strings.NewReader(in.String())),
	} {
		t.Run(name, func(t *testing.T) {
			i, err := accept(t, in)
			if err != nil || i.readErr != nil {
				t.Errorf("errors %v, %v", err, i.readErr)
			}
			var got []string
			for _, b := range i.bad {
				got = append(got, fmt.Sprintf("line %d: %v", b.number, b.err))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bad lines (-want +got):\n%s", diff)
			}
			if i.lines != len(lines) || i.events != 3 || i.dispatcher.ledger.of("crm").accepted != 3 {
				t.Errorf("%d lines, %d events", i.lines, i.events)
			}
		})
	}
}

// TestManyBadLines proves that they're counted, but not all kept.
func TestManyBadLines(t *testing.T) {
	i, err := accept(t, strings.NewReader(strings.Repeat("?\n", badLimit+5)))
	if err != nil || len(i.bad) != badLimit || i.badMore != 5 {
		t.Errorf("%d bad lines and %d more, error %v", len(i.bad), i.badMore, err)
	}
}

// TestBrokenInput proves that what was read before the input broke is delivered, and that the run isn't a success.
func TestBrokenInput(t *testing.T) {
	broken := errors.New("disk on fire")
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork()
		s := newStandins(n.serve)
		in := io.MultiReader(input("audit", "crm"), iotest.ErrReader(broken))
		err := demonstrate(t.Context(), s, demoSetup(n.client(), 1e9), in, io.Discard)
		if !errors.Is(err, broken) || status(err) != statusUnusable {
			t.Errorf("run = %v, want %v", err, broken)
		}
		if want := "reading after line 2: disk on fire"; err != nil && err.Error() != want {
			t.Errorf("run = %v, want %s", err, want)
		}
		for _, st := range s.list {
			if got := st.inbox.testify().taken; st.name == "audit" && got != 1 {
				t.Errorf("%s has taken %d events, want 1", st.name, got)
			}
		}
	})
}

// TestUntil proves that a reader ends with its context, even inside of a line, and without one where in does.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole, err := io.ReadAll(until(t.Context(), bytes.NewReader(demoEvents)))
		if err != nil || !bytes.Equal(whole, demoEvents) {
			t.Errorf("read %d bytes, error %v", len(whole), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		in, w := io.Pipe()
		defer w.Close()
		go io.WriteString(w, "half a line")
		r, half := until(ctx, in), make([]byte, len("half a line"))
		if _, err := io.ReadFull(r, half); err != nil {
			t.Error(err)
		}
		cancel()
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
			t.Errorf("read %q after the end, error %v", rest, err)
		}
	})
}

// FuzzDecode proves that whatever a line is, it's an event that can be sent, or an error.
func FuzzDecode(f *testing.F) {
	for line := range bytes.Lines(demoEvents) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := decode(line)
		if err != nil {
			if len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		i, err := accept(t, bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		e.Receiver = "crm"
		if err := i.dispatcher.publish(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		l, err := i.dispatcher.deliver.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		req, err := newRequest(t.Context(), i.dispatcher.known["crm"], l.Message)
		if err != nil {
			t.Fatal(err)
		}
		if err := req.Write(io.Discard); err != nil {
			t.Errorf("%q can't be sent: %v", line, err)
		}
	})
}
