package instrument

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSource(t *testing.T) {
	const before = `package p

import (
	"context"
	"sync"
	"sync/atomic"
)

type s struct {
	mu sync.Mutex
	n  atomic.Int32
	c  chan int
}

func (s *s) f(ctx context.Context) {
	select {
	case s.c <- 1:
	default:
	}
	select {
	case <-s.c:
	case <-ctx.Done():
	}
	select {
	case <-s.c:
	default:
	}
	close(s.c)
	s.close()
}
`
	const after = `package p; import sim "github.com/heraldbus/herald/internal/sim"

import (
	"context"
	sync "github.com/heraldbus/herald/internal/sim"
	atomic "github.com/heraldbus/herald/internal/sim"
)

type s struct {
	mu sync.Mutex
	n  atomic.Int32
	c  chan int
}

func (s *s) f(ctx context.Context) {
	sim.Waking(); select {
	case s.c <- 1:
	default:
	}
	sim0, sim1 := sim.Select2(s.c, ctx.Done()); select {
	case <-sim0:
	case <-sim1:
	}
	select {
	case <-s.c:
	default:
	}
	sim.Waking(); close(s.c)
	s.close()
}
`
	got, err := Source("p.go", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSourceSaysWhatItCannotDo shows that a select which would be left to
// chance is an error.
func TestSourceSaysWhatItCannotDo(t *testing.T) {
	for _, body := range []string{
		"select { case v := <-a: _ = v; case <-b: }",
		"select { case a <- 1: case <-b: }",
	} {
		if _, err := Source("p.go", []byte("package p\nfunc f(a, b chan int) { "+body+" }")); err == nil {
			t.Errorf("%s: no error", body)
		}
	}
}

// TestOverlayFitsTheSources shows that every source can be instrumented, and
// every fault be planted.
func TestOverlayFitsTheSources(t *testing.T) {
	for _, f := range append(Faults, Fault{Name: "none"}) {
		if _, err := Overlay("../../..", t.TempDir(), f.Edits); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestProductionKnowsNothingOfSim shows that what users build is free of the
// scheduler: without the overlay no package that users import has it.
func TestProductionKnowsNothingOfSim(t *testing.T) {
	public := []string{"herald", "herald/broker", "herald/dlq", "herald/heraldslog", "herald/middleware", "herald/policy", "herald/queue"}
	args := []string{"list", "-deps"}
	for _, p := range public {
		args = append(args, "github.com/heraldbus/"+p)
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if strings.Contains(string(out), simPath) || !strings.Contains(string(out), "internal/lane") {
		t.Errorf("imported:\n%s", out)
	}
}
