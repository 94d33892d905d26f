package daemon

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/loomd/loomd/daemon/config"
	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/tools"
)

// toolbox is what tools and toolsets there are: those of the process, what is
// configured, and what clients lend.
type toolbox struct {
	own *tools.Registry // loomd's, and those of [tools.Register]

	mu     sync.Mutex // guards the fields below
	now    *tools.Registry
	lent   []*lentTool // in the order in which they came
	opened map[opened]*tools.Registry
}

// opened names the tools of a session: its id and its toolset.
type opened struct{ session, toolset string }

// maxOpened bounds how many sessions' tools are kept made.
const maxOpened = 1000

// lentTool is one that a client carries out.
type lentTool struct {
	tool    tools.Tool
	owner   *client
	session string // "": of every session
}

func newToolbox(own *tools.Registry) *toolbox {
	return &toolbox{own: own, now: own, opened: map[opened]*tools.Registry{}}
}

// Known is what configuration can name of the daemons of this process.
func Known() (config.Known, error) {
	own, err := tools.All()
	if err != nil {
		return config.Known{}, err
	}
	return known(own), nil
}

func known(own *tools.Registry) config.Known {
	return config.Known{Tools: namesOf(own), Toolsets: own.Toolsets(), CheckSchema: func(schema []byte) error {
		_, err := tools.ParseForeignSchema(schema)
		return err
	}}
}

func namesOf(r *tools.Registry) []string {
	var names []string
	for _, t := range r.List() {
		names = append(names, t.Name)
	}
	return names
}

// of returns the tools that a session with a toolset may call. The error is a
// *tools.UnknownToolsetError.
func (b *toolbox) of(session, toolset string) (*tools.Registry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := opened{session, toolset}
	if r := b.opened[key]; r != nil {
		return r, nil
	}
	all, err := b.with(func(l *lentTool) bool { return l.session == "" || l.session == session })
	if err != nil {
		return nil, err
	}
	r, err := all.Toolset(toolset)
	if err != nil {
		return nil, err
	}
	if len(b.opened) == maxOpened {
		clear(b.opened)
	}
	b.opened[key] = r
	return r, nil
}

// everything is all tools that any session has. Of two sessions' tools of one name
// it has the older one.
func (b *toolbox) everything() *tools.Registry {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	r, err := b.with(func(l *lentTool) bool {
		seen := slices.Contains(names, l.tool.Name)
		names = append(names, l.tool.Name)
		return !seen
	})
	if err != nil {
		return b.now
	}
	return r
}

// with is what is there and those lent tools that are meant. One whose name is
// configured by now is left out. b.mu is held.
func (b *toolbox) with(meant func(*lentTool) bool) (*tools.Registry, error) {
	var more []tools.Tool
	for _, l := range b.lent {
		if _, taken := b.now.Get(l.tool.Name); !taken && meant(l) {
			more = append(more, l.tool)
		}
	}
	return b.now.With(more...)
}

// set takes up what is configured.
func (b *toolbox) set(r *tools.Registry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = r
	clear(b.opened)
}

// errNameTaken says that a tool would shadow another one.
var errNameTaken = errors.New("there is a tool of this name already")

// maxLent bounds the tools that one client lends.
const maxLent = 100

// lend adds tools of one client, in the place of those of the same name that it
// lends already: all or none. The error wraps errNameTaken with the index of the
// tool that cannot be.
func (b *toolbox) lend(fresh []*lentTool) (taken int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.lent)
	for i, f := range fresh {
		if _, there := b.now.Get(f.tool.Name); there {
			return i, errNameTaken
		}
		at := -1
		for j, l := range list {
			meet := l.session == f.session || l.session == "" || f.session == ""
			switch {
			case l.tool.Name != f.tool.Name:
			case l.owner == f.owner:
				at = j
			case meet:
				return i, errNameTaken
			}
		}
		if at >= 0 {
			list[at] = f
		} else {
			list = append(list, f)
		}
	}
	count := 0
	for _, l := range list {
		if l.owner == fresh[0].owner {
			count++
		}
	}
	if count > maxLent {
		return 0, invalid("a client lends at most %d tools", maxLent)
	}
	b.lent = list
	clear(b.opened)
	return 0, nil
}

// takeBack removes tools of a client, with names nil all of them. When it does not
// lend one of the names it removes none and returns those.
func (b *toolbox) takeBack(owner *client, names []string) (missing []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range names {
		if !slices.ContainsFunc(b.lent, func(l *lentTool) bool { return l.owner == owner && l.tool.Name == name }) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return missing
	}
	b.lent = slices.DeleteFunc(slices.Clone(b.lent), func(l *lentTool) bool {
		return l.owner == owner && (names == nil || slices.Contains(names, l.tool.Name))
	})
	clear(b.opened)
	return nil
}

// lends reports whether a client has lent a tool.
func (b *toolbox) lends(owner *client) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.lent, func(l *lentTool) bool { return l.owner == owner })
}

// changeTools does what changes the tools, and tells each agent whose tools are
// others after it.
func (s *Server) changeTools(do func() error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	before := map[*client]*tools.Registry{}
	for _, c := range s.agents() {
		before[c] = c.toolsNow()
	}
	if err := do(); err != nil {
		return err
	}
	for _, c := range s.agents() { // one that came meanwhile may have listed before
		if after := c.toolsNow(); after != nil && !sameTools(before[c], after) {
			// A client that is gone or does not read is the connection's affair.
			_ = c.conn.Notify(protocol.MethodToolsDidChange, protocol.ToolsListResult{Tools: wireTools(after)})
		}
	}
	return nil
}

// agents are the connections that have a session.
func (s *Server) agents() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*client
	for c := range s.clients {
		if c.isAgent() {
			out = append(out, c)
		}
	}
	return out
}

func (c *client) isAgent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage == running && c.session != ""
}

// toolsNow is what the agent may call; nil when its toolset is not configured any
// more.
func (c *client) toolsNow() *tools.Registry {
	r, err := c.sessionTools()
	if err != nil {
		return nil
	}
	return r
}

func (c *client) sessionTools() (*tools.Registry, error) {
	sess, _ := c.server.store.Session(c.session)
	return c.server.toolbox.of(c.session, sess.Toolset)
}

func sameTools(a, b *tools.Registry) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	return slices.EqualFunc(a.List(), b.List(), func(x, y tools.Tool) bool {
		return x.Name == y.Name && x.Description == y.Description && x.Annotations == y.Annotations && bytes.Equal(x.Input.JSON, y.Input.JSON)
	})
}
