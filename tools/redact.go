package tools

import (
	"github.com/loomd/loomd/diffpreview"
	"github.com/loomd/loomd/tools/secret"
)

// redactor replaces the secrets of the call's daemon; it may be nil.
func (tc *Context) redactor() *secret.Redactor { return tc.Secrets.Redactor() }

// redact replaces secrets in the structured result.
func (o *Outcome) redact(r *secret.Redactor) {
	if o.Pieces == nil {
		if text, changed := r.JSON(o.Structured); changed {
			o.Structured = text
		}
		return
	}
	if text, changed := r.JSON(o.Pieces...); changed {
		o.Release()
		o.Pieces, o.Release = [][]byte{text}, func() {}
	}
}

// redacted are blocks without secrets. An image that holds one is not shown: to
// change its bytes would break it.
func redacted(blocks []Block, r *secret.Redactor) []Block {
	if r.Idle() {
		return blocks
	}
	out := make([]Block, len(blocks))
	for i, b := range blocks {
		b.Text = r.String(b.Text)
		if name, ok := r.Holds(b.Data); ok {
			b = Block{Type: "text", Text: "The image holds " + secret.Mark(name) + " and is not shown."}
		}
		out[i] = b
	}
	return out
}

// redact replaces secrets in the contents, which are data[from:to]. Those that
// reach over a border of it are found by what is around it, so that no walk over a
// file in small steps shows one.
func (r *readResult) redact(before, after []byte, enc diffpreview.Encoding) {
	margin := r.secrets.Margin() // in UTF-8, where text takes no less than half of what it does in UTF-16
	if margin == 0 {
		return
	}
	if isWide(enc) {
		margin *= 2
	}
	head, _ := decode(before[max(0, len(before)-margin):], enc)
	tail, _ := decode(after[:min(len(after), margin)], enc)
	whole := []byte(head + r.Contents + tail)
	r.Contents = string(r.secrets.Part(whole, len(head), len(head)+len(r.Contents)))
}

// redactPart is redact for contents of which the file has n bytes at place begin.
func (r *readResult) redactPart(source diffpreview.Source, begin int64, n int, enc diffpreview.Encoding) error {
	margin := 2 * int64(r.secrets.Margin())
	if margin == 0 {
		return nil
	}
	before := make([]byte, min(margin, begin)&^1)
	got, err := readAt(source, before, begin-int64(len(before)))
	if err != nil {
		return err
	}
	after := make([]byte, margin)
	more, err := readAt(source, after, begin+int64(n))
	if err != nil {
		return err
	}
	r.redact(before[:got], after[:more], enc)
	return nil
}
