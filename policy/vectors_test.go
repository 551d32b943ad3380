package policy_test

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heraldbus/herald/policy"
)

//go:embed testdata/backoff_vectors.tsv
var vectorsTSV string

// A vector is one line of testdata/backoff_vectors.tsv: what other libraries compute, or should.
type vector struct {
	line                                                     int
	kind, base, factor, max, jitter, attempt, lo, hi, source string
}

func vectors(t *testing.T) []vector {
	t.Helper()
	var vs []vector
	for i, line := range strings.Split(strings.TrimSpace(vectorsTSV), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 9 {
			t.Fatalf("line %d has %d fields, want 9", i+1, len(f))
		}
		vs = append(vs, vector{i + 1, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]})
	}
	return vs
}

// TestG21_Vectors checks herald against the numbers of other libraries, and says of the kinds of jitter that herald does
// not have by that name how they relate to [policy.Exponential.Jitter].
func TestG21_Vectors(t *testing.T) {
	kinds := map[string]func(*testing.T, vector){
		"plain":        checkPlain,
		"overflow":     checkPlain,
		"band":         checkBand,
		"cap":          checkCap,
		"list":         checkList,
		"full_jitter":  checkFullJitter,
		"equal_jitter": checkEqualJitter,
		"rand_index":   checkRandIndex,

		// Not offered: each delay is drawn from the one before, so the policy would need state for every message, which
		// G21 rules out.
		"decorrelated": func(*testing.T, vector) {},
	}
	seen := map[string]bool{}
	for _, v := range vectors(t) {
		check, ok := kinds[v.kind]
		if !ok {
			t.Fatalf("line %d: unknown kind %q", v.line, v.kind)
		}
		seen[v.kind] = true
		t.Run(fmt.Sprintf("%d_%s", v.line, v.kind), func(t *testing.T) {
			t.Log(v.source)
			check(t, v)
		})
	}
	if len(seen) != len(kinds) {
		t.Errorf("saw the kinds %v, want all %d", seen, len(kinds))
	}
}

// checkPlain checks attempts such as "1..4;5..10000" against delays such as "100,200,400,800;1000": in each group one
// delay for every attempt, or one for all.
func checkPlain(t *testing.T, v vector) {
	e := v.exponential(t)
	groups := strings.Split(v.lo, ";")
	for i, attempts := range strings.Split(v.attempt, ";") {
		first, last := span(t, attempts)
		want := strings.Split(groups[i], ",")
		for n := first; n <= last; n++ {
			w := millis(t, want[min(n-first, len(want)-1)])
			if got := delayOf(t, e, n); got != w {
				t.Fatalf("delay of retry %d is %v, want %v", n, got, w)
			}
		}
	}
}

// checkBand checks that draws fall within 10 % of the plain delays, but not above Max, where herald differs from the
// library the line is from.
func checkBand(t *testing.T, v vector) {
	e := v.exponential(t)
	plain := e
	plain.Jitter = 0
	first, last := span(t, v.attempt)
	for n := first; n <= last; n++ {
		d := delayOf(t, plain, n)
		checkDraws(t, e, n, d-d/10, min(d+d/10, e.Max))
	}
}

func checkCap(t *testing.T, v vector) {
	e := v.exponential(t)
	for n := range 10 {
		checkDraws(t, e, n+1, e.Base/2, millis(t, v.hi)) // jitter is 0.5, so all are above 0 by far
	}
}

// checkList checks when the attempts of "list [1s,5s,30s], 5 attempts" start. The library the line is from repeats the
// last delay until the attempts are used up; a herald Schedule has one delay for each retry, so the last is written out.
func checkList(t *testing.T, v vector) {
	list, rest, _ := strings.Cut(strings.TrimPrefix(v.attempt, "list ["), "], ")
	var attempts int
	if _, err := fmt.Sscanf(rest, "%d attempts", &attempts); err != nil {
		t.Fatal(err)
	}
	var s policy.Schedule
	for _, field := range strings.Split(list, ",") {
		d, err := time.ParseDuration(field)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, d)
	}
	for len(s) < attempts-1 {
		s = append(s, s[len(s)-1])
	}
	var starts []string
	for _, at := range startsOf(s) {
		starts = append(starts, fmt.Sprint(at.Seconds()))
	}
	got := "calls at " + strings.Join(starts, ",") + " s"
	if diff := cmp.Diff(v.lo, got); diff != "" {
		t.Error("-want +got:", diff)
	}
}

