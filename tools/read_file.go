package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

//go:embed read_file.md
var readFileText string

// maxReadBytes is the most that one read_file returns. A reply is one frame of at
// most 64 MiB, and a byte of text can take 6 in it: a control character is
// \u0001. (Results over maxText are not repeated as text.)
const maxReadBytes = 8 << 20

// wholeRead is the size in bytes up to which a file is read whole, so that its
// lines are counted and its hash is known, whatever part of it is shown. It is
// the size up to which a proposal keeps its base whole.
const wholeRead = 8 << 20

type readArgs struct {
	Path       string `json:"path" jsonschema:"The file: relative to the workspace's root with /, or absolute inside it."`
	MaxBytes   int    `json:"max_bytes,omitempty" jsonschema:"The most text to return, in bytes of UTF-8."`
	Offset     int    `json:"offset,omitempty" jsonschema:"The first line to return. Lines count from 1."`
	Limit      int    `json:"limit,omitempty" jsonschema:"The most lines to return. Without it: all that max_bytes allows."`
	ByteOffset *int64 `json:"byte_offset,omitempty" jsonschema:"The byte of the file to begin at, instead of a line. Inside a character it is moved on to the next one."`
}

// readResult is a text or an image; the other one is nil.
type readResult struct {
	Path string `json:"path"`
	Via  string `json:"via,omitempty" jsonschema:"the link that path went through"`
	*shownText
	*shownImage
	TotalBytes *int64 `json:"total_bytes,omitempty" jsonschema:"size of the file"`
	Hash       string `json:"hash,omitempty" jsonschema:"SHA-256 of the file's bytes; not known for files over 8 MiB"`
	Changing   bool   `json:"changing,omitempty" jsonschema:"somebody was writing the file while it was read, so that what is shown may be of different moments; read it again when it matters"`
	cut

	secrets *secret.Redactor
	whole   bool // Hash and TotalBytes are of the bytes that the rest is from
}

// shownText is what a result says of text. All of it is about the bytes that
// contents is from.
type shownText struct {
	Contents       string `json:"contents" jsonschema:"the text; absent for an image"`
	TotalLines     *int   `json:"total_lines,omitempty" jsonschema:"not known for files over 8 MiB"`
	Encoding       string `json:"encoding" jsonschema:"utf-8, utf-16le, utf-16be, or bytes for text in another encoding"`
	EOL            string `json:"eol" jsonschema:"lf, crlf, mixed or none"`
	BOM            bool   `json:"bom" jsonschema:"the file begins with a byte order mark, which is not in contents"`
	Lossy          bool   `json:"lossy,omitempty" jsonschema:"contents has U+FFFD in place of what cannot be decoded"`
	Offset         int    `json:"offset,omitempty" jsonschema:"the line that contents begins in"`
	ByteOffset     int64  `json:"byte_offset" jsonschema:"the byte that contents begins at"`
	NextOffset     *int   `json:"next_offset,omitempty" jsonschema:"offset of a call that continues"`
	NextByteOffset *int64 `json:"next_byte_offset,omitempty" jsonschema:"byte_offset of a call that continues"`
}

func readFile() (Tool, error) {
	return build(spec[readArgs, readResult]{
		name: "read_file", text: readFileText,
		defaults: readArgs{MaxBytes: 1 << 20, Offset: 1},
		bounds: bounds{
			"path": {1, maxPath}, "max_bytes": {1, maxReadBytes}, "offset": {1, maxInteger},
			"limit": {1, maxInteger}, "byte_offset": {0, maxInteger},
		},
		annotations: Annotations{ReadOnly: true, Idempotent: true},
		codes: slices.Concat(ofPaths, []diffpreview.Code{
			diffpreview.CodeTooLarge, diffpreview.CodeFileNotFound, diffpreview.CodeIsDirectory, diffpreview.CodeNotRegularFile,
			diffpreview.CodeNotText, diffpreview.CodeUnsupportedEncoding,
		}),
		call: callReadFile,
	})
}

