package sandbox

import (
	"bytes"

	"github.com/loomd/loomd/diffpreview"
)

// merge is what a file becomes of which base was made mine by a command and now by
// others. ok is false when both changed the same.
func merge(base, mine, now diffpreview.Content) (merged diffpreview.Content, ok bool) {
	switch {
	case sameBytes(base, mine): // its mode alone was changed
		merged = now
	case sameBytes(base, now), sameBytes(mine, now):
		merged = mine
		merged.Mode = now.Mode
	case base.Exists && mine.Exists && now.Exists && !base.IsLink() && !mine.IsLink() && !now.IsLink():
		data, ok := mergeText(base.Data, mine.Data, now.Data)
		if !ok {
			return now, false
		}
		merged = diffpreview.Content{Exists: true, Data: data, Mode: now.Mode}
	default:
		return now, false
	}
	switch {
	case !merged.Exists:
		return diffpreview.Content{}, true
	case !base.Exists && now.Exists: // both made it
	case mine.IsLink() || now.IsLink() || !now.Exists || !base.Exists:
		if !sameBytes(base, mine) {
			merged.Mode = mine.Mode
		}
	case modeOf(base) == modeOf(mine), modeOf(mine) == modeOf(now):
	case modeOf(base) == modeOf(now):
		merged.Mode = modeOf(mine)
	default:
		return now, false
	}
	return merged, true
}

// sameBytes is equality of bytes and kind.
func sameBytes(x, y diffpreview.Content) bool {
	return x.Exists == y.Exists && x.IsLink() == y.IsLink() && bytes.Equal(x.Data, y.Data)
}

// mergeText merges lines. Changes of neighbouring lines do not meet; two insertions at
// one place do, and so does an insertion beside lines that the other side took out, as
// when a proposal is rebased.
func mergeText(base, mine, now []byte) ([]byte, bool) {
	enc := diffpreview.Inspect(base).Encoding
	if enc == diffpreview.Binary || diffpreview.Inspect(mine).Encoding != enc || diffpreview.Inspect(now).Encoding != enc {
		return nil, false
	}
	a, b := diffpreview.DiffBytes(base, mine, enc), diffpreview.DiffBytes(base, now, enc)
	old, ours, theirs := diffpreview.SplitLines(base, enc), diffpreview.SplitLines(mine, enc), diffpreview.SplitLines(now, enc)
	var out []byte
	at := 0
	emit := func(s diffpreview.Span, lines [][]byte) {
		out = appendLines(out, old[at:s.OldStart])
		out = appendLines(out, lines[s.NewStart:s.NewStart+s.NewLines])
		at = s.OldStart + s.OldLines
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && meet(a[0], b[0]):
			if !sameSpan(a[0], b[0], ours, theirs) {
				return nil, false
			}
			emit(a[0], ours)
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && before(a[0], b[0]):
			emit(a[0], ours)
			a = a[1:]
		default:
			emit(b[0], theirs)
			b = b[1:]
		}
	}
	return appendLines(out, old[at:]), true
}

func appendLines(out []byte, lines [][]byte) []byte {
	for _, line := range lines {
		out = append(out, line...)
	}
	return out
}

// before reports whether a, which does not meet b, is above it.
func before(a, b diffpreview.Span) bool {
	if a.OldStart != b.OldStart {
		return a.OldStart < b.OldStart
	}
	return a.OldLines == 0 // an insertion comes before the line that it is made at
}

// meet reports whether changes of one text are of the same lines.
func meet(a, b diffpreview.Span) bool {
	aEnd, bEnd := a.OldStart+a.OldLines, b.OldStart+b.OldLines
	switch {
	case a.OldLines == 0 && b.OldLines == 0:
		return a.OldStart == b.OldStart
	case a.OldLines == 0 && b.NewLines == 0, b.OldLines == 0 && a.NewLines == 0:
		return max(a.OldStart, b.OldStart) <= min(aEnd, bEnd)
	}
	if a.OldLines == 0 || b.OldLines == 0 {
		return max(a.OldStart, b.OldStart) < min(aEnd, bEnd) || a.OldStart < b.OldStart && b.OldStart < aEnd || b.OldStart < a.OldStart && a.OldStart < bEnd
	}
	return max(a.OldStart, b.OldStart) < min(aEnd, bEnd)
}

func sameSpan(a, b diffpreview.Span, ours, theirs [][]byte) bool {
	if a.OldStart != b.OldStart || a.OldLines != b.OldLines || a.NewLines != b.NewLines {
		return false
	}
	for i := range a.NewLines {
		if !bytes.Equal(ours[a.NewStart+i], theirs[b.NewStart+i]) {
			return false
		}
	}
	return true
}
