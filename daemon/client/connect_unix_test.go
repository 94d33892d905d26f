//go:build unix

package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/loomd/loomd/daemon/client"
	"github.com/loomd/loomd/daemon/place"
	loom "github.com/loomd/loomd/daemon/protocol"
)

// workspace makes folders of the test's own for state and sockets, and a root.
func workspace(t *testing.T) (root string, p place.Place) {
	t.Helper()
	base, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	for env, dir := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "run"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(env, filepath.Join(base, dir))
	}
	root = filepath.Join(base, "w")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if p, err = place.For([]string{root}); err != nil {
		t.Fatal(err)
	}
	return root, p
}

// listen serves the fake on a socket until the test ends.
func (d *fakeDaemon) listen(socket string) error {
	if err := place.MakePrivateDir(filepath.Dir(socket)); err != nil {
		return err
	}
	l, err := place.ListenPrivate(socket)
	if err != nil {
		return err
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { d.serve(conn) })
		}
	})
	d.t.Cleanup(func() {
		l.Close()
		served.Wait()
	})
	return nil
}

func connectTo(opts client.Options) error {
	opts.Who = client.Identity{Name: "test", Role: loom.RoleReviewer}
	c, err := client.Connect(context.Background(), opts)
	if err != nil {
		return err
	}
	return c.Close()
}

func TestConnectFindsNobody(t *testing.T) {
	root, p := workspace(t)
	var none *client.NoDaemonError
	for _, opts := range []client.Options{{Roots: []string{root}}, {Socket: p.Socket}} {
		if err := connectTo(opts); !errors.As(err, &none) || !errors.Is(err, client.ErrNotRunning) {
			t.Errorf("Connect(%+v): %v", opts, err)
		}
	}
	// A socket that a killed daemon left.
	if err := place.MakePrivateDir(p.SocketDir); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if err := connectTo(client.Options{Roots: []string{root}}); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("Connect to a socket that nobody serves: %v", err)
	}
}

func TestConnectFindsTheDaemon(t *testing.T) {
	root, p := workspace(t)
	if err := newFake(t).listen(p.Socket); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []client.Options{{Roots: []string{root}}, {Socket: p.Socket}} {
		if err := connectTo(opts); err != nil {
			t.Errorf("Connect(%+v): %v", opts, err)
		}
	}
}

// A daemon that listens elsewhere is found by the lock of the root.
func TestConnectAsksTheLock(t *testing.T) {
	root, p := workspace(t)
	claim, err := place.TakeClaim(p)
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	elsewhere := filepath.Join(filepath.Dir(root), "s")
	if err := newFake(t).listen(elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := claim.Announce(elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := connectTo(client.Options{Roots: []string{root}}); err != nil {
		t.Error(err)
	}
}

func TestConnectRefusesAnOpenDirectory(t *testing.T) {
	root, p := workspace(t)
	if err := newFake(t).listen(p.Socket); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.SocketDir, 0o777); err != nil {
		t.Fatal(err)
	}
	var np *place.NotPrivateError
	var none *client.NoDaemonError
	err := connectTo(client.Options{Roots: []string{root}})
	if !errors.As(err, &np) || !errors.As(err, &none) {
		t.Errorf("Connect through a directory that others can write: %v", err)
	}
}

// Of many that find no daemon one starts it; a starter that finds the root
// taken tries again until the other one listens.
func TestConnectRaces(t *testing.T) {
	root, p := workspace(t)
	d := newFake(t)
	var starts atomic.Int32
	starter := func(context.Context, place.Place) error {
		if starts.Add(1) > 1 {
			return client.ErrBusy
		}
		return d.listen(p.Socket)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := connectTo(client.Options{Roots: []string{root}, Starter: starter}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if starts.Load() == 0 {
		t.Error("nobody started a daemon")
	}
}

// A daemon that ends as it is found is started anew.
func TestConnectOutlivesAnEnd(t *testing.T) {
	root, p := workspace(t)
	if err := place.MakePrivateDir(p.SocketDir); err != nil {
		t.Fatal(err)
	}
	dying, err := place.ListenPrivate(p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := dying.Accept()
		if err == nil {
			dying.Close()
			conn.Close()
		}
	}()
	d := newFake(t)
	started := false
	err = connectTo(client.Options{Roots: []string{root}, Starter: func(context.Context, place.Place) error {
		started = true
		return d.listen(p.Socket)
	}})
	<-ended
	if err != nil || !started {
		t.Errorf("Connect = %v, started %v", err, started)
	}
}

func TestConnectTellsWhyNoneStarts(t *testing.T) {
	root, p := workspace(t)
	why := errors.New("the journal is damaged")
	opts := client.Options{Roots: []string{root}, Starter: func(context.Context, place.Place) error { return why }}
	for _, log := range []string{"", p.LogFile} { // it is named when it is there
		if log != "" {
			f, err := place.OpenLog(log)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		err := connectTo(opts)
		var none *client.NoDaemonError
		if !errors.As(err, &none) || !errors.Is(err, why) || none.Log != log || !none.Tried {
			t.Errorf("Connect: %v", err)
			continue
		}
		want := "the daemon cannot be started: " + why.Error()
		if log != "" {
			want += " (its log is " + log + ")"
		}
		if err.Error() != want {
			t.Errorf("Connect: %v, want %s", err, want)
		}
	}
}
