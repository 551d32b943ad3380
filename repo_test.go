package herald_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heraldbus/herald/internal/promises"
)

// The tests in this file are about the repository, not about the bus: what it may import, and that its documents, its
// tests and its CI say the same.

// TestRepositoryImports shows that whoever uses herald gets the standard library, herald and golang.org/x/sync, and
// nothing else. Tests may import more.
func TestRepositoryImports(t *testing.T) {
	const format = "{{if not .Standard}}{{with .Module}}{{.Path}}{{else}}no module{{end}} {{.ImportPath}}{{end}}"
	module := repoCommand(t, "go", "list", "-m")
	for line := range strings.Lines(repoCommand(t, "go", "list", "-deps", "-f", format, "./...")) {
		from, importPath, _ := strings.Cut(strings.TrimSpace(line), " ")
		if from != strings.TrimSpace(module) && from != "golang.org/x/sync" {
			t.Errorf("%s of %s is linked in", importPath, from)
		}
	}
}

// TestRepositoryPromises shows that each promise of docs/GUARANTEES.md is cited by a test: in its name, with an
// underscore behind the number, or in its comment.
func TestRepositoryPromises(t *testing.T) {
	tests, err := promises.TestsBelow(".")
	if err != nil {
		t.Fatal(err)
	}
	made := promises.In(repoText(t, "docs/GUARANTEES.md"))
	if len(made) == 0 {
		t.Error("docs/GUARANTEES.md has no promises")
	}
	for _, n := range slices.Sorted(maps.Keys(made)) {
		if tests.Cited[n] == 0 {
			t.Errorf("no test cites G%d", n)
		}
	}
}

// TestRepositoryCommands shows that the README and CI run the same commands.
func TestRepositoryCommands(t *testing.T) {
	script, readme := repoText(t, ".ci/run"), repoText(t, "README.md")
	for _, variable := range []string{"test_command", "main_command"} {
		m := regexp.MustCompile(`(?m)^` + variable + `='(.+)'$`).FindStringSubmatch(script)
		if m == nil {
			t.Errorf(".ci/run sets no %s", variable)
		} else if !slices.Contains(fencedLines(readme), m[1]) {
			t.Errorf("README.md has no fenced block with the line %q", m[1])
		}
	}
}

// fencedLines returns the lines inside the fenced blocks of a Markdown text.
func fencedLines(markdown string) []string {
	var lines []string
	inside := false
	for line := range strings.Lines(markdown) {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if inside {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// TestRepositoryPaths shows that no file but tests names a place on some machine.
func TestRepositoryPaths(t *testing.T) {
	machinePath := regexp.MustCompile(`(?:^|[^\w.~/-])/(?:work|tmp|root|home|Users)/\w.*`)
	for _, name := range repoFiles(t) {
		text := repoText(t, name)
		if strings.HasSuffix(name, "_test.go") || strings.Contains(text, "\x00") {
			continue
		}
		for _, m := range machinePath.FindAllString(text, 3) {
			t.Errorf("%s names a machine path: %.80q", name, m)
		}
	}
}

// TestRepositorySize shows that no file is as large as a program that was built
// by accident, which git would keep for ever.
func TestRepositorySize(t *testing.T) {
	const most = 1 << 20
	for _, name := range repoFiles(t) {
		info, err := os.Stat(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), most)
		}
	}
}

// repoFiles returns the files of the repository: those that git tracks or would, or all where git doesn't know it.
func repoFiles(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(".git"); err != nil {
		return allFiles(t)
	}
	list := repoCommand(t, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	files := strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	return slices.DeleteFunc(files, func(name string) bool {
		info, err := os.Lstat(name)
		return err != nil || !info.Mode().IsRegular() // deleted, or a link
	})
}

func allFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func repoText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func repoCommand(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "GOWORK=off") // this module alone, as its users get it
	var diag bytes.Buffer
	cmd.Stderr = &diag
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &diag)
	}
	return string(out)
}
