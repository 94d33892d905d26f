package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/loomd/loomd/diffpreview"
)

// readChunk is how much of a large file is in memory while its lines are walked,
// in bytes. It is even, so that a chunk does not end within a UTF-16 code unit.
const readChunk = 256 << 10

// readHead reads a file up to wholeRead; whole says that this is all of it. A
// file is read to its end, not to the size it claims: those of /proc claim none.
func readHead(source diffpreview.Source) (head []byte, whole bool, err error) {
	size := source.Size()
	if size > wholeRead {
		head = make([]byte, wholeRead)
		n, err := readAt(source, head, 0)
		return head[:n], n < wholeRead, err
	}
	head = make([]byte, 0, max(size, 4096)+1)
	for {
		n, err := readAt(source, head[len(head):cap(head)], int64(len(head)))
		head = head[:len(head)+n]
		switch {
		case err != nil:
			return nil, false, err
		case len(head) < cap(head):
			return head, true, nil
		case len(head) > wholeRead: // it grew, or claims no size
			return head, false, nil
		}
		grown := make([]byte, len(head), min(2*cap(head), wholeRead+1))
		copy(grown, head)
		head = grown
	}
}

// readAt fills buf from place at, or as much of it as the file has.
func readAt(source io.ReaderAt, buf []byte, at int64) (int, error) {
	n := 0
	for n < len(buf) {
		m, err := source.ReadAt(buf[n:], at+int64(n))
		n += m
		if errors.Is(err, io.EOF) || m == 0 && err == nil {
			break
		}
		if err != nil {
			return n, fmt.Errorf("reading: %w", err)
		}
	}
	return n, nil
}

// showPart fills in the result for a file over wholeRead, of which only the head
// is at hand. What the file is, is judged by its head; lines up to the one asked
// for are walked in chunks.
func (r *readResult) showPart(ctx context.Context, source diffpreview.Source, head []byte, args readArgs) error {
	info := diffpreview.Inspect(trimHead(head))
	r.describe(info)
	begin := int64(0)
	if info.BOM {
		_, n := diffpreview.BOMOf(head)
		begin = int64(n)
	}
	var err error
	if args.ByteOffset != nil {
		begin, err = alignIn(source, max(begin, *args.ByteOffset), info.Encoding)
	} else {
		r.Offset = args.Offset
		begin, err = r.walkLines(ctx, source, begin, args.Offset-1, info.Encoding)
	}
	if err != nil {
		return err
	}
	// In UTF-16 a byte of text takes up to two in the file; the rest is room for
	// what a cut looks at.
	part := make([]byte, 2*args.MaxBytes+16)
	n, err := readAt(source, part, begin)
	if err != nil {
		return err
	}
	shown := cutPage(part[:n], info.Encoding, n < len(part), lineLimit(args), args.MaxBytes)
	r.show(shown, begin)
	if err := r.redactPart(source, begin, shown.raw, info.Encoding); err != nil {
		return err
	}
	next := begin + int64(shown.raw)
	if end := begin + int64(n); n > 0 && n < len(part) { // whatever the size was before
		r.TotalBytes = &end
	}
	if n == 0 && r.Offset > 0 && r.TotalLines == nil { // line Offset-1 ends where the file does
		lines := r.Offset - 1
		r.TotalLines = &lines
	}
	if n < len(part) && shown.raw == n {
		return nil
	}
	total := int64(0)
	if r.TotalBytes != nil {
		total = *r.TotalBytes
	}
	r.continueInLine(next, int64(shown.raw), total)
	if r.Offset > 0 && shown.cut == 0 {
		line := r.Offset + shown.lines
		r.NextOffset = &line
		r.Next += fmt.Sprintf(" (or, slower, with offset=%d)", line)
	}
	return nil
}

// trimHead takes off what may be the beginning of a character at the end of a
// head, which would make it look like text in another encoding. A head cut at
// wholeRead ends on a UTF-16 code unit.
func trimHead(head []byte) []byte {
	head = head[:min(len(head), wholeRead)]
	if _, mark := diffpreview.BOMOf(head); mark == 2 {
		return head
	}
	for back := 1; back < utf8.UTFMax && back < len(head); back++ {
		if c := head[len(head)-back]; c >= 0xC0 {
			return head[:len(head)-back]
		} else if c < utf8.RuneSelf {
			break
		}
	}
	return head
}

// alignIn is align for a file that is not at hand. A place past the file's end
// is the end.
func alignIn(source diffpreview.Source, at int64, enc diffpreview.Encoding) (int64, error) {
	if size := source.Size(); size >= 0 {
		at = min(at, size)
	}
	const around = 4 // the longest character
	from := max(0, at-around)
	var buf [2 * around]byte
	n, err := readAt(source, buf[:], from)
	if err != nil || int(at-from) >= n {
		return at, err
	}
	return from + int64(align(buf[:n], int(at-from), enc)), nil
}

// walkLines returns where the line begins that stands n lines on from place at.
// When the file ends before, it is the end, and the lines are counted.
func (r *readResult) walkLines(ctx context.Context, source diffpreview.Source, at int64, n int, enc diffpreview.Encoding) (int64, error) {
	if n == 0 {
		return at, nil
	}
	buf := make([]byte, readChunk)
	unended := false // the last line so far has no line end
	total := 0
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := readAt(source, buf, at)
		if err != nil {
			return 0, err
		}
		for from := 0; from < got; {
			end, ended := nextLine(buf[:got], from, enc)
			unended = !ended
			from = end
			if !ended {
				break
			}
			if total++; total == n && (from < got || got == len(buf)) {
				return at + int64(from), nil
			}
		}
		at += int64(got)
		if got < len(buf) {
			if unended {
				total++
			}
			r.TotalLines = &total
			return at, nil
		}
	}
}
