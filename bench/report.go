package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// write makes RESULTS.md and the plots.
func (r *results) write(dir string) error {
	plots := filepath.Join(dir, "plots")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{
		filepath.Join(dir, "RESULTS.md"):    r.markdown(),
		filepath.Join(plots, "ratio-1.svg"): ratioPlot(r.rows, 1),
		filepath.Join(plots, "ratio-2.svg"): ratioPlot(r.rows, 2),
		filepath.Join(plots, "growth.svg"):  growthPlot(r.families),
	} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r *results) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Results

Written by `+"`go run .`"+` in this folder; not edited by hand. %s, %s, commit %s, %s, %d rounds. %s

A ratio is the median over the rounds of the time of a slice to that of the raw channel in the same round: less than 1 is faster
than a channel. Payload 64 bytes, capacity %d, from the first publish until the last handler has returned. In
brackets are the quartiles: half of the rounds lie between them. CPU is the same for the processor time of the process, which other
programs on the machine change less. %s

![ratios](plots/ratio-1.svg)
![ratios at two](plots/ratio-2.svg)
![growth](plots/growth.svg)
`, machine(), runtime.Version(), r.commit, time.Now().UTC().Format(time.DateOnly), r.config.rounds, r.load, capacity, notServed)
	for _, procs := range []int{1, 2} {
		r.section(&b, procs)
	}
	b.WriteString("\n## What a feature costs\n\nOne publisher, one subscription, GOMAXPROCS=1; on and off in turn.\n\n| feature | off, ns | on, ns | ratio |\n|---|---|---|---|\n")
	for _, p := range r.prices {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.2f |\n", p.name, p.off, p.on, p.ratio)
	}
	b.WriteString("\n## Growth\n\nns for a delivery, GOMAXPROCS=1.\n\n")
	for _, f := range r.families {
		var sizes, values []string
		for i, n := range f.sizes {
			sizes, values = append(sizes, short(float64(n))), append(values, fmt.Sprintf("%.0f", f.values[i]))
		}
		fmt.Fprintf(&b, "| %s | %s |\n|%s\n| herald | %s |\n", f.name, strings.Join(sizes, " | "),
			strings.Repeat("---|", len(sizes)+1), strings.Join(values, " | "))
		if f.raw != nil {
			b.WriteString("| raw channel |")
			for _, v := range f.rawValues {
				fmt.Fprintf(&b, " %.0f |", v)
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *results) section(b *strings.Builder, procs int) {
	fmt.Fprintf(b, "\n## GOMAXPROCS=%d\n\n", procs)
	b.WriteString("| workload | system | wall | CPU | ns | allocs | B | must | aim | reached |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, w := range r.rows {
		if w.procs != procs {
			continue
		}
		must, aim, verdict := "", "", w.note()
		if w.system == "herald" {
			must, aim = target(w.workload.must[procs-1]), target(w.workload.aim[procs-1])
			verdict = strings.TrimSpace(w.verdict() + " " + w.note())
		}
		fmt.Fprintf(b, "| %s | %s | %.2f %s | %.2f | %.1f | %.2f | %.0f | %s | %s | %s |\n",
			w.workload.name, w.system, w.wall, w.spread(), w.cpu, w.ns, w.allocs, w.bytes, must, aim, verdict)
	}
	b.WriteString("\n| | measured | must | aim | reached | |\n|---|---|---|---|---|---|\n")
	for _, f := range r.facts {
		if f.procs == procs {
			fmt.Fprintf(b, "| %s | %.2f %s | %s | %s | %s | %s |\n", f.name, f.value, f.unit, target(f.must), target(f.aim), f.verdict(), f.note)
		}
	}
}

// machine is what the kernel says the processor is.
func machine() string {
	name := runtime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if _, model, ok := strings.Cut(lines.Text(), "model name\t: "); ok {
				name = model
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d processors", name, runtime.NumCPU())
}

// load says how busy the machine is, with what else runs on it.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(b)); err == nil && len(fields) > 0 {
		return "At the start the machine had a load of " + fields[0] + "; 0 is quiet."
	}
	return "How busy the machine was is unknown."
}

// commit is the commit measured, with a plus if files were changed since.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changed, _ := exec.Command("git", "status", "--porcelain", "..").Output()
	plus := ""
	if len(changed) > 0 {
		plus = "+"
	}
	return strings.TrimSpace(string(hash)) + plus
}
