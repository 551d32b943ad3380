package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald"
)

// events returns the demonstration's events, and how many other lines it has.
func events(t *testing.T) (list []Notification, bad int) {
	t.Helper()
	s := &service{users: demoUsers()}
	for line := range bytes.Lines(demoEvents) {
		if n, err := s.parse(line); err == nil {
			list = append(list, n)
		} else {
			bad++
		}
	}
	if len(list) == 0 || bad == 0 {
		t.Fatalf("%d events and %d other lines: the demonstration shows too little", len(list), bad)
	}
	return list, bad
}

// outcome is a finished run of the service on some input.
type outcome struct {
	*service
	out, diag string
	n         intake
	replayed  int
}

// serve runs the service on in, in a bubble, so that no wait takes time.
func serve(t *testing.T, in io.Reader) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newProviders()
		s, err := newService(demoUsers(), p)
		if err != nil {
			t.Fatal(err)
		}
		var out, diag strings.Builder
		ended := s.start(t.Context())
		o = outcome{service: s}
		if o.n, err = s.readAll(t.Context(), in, &diag); err != nil {
			t.Fatal(err)
		}
		if err := s.broker.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.push.recover()
		if o.replayed, err = s.replay(t.Context(), "push"); err != nil {
			t.Fatal(err)
		}
		if err := s.stop(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		s.report(&out, o.n, o.replayed)
		o.out, o.diag = out.String(), diag.String()
	})
	return o
}

// TestEverythingReachesAnEnd: each channel was offered every notification
// and accounts for each (G4).
func TestEverythingReachesAnEnd(t *testing.T) {
	list, bad := events(t)
	o := serve(t, bytes.NewReader(demoEvents))
	if want := (intake{len(list), bad}); o.n != want {
		t.Errorf("took in %+v, want %+v", o.n, want)
	}
	prefers := map[string]preference{"mail": byMail, "sms": bySMS, "push": byPush, "digest": inDigest}
	for _, st := range o.stats() {
		var wanted, all uint64
		for _, n := range list {
			if st.Name == "digest" && n.Kind != "news" {
				continue
			}
			all++
			if prefers[st.Name](o.users[n.User], n.Kind) {
				wanted++
			}
		}
		if st.Offered != all || st.Filtered != all-wanted {
			t.Errorf("%s was offered %d and kept %d out, want %d and %d", st.Name, st.Offered, st.Filtered, all, all-wanted)
		}
		if st.Delivered+st.Dead != wanted+st.Replayed {
			t.Errorf("%s sent %d and has %d dead letters of %d wanted and %d replayed", st.Name, st.Delivered, st.Dead, wanted, st.Replayed)
		}
	}
}

// TestDeadLetters: what push could not send while it was down it sends later
// (G29); a number without its country never works.
func TestDeadLetters(t *testing.T) {
	list, _ := events(t)
	o := serve(t, bytes.NewReader(demoEvents))
	var pushes, hopeless []string
	for _, n := range list {
		u := o.users[n.User]
		if byPush(u, n.Kind) {
			pushes = append(pushes, n.ID)
		}
		if bySMS(u, n.Kind) && !strings.HasPrefix(u.Phone, "+") {
			hopeless = append(hopeless, n.ID)
		}
	}
	if o.replayed != len(pushes) || len(o.ledger.by("push")) != len(pushes) {
		t.Errorf("replayed %d and pushed %d of %d", o.replayed, len(o.ledger.by("push")), len(pushes))
	}
	var left []string
	for l := range o.broker.DeadLetters().All() {
		left = append(left, l.ID())
		if l.Reason != herald.Permanent {
			t.Errorf("%v is dead because of %v", l, l.Reason)
		}
	}
	if d := cmp.Diff(hopeless, left); d != "" {
		t.Errorf("dead letters (-want +got)\n%s", d)
	}
	for _, id := range hopeless {
		if !strings.Contains(o.out, "dead: "+id) {
			t.Errorf("the report doesn't tell of %s:\n%s", id, o.out)
		}
	}
}

// TestDigest: every piece of news that is wanted in a digest is in one, none
// in a digest of somebody else, and there are fewer digests than news.
func TestDigest(t *testing.T) {
	list, _ := events(t)
	o := serve(t, bytes.NewReader(demoEvents))
	want := 0
	for _, n := range list {
		if !inDigest(o.users[n.User], n.Kind) {
			continue
		}
		want++
		found := 0
		for _, d := range o.ledger.digests {
			if d.user == n.User && strings.Contains(d.text, n.Text) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s is in %d digests of %s", n.ID, found, n.User)
		}
	}
	if o.ledger.news() != want || len(o.ledger.digests) >= want {
		t.Errorf("%d news in %d digests, want %d in fewer", o.ledger.news(), len(o.ledger.digests), want)
	}
}