func callReadFile(ctx context.Context, tc *Context, args readArgs) (readResult, error) {
	if args.ByteOffset != nil && args.Offset > 1 {
		return readResult{}, badArgument("byte_offset", "does not go with offset: name a line or a byte")
	}
	p, via, err := tc.View.Workspace().Resolve(args.Path)
	if err != nil {
		return readResult{}, ofArgument("path", err)
	}
	for tries := readTries; ; tries-- {
		result, err := readOnce(ctx, tc, p, args)
		if result.Changing && result.whole && tries > 1 && ctx.Err() == nil {
			continue
		}
		result.Via = via
		return result, err
	}
}

// readTries is how often a file is read that somebody writes meanwhile. A single
// write is over by then, one after the other may not be.
const readTries = 4

// settleTime is how long ago a file must have been written for its time of change
// to tell of every write: the clocks of file systems tick every 10 ms or faster,
// and while a write goes on the time does not move.
const settleTime = 100 * time.Millisecond

// readOnce reads a file as it is at p now. Changing is set in a failure, too.
func readOnce(ctx context.Context, tc *Context, p diffpreview.Path, args readArgs) (readResult, error) {
	source, err := tc.View.Open(p)
	if err != nil {
		return readResult{}, unreadable(tc, p, err)
	}
	defer source.Close()
	result := readResult{Path: tc.View.Name(p), secrets: tc.redactor()}
	err = result.read(ctx, source, args)
	now, changed, statErr := source.Now()
	result.Changing = result.Changing || changed
	if err = cmp.Or(err, statErr); err != nil {
		return result, result.failure(err)
	}
	if result.whole {
		tc.View.Saw(p, result.Hash)
	} else if changed && source.Size() >= 0 {
		result.resize(now)
	}
	return result, nil
}

// read fills in the result for an open file.
func (r *readResult) read(ctx context.Context, source diffpreview.Source, args readArgs) error {
	head, whole, err := readHead(source)
	if err != nil {
		return err
	}
	size := source.Size()
	if whole {
		size = int64(len(head))
		r.whole = true
		if r.Changing, err = unsettled(source, head); err != nil {
			return err
		}
		hash := sha256.Sum256(head)
		r.Hash = hex.EncodeToString(hash[:])
	}
	if size >= 0 {
		r.TotalBytes = &size
	}
	if isBinaryFormat(head) || diffpreview.HeadIsBinary(head, size) {
		k := identify(head[:min(len(head), sniffImage)])
		if !k.isImage() {
			return notText(r.Path, k, size)
		}
		file := io.NewSectionReader(source, 0, math.MaxInt64)
		if whole { // the bytes that the hash is of
			file = io.NewSectionReader(bytes.NewReader(head), 0, size)
		}
		return r.showImage(ctx, file, size, k)
	}
	r.shownText = &shownText{}
	if whole {
		r.showWhole(head, args)
		return nil
	}
	return r.showPart(ctx, source, head, args)
}

// unsettled reports whether a file that was written a moment ago is other than it
// was when data was read.
func unsettled(source diffpreview.Source, data []byte) (bool, error) {
	if source.Size() < 0 || time.Since(source.Changed()) > settleTime {
		return false, nil
	}
	buf := make([]byte, min(len(data)+1, readChunk))
	for at := 0; ; {
		n, err := readAt(source, buf, int64(at))
		if err != nil || !bytes.HasPrefix(data[at:], buf[:n]) {
			return true, err
		}
		if at += n; n < len(buf) {
			return at < len(data), nil
		}
	}
}

// resize corrects what the result of a file that is not read whole says of its
// size: it was another one when the file was opened.
func (r *readResult) resize(now int64) {
	if r.shownText != nil && !r.Truncated && r.Contents != "" {
		return // the end was seen
	}
	r.TotalBytes = &now
	if r.Truncated {
		r.Total = now
	}
}

// unreadable is the failure of a file that could not be opened.
func unreadable(tc *Context, p diffpreview.Path, err error) error {
	f := failureOf(err)
	switch diffpreview.Code(f.Code) {
	case diffpreview.CodeFileNotFound:
		tc.View.Saw(p, "")
		f.Hint = missingHint(tc.View, p)
	case diffpreview.CodeIsDirectory:
		f.Hint = "list_files shows what is in it"
	}
	return f
}

