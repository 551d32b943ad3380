package herald_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	cited := map[string]bool{}
	for _, name := range repoFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			maps.Copy(cited, promisesCited(t, name))
		}
	}
	promises := promisesIn(repoText(t, "docs/GUARANTEES.md"))
	if len(promises) == 0 {
		t.Error("docs/GUARANTEES.md has no promises")
	}
	for _, p := range slices.Sorted(maps.Keys(promises)) {
		if !cited[p] {
			t.Errorf("no test cites %s", p)
		}
	}
}

// promisesCited returns the promises that the tests in a file cite.
func promisesCited(t *testing.T, name string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	cited := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && testName.MatchString(f.Name.Name) {
			words := strings.ReplaceAll(testName.ReplaceAllString(f.Name.Name, ""), "_", " ")
			maps.Copy(cited, promisesIn(words+"\n"+f.Doc.Text()))
		}
	}
	return cited
}

var (
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Example)`)
	promiseRef = regexp.MustCompile(`\bG(\d+)\b`)
)

// promisesIn returns the promises that a text names.
func promisesIn(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range promiseRef.FindAllStringSubmatch(text, -1) {
		found[promise(m[1])] = true
	}
	return found
}

// promise returns the name of a promise, of two digits at least, from its number.
func promise(number string) string {
	number = strings.TrimLeft(number, "0")
	return "G" + strings.Repeat("0", max(0, 2-len(number))) + number
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