// checkFullJitter shows that "full jitter", 0 to min(cap, base*2^(n-1)), is Jitter 1 over half the base: the same bounds,
// and the same distribution while base*2^(n-1) <= cap. Beyond, some of the draws are the cap itself.
func checkFullJitter(t *testing.T, _ vector) {
	const base, limit = 100 * time.Millisecond, time.Second
	e := policy.Exponential{Attempts: 100, Base: base / 2, Max: limit, Jitter: 1}
	for n := 1; n <= 10; n++ {
		checkDraws(t, e, n, 0, min(limit, base<<(n-1)))
	}
}

// checkEqualJitter shows that "equal jitter", the upper half of what full jitter draws from, is Jitter 1/3 over three
// quarters of the base: the same bounds while base*2^(n-1) <= cap, and within them beyond.
func checkEqualJitter(t *testing.T, _ vector) {
	const base, limit = 100 * time.Millisecond, time.Second
	e := policy.Exponential{Attempts: 100, Base: base * 3 / 4, Max: limit, Jitter: 1.0 / 3}
	for n := 1; n <= 10; n++ {
		full := min(limit, base<<(n-1))
		checkDraws(t, e, n, full/2, full)
	}
}

// checkRandIndex checks the corner that the line is about, that both ends of the band are drawn as often as the middle.
// There it is 1, 2 and 3 ms around 2 ms; herald draws whole nanoseconds, so it is 1, 2 and 3 ns around 2 ns. The mapping
// from a given random number is the library's own affair.
func checkRandIndex(t *testing.T, v vector) {
	jitter, rest, _ := strings.Cut(v.jitter, " on interval ")
	e := policy.Exponential{Base: time.Duration(atoi(t, rest)), Jitter: atof(t, jitter)}
	const draws = 30_000
	count := map[time.Duration]int{}
	for range draws {
		count[delayOf(t, e, 1)]++
	}
	if len(count) != 3 {
		t.Fatalf("drew %v, want only 1, 2 and 3 ns", count)
	}
	for d := time.Duration(1); d <= 3; d++ {
		// A third of the draws, give or take six standard deviations of 82.
		if got := count[d]; got < draws/3-500 || got > draws/3+500 {
			t.Errorf("%v was drawn %d times of %d, want a third", d, got, draws)
		}
	}
}

// exponential returns the policy that v is about. It never runs out of attempts.
func (v vector) exponential(t *testing.T) policy.Exponential {
	t.Helper()
	e := policy.Exponential{
		Attempts:   math.MaxInt,
		Base:       millis(t, v.base),
		Max:        millis(t, v.max),
		Multiplier: atof(t, v.factor),
		Jitter:     atof(t, v.jitter),
	}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	return e
}

// millis parses the durations of the file: milliseconds, "none" for no bound, or nanoseconds said to be such.
func millis(t *testing.T, s string) time.Duration {
	t.Helper()
	switch s {
	case "none", "MaxInt64", "MaxInt64 ns":
		return math.MaxInt64
	case "MaxInt64/2 ns":
		return math.MaxInt64 / 2
	}
	return time.Duration(atoi(t, s)) * time.Millisecond
}

// span parses "3..5", or "3" for "3..3".
func span(t *testing.T, s string) (first, last int) {
	t.Helper()
	from, to, ok := strings.Cut(s, "..")
	if !ok {
		to = from
	}
	return atoi(t, from), atoi(t, to)
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func atof(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
