package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/place"
	"github.com/loomd/loomd/daemon/protocol"
)

type doctorCmd struct {
	target
	JSON bool `name:"json" help:"Print the checks as JSON."`
}

func (doctorCmd) Help() string {
	return `Each check is ok, a warning (something works less well) or a failure (something does not work). The exit code is 1 when one failed.`
}

// check is one finding.
type check struct {
	Name   string `json:"name"`
	Grade  string `json:"grade"` // ok, warn or fail
	Detail string `json:"detail"`
}

const (
	gradeOK   = "ok"
	gradeWarn = "warn"
	gradeFail = "fail"
)

func (c *doctorCmd) Run(e *env) error {
	checks, err := c.checks(e)
	if err != nil {
		return err
	}
	if c.JSON {
		err = e.json(struct {
			Checks []check `json:"checks"`
		}{checks})
	} else {
		err = e.checks(checks)
	}
	for _, ch := range checks {
		if ch.Grade == gradeFail {
			return errors.Join(err, errReported)
		}
	}
	return err
}

func (c *doctorCmd) checks(e *env) ([]check, error) {
	out := platformChecks(runtime.GOOS)
	roots, err := c.roots()
	if err != nil {
		return nil, err
	}
	p, err := place.For(roots)
	if err != nil {
		return append(out, check{"place", gradeFail, err.Error()}), nil
	}
	out = append(out,
		privateCheck("socket directory", p.SocketDir),
		privateCheck("state directory", p.StateBase),
		configCheck(c.Root),
	)
	out = append(out, c.secretChecks(e.ctx)...)
	out = append(out, c.daemonChecks(e)...)
	out = append(out, gitCheck(e.ctx))
	if runtime.GOOS == "linux" {
		out = append(out, watchCheck("/proc/sys/fs/inotify/max_user_watches"))
	}
	return out, nil
}

func (e *env) checks(list []check) error {
	rows := make([][]string, len(list))
	for i, ch := range list {
		rows[i] = []string{ch.Grade, ch.Name, ch.Detail}
	}
	for i, line := range table(rows) {
		switch list[i].Grade {
		case gradeWarn:
			line = e.paint.warn(line)
		case gradeFail:
			line = e.paint.removed(line)
		}
		if err := e.printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// platformChecks says what this build can do on a system.
func platformChecks(goos string) []check {
	writing := check{"writing", gradeOK, "an accepted file changes places with the old one in one step; a save in between is found and put back"}
	socket := check{"private socket", gradeOK, "a Unix socket of this user alone; the user at the other end is checked"}
	switch goos {
	case "linux", "darwin":
	case "windows":
		writing = check{"writing", gradeWarn, "files are written in place: a save by another program in the microseconds between check and write is not found out"}
		socket = check{"private socket", gradeFail, "this build has no named pipes: only serve --stdio works, and no command can reach it"}
	default:
		writing = check{"writing", gradeWarn, "not known on " + goos}
		socket = check{"private socket", gradeFail, "the user at the other end cannot be told on " + goos}
	}
	return []check{writing, socket}
}

func privateCheck(name, dir string) check {
	err := place.CheckPrivateDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := place.CheckMakeable(dir); err != nil {
			return check{name, gradeFail, err.Error()}
		}
		return check{name, gradeOK, dir + " (made when a daemon starts)"}
	case err != nil:
		return check{name, gradeFail, err.Error()}
	}
	return check{name, gradeOK, dir}
}

// configCheck tells what is wrong in the configuration. While a file is not
// understood, nothing is accepted by a rule.
func configCheck(folders []string) check {
	const name = "configuration"
	c, problems, err := configuration(folders)
	if err != nil {
		return check{name, gradeFail, err.Error()}
	}
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	text := strings.Join(texts, "; ")
	switch {
	case config.Broken(problems):
		return check{name, gradeFail, text}
	case len(problems) > 0:
		return check{name, gradeWarn, text}
	}
	for _, f := range c.Files {
		if f.Exists {
			texts = append(texts, f.Path)
		}
	}
	if len(texts) == 0 {
		return check{name, gradeOK, "none, the defaults hold"}
	}
	return check{name, gradeOK, strings.Join(texts, ", ")}
}

// daemonChecks look at the daemon, and at its index when one runs.
func (c *doctorCmd) daemonChecks(e *env) []check {
	cl, err := c.connect(e, protocol.RoleReviewer, nil, 0)
	if errors.Is(err, client.ErrNotRunning) {
		return []check{{"daemon", gradeOK, "none is running"}}
	}
	if err != nil {
		return []check{{"daemon", gradeFail, err.Error()}}
	}
	defer cl.Close()
	out := []check{daemonCheck(e, cl)}
	if x, err := cl.IndexStatus(e.ctx); err == nil {
		out = append(out, indexCheck(x))
	}
	return out
}

// indexCheck tells what the index holds. Whatever hinders it makes it slower,
// and no answer wrong.
func indexCheck(x protocol.IndexStatusResult) check {
	ch := check{"index", gradeOK, indexLine(x)}
	for _, p := range x.Problems {
		ch.Grade = gradeWarn
		ch.Detail += "; " + problemLine(p)
	}
	return ch
}

func daemonCheck(e *env, cl *client.Client) check {
	st, err := cl.Status(e.ctx)
	switch {
	case errors.Is(err, client.ErrClosed):
		return check{"daemon", gradeOK, "none is running: it ended just now"}
	case err != nil:
		return check{"daemon", gradeFail, err.Error()}
	case st.Version != version():
		return check{"daemon", gradeWarn, fmt.Sprintf("pid %d is of version %s, this binary of %s: end it (kill %d) and it starts anew", st.PID, st.Version, version(), st.PID)}
	case len(st.Problems) > 0:
		return check{"daemon", gradeWarn, fmt.Sprintf("pid %d: %s", st.PID, strings.Join(st.Problems, "; "))}
	}
	return check{"daemon", gradeOK, fmt.Sprintf("pid %d, version %s", st.PID, st.Version)}
}

// gitTime bounds the wait for "git version".
const gitTime = 5 * time.Second

func gitCheck(ctx context.Context) check {
	git, err := exec.LookPath("git")
	if err != nil {
		return check{"git", gradeWarn, "not found: loomd works without it, agents will miss it"}
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, git, "version").Output()
	if err != nil {
		return check{"git", gradeWarn, fmt.Sprintf("%s does not run: %v", git, err)}
	}
	return check{"git", gradeOK, filepath.ToSlash(git) + ", " + string(bytes.TrimSpace(out))}
}

// fewWatches is the number of inotify watches below which a large tree, one
// watch per directory, is likely to run out: kernels before 5.11 allow 8192.
const fewWatches = 65536

func watchCheck(file string) check {
	const name = "file watches"
	data, err := os.ReadFile(file)
	if err != nil {
		return check{name, gradeWarn, "the limit cannot be read: " + err.Error()}
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		return check{name, gradeWarn, "the limit cannot be read: " + err.Error()}
	}
	if n < fewWatches {
		return check{name, gradeWarn, fmt.Sprintf("at most %d directories can be watched; sysctl fs.inotify.max_user_watches=524288 raises that", n)}
	}
	return check{name, gradeOK, fmt.Sprintf("up to %d directories", n)}
}
