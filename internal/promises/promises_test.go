package promises

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]map[int]bool{
		"G07 Else":                     {7: true},
		"G11 G12 Model":                {11: true, 12: true},
		"as promised (G4, G36)":        {4: true, 36: true},
		"G or GG7, G7x, xG7":           {},
		"G99999999999999999999999 big": {},
	} {
		if d := cmp.Diff(want, In(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// Names and comments of tests count, those of other functions and files
// don't.
func TestTestsBelow(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"a_test.go": "package a\n\n// As promised (G4).\nfunc TestG07_Else() {}\n\nfunc FuzzG07_Names() {}\n\n// G5\nfunc helper() {}\n",
		"a.go":      "package a\n\nfunc TestG09_No() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := TestsBelow(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Tests{Names: map[string]bool{"TestG07_Else": true, "FuzzG07_Names": true}, Cited: map[int]int{4: 1, 7: 2}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := os.WriteFile(filepath.Join(dir, "b_test.go"), []byte("no Go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := TestsBelow(dir); err == nil {
		t.Error("a file that is no Go is no error")
	}
}
