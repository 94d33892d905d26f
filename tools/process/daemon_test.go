package process

import (
	"context"
	"fmt"
	"os"
)

// daemonEnv has the command line that this test program runs as a daemon would, when
// it is run with it.
const daemonEnv = "LOOMD_TEST_DAEMON"

// playDaemon starts a command and does not return, if that is asked for.
func playDaemon() {
	line := os.Getenv(daemonEnv)
	if line == "" {
		return
	}
	dir, err := os.Getwd()
	if err == nil {
		_, err = Run(context.Background(), Command{
			Path: "/bin/bash", Args: []string{"bash", "-c", line}, Dir: dir, Env: Environment(os.Environ()),
		})
	}
	fmt.Fprintln(os.Stderr, "the command has ended:", err)
	os.Exit(1)
}
