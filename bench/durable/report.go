package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// write writes the report as Markdown.
func (r *report) write(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# Durable publishes\n\nWritten by `go run .` in this folder; not edited by hand. %s, %d processors, %s, commit %s, %s, %d rounds of %v.\n\n",
		machine(), runtime.NumCPU(), runtime.Version(), commit(), time.Now().UTC().Format(time.DateOnly), r.config.rounds, r.config.slice)
	fmt.Fprintf(b, "Records of %d bytes a second that are durable when their publish returns: the median over the rounds, and the least and the greatest. "+
		"The ratio is boltlog's rate by this one's, the median over the rounds.\n\n", payload)
	fmt.Fprintln(b, "| publishers | system | records/s | least | greatest | boltlog is faster by |")
	fmt.Fprintln(b, "|---|---|---|---|---|---|")
	for _, n := range publishers {
		for _, s := range systems {
			rates := r.rates[s.name][n]
			fmt.Fprintf(b, "| %d | %s | %.0f | %.0f | %.0f | %.2f |\n", n, s.name, median(rates), slices.Min(rates), slices.Max(rates),
				median(ratios(r.rates[systems[0].name][n], rates)))
		}
	}
	fmt.Fprintln(b)
	for _, n := range publishers[1:] {
		fmt.Fprintf(b, "boltlog with %d publishers makes %.1f times as many records durable as with one.\n", n,
			median(ratios(r.rates[systems[0].name][n], r.rates[systems[0].name][1])))
	}
	fmt.Fprintf(b, "\nA file of a million records, %d MB: opened in %v (median), with %d KB of heap; read at %.0f records/s.\n",
		r.size/1e6, median(r.open).Round(time.Millisecond), median(r.heap)/1000, median(r.read))
	_, err := io.WriteString(w, b.String())
	return err
}

func ratios(of, by []float64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = of[i] / by[i]
	}
	return out
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func machine() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
