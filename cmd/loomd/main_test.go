package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/loomd/loomd/tools/process"
)

// TestMain makes the test binary answer to the name "loomd", so that scripts
// and tests run the real command line in processes of their own.
func TestMain(m *testing.M) {
	process.Supervise()
	testscript.Main(leakChecked{m}, map[string]func(){
		"loomd": main,
	})
}

// leakChecked fails a run that leaves goroutines.
type leakChecked struct{ *testing.M }

func (m leakChecked) Run() int {
	code := m.M.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
