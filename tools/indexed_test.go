package tools

import (
	"context"

	"github.com/loomd/loomd/watch"
	"github.com/loomd/loomd/watch/index"
)

// withIndex gives the bench what a daemon has: a watched tree and an index for
// every root.
func (b *bench) withIndex() *bench {
	b.t.Helper()
	for _, root := range b.view.Workspace().Roots() {
		tree, err := watch.OpenTree(context.Background(), watch.TreeOptions{Root: root.Path, CookieDir: b.t.TempDir()})
		must(b.t, err)
		x, err := index.Open(index.Options{Tree: tree, Root: root.Path, Memory: 64 << 20})
		must(b.t, err)
		b.t.Cleanup(func() {
			must(b.t, x.Close())
			must(b.t, tree.Close())
		})
		b.index = append(b.index, NewIndexed(tree, x))
	}
	return b
}