// TestOrderByUser: what one user gets by one channel comes by urgency and, of
// equal urgency, in the order of the input (G14), although mail refuses every first
// attempt.
func TestOrderByUser(t *testing.T) {
	var in bytes.Buffer
	for i := range 200 {
		user := []string{"ada", "cyd"}[i%2]
		line, err := json.Marshal(Notification{fmt.Sprint("n-", i), "order", user, fmt.Sprint("order ", i)})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	o := serve(t, &in)
	next := map[string]int{"ada": 0, "cyd": 1}
	for _, n := range o.ledger.by("mail") {
		if want := fmt.Sprint("n-", next[n.User]); n.ID != want {
			t.Fatalf("%s got %s, want %s", n.User, n.ID, want)
		}
		next[n.User] += 2
	}
	if next["ada"] != 200 || next["cyd"] != 201 {
		t.Errorf("not everything was sent: next are %v", next)
	}
}

// TestResetOvertakesNewsletter: with many newsletters waiting, a password
// reset is the next to be sent (G11).
func TestResetOvertakesNewsletter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProviders()
		p.push.recover()
		s, err := newService(demoUsers(), p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			user := []string{"ada", "dan"}[i%2]
			if err := s.notify(t.Context(), Notification{fmt.Sprint("news-", i), "news", user, fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.notify(t.Context(), Notification{"reset", "security", "cyd", "reset"}); err != nil {
			t.Fatal(err)
		}
		ended := s.start(t.Context())
		if err := s.stop(t.Context(), ended); err != nil {
			t.Fatal(err)
		}
		// Mail refuses every first attempt, so the reset's second one runs
		// while others' first ones do; workers-1 may have begun beside it.
		for i, n := range s.ledger.by("mail") {
			if n.ID == "reset" {
				if i >= workers {
					t.Errorf("the reset is mail %d", i)
				}
				return
			}
		}
		t.Error("the reset was not sent")
	})
}

// TestBadLines: each is reported with its number, and costs nothing else.
func TestBadLines(t *testing.T) {
	for name, line := range map[string]string{
		"no JSON":      `nonsense`,
		"no id":        `{"kind": "news", "user": "ada"}`,
		"unknown kind": `{"id": "x", "kind": "gossip", "user": "ada"}`,
		"unknown user": `{"id": "x", "kind": "news", "user": "zoe"}`,
	} {
		t.Run(name, func(t *testing.T) {
			o := serve(t, strings.NewReader("\n"+line+"\n"+`{"id": "y", "kind": "news", "user": "ada", "text": "hello"}`))
			if want := (intake{1, 1}); o.n != want {
				t.Errorf("took in %+v, want %+v", o.n, want)
			}
			if !strings.HasPrefix(o.diag, "line 2: ") {
				t.Errorf("reported %q", o.diag)
			}
			if len(o.ledger.by("mail")) != 1 {
				t.Error("the good line was lost")
			}
		})
	}
}

func TestCommand(t *testing.T) {
	unreadable := iotest.ErrReader(errors.New("disk on fire"))
	for _, test := range []struct {
		name   string
		args   []string
		in     io.Reader
		status int
		diag   string
	}{
		{"the demonstration", nil, nil, statusDone, "line "},
		{"standard input", []string{"-in", "-"}, strings.NewReader(""), statusDone, ""},
		{"help", []string{"-h"}, nil, statusDone, "Usage"},
		{"an unknown flag", []string{"-x"}, nil, statusUnusable, "-x"},
		{"an argument", []string{"x"}, nil, statusUnusable, "unexpected"},
		{"a missing file", []string{"-in", "testdata/missing"}, nil, statusUnusable, "missing"},
		{"input that can't be read", []string{"-in", "-"}, unreadable, statusUnusable, "disk on fire"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, diag strings.Builder
			if got := command(test.args, test.in, &out, &diag); got != test.status {
				t.Errorf("status %d, want %d; it said %q", got, test.status, diag.String())
			}
			if !strings.Contains(diag.String(), test.diag) {
				t.Errorf("it said %q, want %q in it", diag.String(), test.diag)
			}
		})
	}
}