// failure is the failure of a file that was open.
func (r *readResult) failure(err error) error {
	var f *Failure
	switch {
	case errors.As(err, &f):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case diffpreview.CodeOf(err) != diffpreview.CodeInternal:
		return err
	default:
		f = failf(diffpreview.CodeIO, "%s: %v", r.Path, err).with("path", r.Path)
	}
	if r.Changing {
		f.Hint = "somebody was writing the file while it was read: read it again"
	}
	return f
}

func notText(name string, k kind, size int64) *Failure {
	f := failf(diffpreview.CodeNotText, "%s is not text: %s", name, k)
	f.Hint = k.hint
	if f.Hint == "" {
		f.Hint = "read_file shows text, and PNG, JPEG, GIF and WebP images"
	}
	f.with("path", name).with("mime_type", k.mime)
	if size >= 0 {
		f.with("total_bytes", size)
	}
	if k.width > 0 {
		f.with("width", k.width).with("height", k.height)
	}
	return f
}

// showWhole fills in the result for a file that is at hand whole.
func (r *readResult) showWhole(data []byte, args readArgs) {
	info := diffpreview.Inspect(data)
	r.describe(info)
	r.TotalLines = &info.Lines
	begin := 0
	if info.BOM {
		if _, begin = diffpreview.BOMOf(data); begin == len(data) {
			info.Lines = 0 // a mark is no line
		}
	}
	line := args.Offset
	if args.ByteOffset != nil {
		begin = align(data, max(begin, int(min(*args.ByteOffset, int64(len(data))))), info.Encoding)
		line = lineAt(data, begin, info.Encoding)
	} else {
		begin = skipLines(data, begin, line-1, info.Encoding)
	}
	shown := cutPage(data[begin:], info.Encoding, true, lineLimit(args), args.MaxBytes)
	r.show(shown, int64(begin))
	r.Offset = line
	next := begin + shown.raw
	r.redact(data[:begin], data[next:], info.Encoding)
	if next == len(data) {
		return
	}
	if shown.cut > 0 {
		r.continueInLine(int64(next), int64(shown.raw), int64(len(data)))
		return
	}
	line += shown.lines
	r.NextOffset = &line
	r.cut = cut{
		Truncated: true, Shown: int64(shown.lines), Total: int64(info.Lines), Unit: "lines",
		Next: fmt.Sprintf("call read_file with offset=%d", line),
	}
}

func (r *readResult) describe(info diffpreview.Info) {
	r.Encoding, r.EOL, r.BOM = string(info.Encoding), info.EOL, info.BOM
}

func (r *readResult) show(p page, begin int64) {
	r.Contents, r.Lossy, r.ByteOffset = p.text, p.lossy, begin
}

// continueInLine marks the result as cut in the middle of a line. total is the
// file's size, 0 when it is not known.
func (r *readResult) continueInLine(next, shown, total int64) {
	r.NextByteOffset = &next
	r.cut = cut{
		Truncated: true, Shown: shown, Total: total, Unit: "bytes",
		Next: fmt.Sprintf("call read_file with byte_offset=%d", next),
	}
}

func lineLimit(args readArgs) int {
	if args.Limit == 0 {
		return math.MaxInt
	}
	return args.Limit
}

// lineAt is the number, from 1, of the line that place at lies in; past the last
// line end it is the line that would come there.
func lineAt(data []byte, at int, enc diffpreview.Encoding) int {
	line := 1
	for from := 0; ; line++ {
		end, ended := nextLine(data, from, enc)
		if !ended || end > at {
			return line
		}
		from = end
	}
}

// skipLines returns where the line begins that stands n lines further on, or the
// end of data.
func skipLines(data []byte, from, n int, enc diffpreview.Encoding) int {
	for ; n > 0 && from < len(data); n-- {
		from, _ = nextLine(data, from, enc)
	}
	return from
}
