package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func lineOf(text string) Line { return Line{Number: 1, Text: []byte(text), Size: len(text)} }

func TestDecode(t *testing.T) {
	const in = `{"Time":"2026-03-01T12:00:00Z","Action":"fail","Package":"p","Test":"T/a","Elapsed":1.5,"Output":"no\n",` +
		`"ImportPath":"i","FailedBuild":"b","Key":"of newer versions"}`
	want := Event{
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Action: actionFail, Package: "p", Test: "T/a", Elapsed: 1.5,
		Output: "no\n", ImportPath: "i", FailedBuild: "b",
	}
	got, err := decode(lineOf(in))
	if err != nil || got != want {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
}

// TestDecodeRefuses has a line for each reason why one is malformed.
func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("n", nameLimit+1)
	for in, want := range map[string]string{
		"ok p 0.1s":                         "not JSON",
		"{":                                 "JSON goes wrong at byte 1",
		`{"Action":"pass"`:                  "JSON goes wrong at byte 16",
		`{"Action":"pass"}}`:                "JSON goes wrong at byte 18",
		`{"Action":pass}`:                   "JSON goes wrong at byte 11",
		"[1]":                               "not an object: unexpected array",
		`{"Action":7}`:                      "Action: unexpected number",
		`{"Action":"pass","Elapsed":1e999}`: "Elapsed: unexpected number",
		`{"Action":"pass","Time":"noon"}`:   `parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"`,
		"{}":                                "no Action",
		`{"Action":"pass"}`:                 "pass without Package",
		`{"Action":"run","Package":"p"}`:    "run without Test",
		`{"Action":"build-output"}`:         "build-output without ImportPath",
		`{"Action":"run","Package":"p","Test":"` + long + `"}`: "a name longer than 4096 bytes",
		`{"Action":"pass","Package":"p","Elapsed":-1}`:         "an Elapsed of -1 seconds",
		`{"Action":"pass","Package":"p","Elapsed":1e10}`:       "an Elapsed of 1e+10 seconds",
	} {
		if _, err := decode(lineOf(in)); err == nil || err.Error() != want {
			t.Errorf("%.60s: got %v, want %s", in, err, want)
		}
	}
	if _, err := decode(Line{Size: lineLimit + 1}); fmt.Sprint(err) != "1048577 bytes long, more than 1048576" {
		t.Error(err)
	}
}

// FuzzDecode shows that what is decoded is within all bounds, and that what is not says why in few words.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"Time":"2026-03-01T12:00:00Z","Action":"pass","Package":"p","Test":"T","Elapsed":0.5}`))
	f.Add([]byte(`{"ImportPath":"p","Action":"build-output","Output":"x.go:1: no\n"}`))
	f.Add([]byte(`{"Action":"output","Package":"p","Output":"\ud800"}`))
	f.Add([]byte(" [1,{}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := decode(lineOf(string(text)))
		if err != nil {
			if n := len(err.Error()); n == 0 || n > 5*linePrefix {
				t.Errorf("a reason of %d bytes", n)
			}
			return
		}
		if e.check() != nil || len(e.Output) > outputLimit {
			t.Errorf("decoded %+v", e)
		}
	})
}
