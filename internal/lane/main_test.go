package lane

import (
	"flag"
	"os"
	"testing"
)

// modelChecks is how many sequences the model test runs unless -rapid.checks says otherwise.
const modelChecks = "2000"

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked && !testing.Short() {
		if err := flag.Set("rapid.checks", modelChecks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
