package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// slack is how long a package's tests may take with a fault in it, beyond
// twice what they take without: then they hang, which finds it too.
const slack = 5 * time.Second

// hunt builds the test binaries, makes sure that they pass while no mutant is
// at work, and lets each mutant work.
func hunt(ms []mutant, at int, out io.Writer) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binaries, err := build(ms, dir)
	if err != nil {
		return err
	}
	if err := passing(binaries); err != nil {
		return err
	}
	killers := make([]string, len(ms))
	var g errgroup.Group
	g.SetLimit(at)
	for i, m := range ms {
		g.Go(func() error {
			for _, suite := range m.suites() {
				if killers[i] = binaries[suite].kill(m.name); killers[i] != "" {
					break
				}
			}
			return nil
		})
	}
	_ = g.Wait() // none fails
	return report(ms, killers, out)
}

func report(ms []mutant, killers []string, out io.Writer) error {
	survivors := 0
	for i, m := range ms {
		killer := killers[i]
		if killer == "" {
			killer = "SURVIVED"
			survivors++
		}
		fmt.Fprintf(out, "%-34s %-28s %s\n", m.name, m.file, killer)
	}
	fmt.Fprintf(out, "proof: layer=mutants planted=%d killed=%d survived=%d\n", len(ms), len(ms)-survivors, survivors)
	if survivors > 0 {
		return fmt.Errorf("%d survivors", survivors)
	}
	return nil
}

// A binary has the tests of one package, with all its mutants.
type binary struct {
	path, dir string
	patience  time.Duration
	flags     []string
}

// build plants the mutants and compiles the tests of their packages.
func build(ms []mutant, dir string) (map[string]*binary, error) {
	overlay, err := writeOverlay(ms, dir)
	if err != nil {
		return nil, err
	}
	binaries := map[string]*binary{}
	for _, suite := range suitesOf(ms) {
		b := &binary{path: filepath.Join(dir, fmt.Sprintf("%d.test", len(binaries))), dir: suite, patience: 5 * time.Minute}
		cmd := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", b.path, b.dir)
		if output, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the tests of %s: %w\n%s", b.dir, err, output)
		}
		if b.knows(noFailFiles) {
			b.flags = append(b.flags, noFailFiles)
		}
		binaries[suite] = b
	}
	return binaries, nil
}

// noFailFiles keeps rapid from writing down, beside the sources, what a
// planted fault made fail: that's to be kept of real faults only.
const noFailFiles = "-rapid.nofailfile"

// knows reports whether the tests have that flag.
func (b *binary) knows(flag string) bool {
	return exec.Command(b.path, "-test.run=^$", flag).Run() == nil
}

func suitesOf(ms []mutant) []string {
	var all []string
	for _, m := range ms {
		all = append(all, m.suites()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// writeOverlay writes the files with the mutants, and the overlay that puts
// them in place. It returns the overlay's name.
func writeOverlay(ms []mutant, dir string) (string, error) {
	replace, n := map[string]string{}, 0
	put := func(place, content string) error {
		abs, err := filepath.Abs(place)
		if err != nil {
			return err
		}
		n++
		replace[abs] = filepath.Join(dir, fmt.Sprintf("%d.go", n))
		return os.WriteFile(replace[abs], []byte(content), 0o600)
	}
	files := map[string][]mutant{}
	for _, m := range ms {
		files[m.file] = append(files[m.file], m)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		src, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		planted, err := plant(string(src), files[file])
		if err != nil {
			return "", err
		}
		err = errors.Join(put(file, planted),
			put(filepath.Join(filepath.Dir(file), "mutant_at_work.go"), question(packageName(planted))))
		if err != nil {
			return "", err
		}
	}
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, content, 0o600)
}

// passing makes sure that it's the mutants that tests find, and learns how
// long they take without.
func passing(binaries map[string]*binary) error {
	for _, b := range binaries {
		begun := time.Now()
		killer := b.kill("")
		b.patience = 2*time.Since(begun) + slack
		if killer != "" {
			return fmt.Errorf("the tests of %s fail with no mutant at work: %s", b.dir, killer)
		}
	}
	return nil
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^panic: (.+)$|^fatal error: (.+)$`)

// kill runs the tests with one mutant at work. It returns what found it; empty:
// nothing did.
func (b *binary) kill(name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*b.patience)
	defer cancel()
	args := append([]string{"-test.failfast", "-test.timeout=" + b.patience.String()}, b.flags...)
	cmd := exec.CommandContext(ctx, b.path, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), variable+"="+name)
	output, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	found := failed.FindStringSubmatch(string(output))
	if found == nil {
		return "ended: " + err.Error()
	}
	return strings.Join(found[1:], "")
}
