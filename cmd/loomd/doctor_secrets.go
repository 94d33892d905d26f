package main

import (
	"context"
	"os"
	"strings"

	"github.com/loomd/loomd/daemon"
)

// secretChecks load every secret that is configured, as a daemon started from here
// would, and tell of each whether that went well. No value is shown.
func (c *doctorCmd) secretChecks(ctx context.Context) []check {
	set, _, err := configuration(c.Root)
	if err != nil {
		return nil // configCheck tells why
	}
	var out []check
	names, failures := daemon.SecretsOf(set.Secrets, os.Environ()).Check(ctx)
	for i, name := range names {
		one := check{"secret " + name, gradeOK, "from " + set.Secrets[i].Provider + ", can be loaded"}
		if failures[i] != nil {
			one.Grade, one.Detail = gradeWarn, strings.TrimPrefix(failures[i].Error(), one.Name+": ")
		}
		out = append(out, one)
	}
	return out
}
