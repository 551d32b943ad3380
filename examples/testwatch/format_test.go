package main

import "testing"

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"TestÄ/日本": "TestÄ/日本", "a\x1b[2Jb\r\n": "a?[2Jb??", "\xff": "\uFFFD"} {
		if got := printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestIndent(t *testing.T) {
	for in, want := range map[string]string{"": "", "\n \n": "", "a": "  a\n", "a\n\n\tb\n\n": "  a\n\n  \tb\n"} {
		if got := indent(in, "  "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"äbcd": "äbcd", "äbcde": "äbc…"} {
		if got := cut(in, 4); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
