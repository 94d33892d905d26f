package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of index.memory, in bytes. Below a MiB not even the newest changes fit;
// a TiB is more than a machine that a person works on has.
const (
	minMemory = 1 << 20
	maxMemory = 1 << 40
)

var sizeUnits = []struct {
	name string
	size int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// parseSize reads a whole number of bytes with a unit.
func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 62)
		if err != nil || n > uint64(maxMemory/unit.size) {
			break
		}
		return int64(n) * unit.size, nil
	}
	return 0, fmt.Errorf(`not a size: write it as "512MiB" or "2GiB"`)
}

// Size is a number of bytes as a person reads it.
func Size(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		switch {
		case n >= unit.size && n%unit.size == 0:
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		case n >= unit.size:
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// size reads a text as a size within bounds.
func (s *section) size(key string, least, most int64) (int64, bool) {
	text, ok := s.text(key)
	s.shape.size(key)
	if !ok {
		return 0, false
	}
	n, err := parseSize(text)
	switch {
	case err != nil:
		s.problem(key, "%q: %v", cut(text), err)
	case n < least || n > most:
		s.problem(key, "%q: must be from %s to %s", cut(text), Size(least), Size(most))
	default:
		return n, true
	}
	return 0, false
}
