package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	events := writeFile(t, dir, "events.jsonl", `{"id":"evt-01","receiver":"audit","type":"test"}`)
	owed := writeFile(t, dir, "owed.jsonl", `{"id":"evt-01","receiver":"stock","type":"test"}`)
	none := writeFile(t, dir, "none.json", `[]`)
	for name, c := range map[string]struct {
		args   string
		stdin  string
		status int
		diag   string
	}{
		"a file":        {args: "-in " + events},
		"standard in":   {args: "-in -", stdin: `{"id":"evt-01","receiver":"audit","type":"test"}`},
		"bad lines":     {args: "-in -", stdin: "?"},
		"nothing":       {args: "-in -"},
		"help":          {args: "-h", diag: "-grace"},
		"owed":          {args: "-hopeless -in " + owed, status: statusUndelivered, diag: "webhooks: undelivered: 1 events, of 1 accepted\n"},
		"argument":      {args: "events.jsonl", status: statusUnusable, diag: `webhooks: unexpected argument "events.jsonl"` + "\n"},
		"flag":          {args: "-v", status: statusUnusable, diag: "webhooks: flag provided but not defined: -v\n"},
		"no grace":      {args: "-grace 0s", status: statusUnusable, diag: "webhooks: -grace 0s is not positive\n"},
		"no input":      {args: "-receivers " + none, status: statusUnusable, diag: "webhooks: -receivers needs -in"},
		"no such input": {args: "-in " + dir + "/no", status: statusUnusable, diag: "no such file"},
		"no receivers":  {args: "-in - -receivers " + none, status: statusUnusable, diag: "webhooks: no receivers\n"},
		"no such list":  {args: "-in - -receivers " + dir + "/no", status: statusUnusable, diag: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, diag bytes.Buffer
			got := command(strings.Fields(c.args), strings.NewReader(c.stdin), &out, &diag)
			if got != c.status || !strings.Contains(diag.String(), c.diag) || (c.diag == "") != (diag.Len() == 0) {
				t.Errorf("status %d, want %d; diagnostics %q, want %q", got, c.status, &diag, c.diag)
			}
			if unusable := c.diag != "" && c.status != statusUndelivered; unusable != (out.Len() == 0) {
				t.Errorf("output %q", &out)
			}
		})
	}
}

// TestReceivers proves that what is wrong with a list is said before anything is sent.
func TestReceivers(t *testing.T) {
	const good = `{"name":"crm","url":"https://crm.test/hooks","secret":"` + vectorSecret + `"}`
	for text, want := range map[string]string{
		"[" + good + "]":              "",
		"[" + good + "," + good + "]": "two receivers are named crm",
		"{":                           "unexpected EOF",
		`[{"nmae":"crm"}]`:            `unknown field "nmae"`,
		`[{"url":"http://crm.test","secret":"` + vectorSecret + `"}]`:             "a receiver without name",
		`[{"name":"crm","url":"ftp://crm.test","secret":"` + vectorSecret + `"}]`: `"ftp://crm.test" is no http or https URL`,
		`[{"name":"crm","url":"crm.test","secret":"` + vectorSecret + `"}]`:       `"crm.test" is no http or https URL`,
		`[{"name":"crm","url":"http://crm.test"}]`:                                "no secret",
		`[{"name":"crm","url":"http://crm.test","secret":"s3cr3t"}]`:              "a secret begins with whsec_",
	} {
		receivers, err := readReceivers(writeFile(t, t.TempDir(), "receivers.json", text))
		if err == nil {
			_, err = byName(receivers)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%v shows the secret", err)
		}
	}
}

// TestInterrupt runs webhooks as a process, with a receiver that is no stand-in. The interrupt comes while the input is
// open and the event on its way: it's delivered and reported.
func TestInterrupt(t *testing.T) {
	var process *os.Process
	var once sync.Once // a second one would end it
	started := make(chan struct{})
	b := newInbox(Secret("key"))
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-started
		once.Do(func() {
			if err := process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		})
		b.ServeHTTP(w, r)
	}))
	defer receiver.Close()
	list := fmt.Sprintf(`[{"name":"crm","url":%q,"secret":"whsec_%s"}]`, receiver.URL, base64.StdEncoding.EncodeToString(b.secret))
	receivers := writeFile(t, t.TempDir(), "receivers.json", list)

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-in", "-", "-receivers", receivers)
	cmd.Env = append(os.Environ(), "WEBHOOKS_MAIN=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	process = cmd.Process
	close(started)
	if _, err := io.WriteString(stdin, `{"id":"evt-01","receiver":"crm","type":"test"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	if got := b.testify(); got.taken != 1 || len(got.faults) > 0 || !strings.Contains(out.String(), balance{}.verdict()) {
		t.Errorf("the receiver says %+v, the program\n%s", got, &out)
	}
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
