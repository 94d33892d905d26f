package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds the plain patterns that one pattern with braces stands
// for: matching tries one after the other.
const maxAlternatives = 256

// checkPattern checks a pattern over paths that are relative to a root.
func checkPattern(pattern string) error {
	parts := strings.Split(pattern, "/")
	switch {
	case strings.HasPrefix(pattern, "/"):
		return errors.New("must be relative to the workspace's root: no / at the start")
	case strings.HasSuffix(pattern, "/"):
		return fmt.Errorf("matches no file: for all below the folder write %s**", cut(pattern))
	case slices.Contains(parts, ".."):
		return errors.New("nothing is above the workspace's root")
	case strings.HasPrefix(pattern, "!"):
		return errors.New("there is no negation")
	case strings.Contains(pattern, "/") && path.Clean(pattern) != pattern:
		return fmt.Errorf("matches nothing: write %s", cut(path.Clean(pattern)))
	}
	return checkGlob(pattern)
}

// checkGlob checks a doublestar pattern.
func checkGlob(pattern string) error {
	switch {
	case strings.TrimSpace(pattern) == "":
		return errors.New("empty")
	case len(pattern) > maxText:
		return fmt.Errorf("%d bytes: at most %d", len(pattern), maxText)
	case strings.ContainsRune(pattern, 0):
		return errors.New("no path holds a NUL byte")
	case !doublestar.ValidatePattern(pattern):
		return errors.New("not a pattern: a [ or { is not closed, or a \\ ends it")
	case alternatives(pattern) > maxAlternatives:
		return fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
	}
	return nil
}

// alternatives is how many plain patterns a valid pattern stands for, or more:
// braces within braces count as if they stood side by side.
func alternatives(pattern string) int {
	total := 1
	var open []int // commas of the braces that are open
	for i := 0; i < len(pattern) && total <= maxAlternatives; i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			open = append(open, 0)
		case ',':
			if len(open) > 0 {
				open[len(open)-1]++
			}
		case '}':
			if len(open) > 0 {
				total *= 1 + open[len(open)-1]
				open = open[:len(open)-1]
			}
		}
	}
	return total
}
