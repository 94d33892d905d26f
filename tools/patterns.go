package tools

import (
	"sync"

	"github.com/loomd/loomd/watch/match"
)

// maxPatterns bounds the patterns that are kept compiled.
const maxPatterns = 16

// patterns are those that were searched for last: the pages of a search have one
// pattern, and so have searches that are repeated after an edit. A pattern keeps
// what its automaton has learned.
var patterns struct {
	sync.Mutex
	kept []keptPattern // the last used first
}

type keptPattern struct {
	match.Options
	compiled *match.Pattern
}

// compilePattern is [match.Compile] with a memory.
func compilePattern(o match.Options) (*match.Pattern, error) {
	patterns.Lock()
	for i, p := range patterns.kept {
		if p.Options == o {
			copy(patterns.kept[1:], patterns.kept[:i])
			patterns.kept[0] = p
			patterns.Unlock()
			return p.compiled, nil
		}
	}
	patterns.Unlock()
	compiled, err := match.Compile(o)
	if err != nil {
		return nil, err
	}
	patterns.Lock()
	defer patterns.Unlock()
	kept := append([]keptPattern{{o, compiled}}, patterns.kept...)
	patterns.kept = kept[:min(len(kept), maxPatterns)]
	return compiled, nil
}
