package daemon

import (
	"fmt"
	"io/fs"

	"github.com/loomd/loomd/daemon/protocol"
	"github.com/loomd/loomd/diffpreview"
)

// maxConflict bounds the texts of one conflict on the wire, in bytes: more than
// a person compares by eye.
const maxConflict = 64 << 10

func (s *Server) wireHunk(p *diffpreview.Proposal, h *diffpreview.Hunk, place diffpreview.Place) protocol.Hunk {
	out := protocol.Hunk{
		ID: h.ID, Kind: string(h.Kind), State: protocol.HunkState(h.State), SplitOf: h.Of,
		OldStart: fromOne(place.OldStart, place.OldLines), OldLines: place.OldLines,
		NewStart: fromOne(place.NewStart, place.NewLines), NewLines: place.NewLines,
	}
	if (h.OldMode|h.NewMode)&fs.ModeSymlink != 0 {
		out.Kind = string(diffpreview.KindLink)
	}
	if h.Kind != diffpreview.KindText {
		out.OldMode, out.NewMode = gitMode(h.OldMode), gitMode(h.NewMode)
	}
	if h.Kind == diffpreview.KindBinary {
		out.OldBytes, out.NewBytes = len(h.Old), len(h.New)
	}
	if h.Kind == diffpreview.KindRename {
		out.From, out.To = s.ws.Name(h.From), s.ws.Name(h.To)
	}
	if d := h.Decision; d != nil {
		out.By, out.Comment, out.Rule = d.By, d.Comment, d.Rule
	}
	if h.State == diffpreview.HunkConflict {
		out.Conflict = s.wireConflict(p, h)
	}
	return out
}

func (s *Server) wireConflict(p *diffpreview.Proposal, h *diffpreview.Hunk) *protocol.Conflict {
	switch h.Kind {
	case diffpreview.KindMode:
		return &protocol.Conflict{Base: exactMode(h.OldMode), Tree: exactMode(p.Base.Mode), Agent: exactMode(h.NewMode)}
	case diffpreview.KindRename:
		out := &protocol.Conflict{Base: s.ws.Name(h.From), Agent: s.ws.Name(h.To)}
		if p.Base.Exists {
			out.Tree = p.Name
		}
		return out
	}
	tree := p.TreeText(h)
	if len(h.Old)+len(h.New)+len(tree) > maxConflict {
		return &protocol.Conflict{Omitted: true}
	}
	var out protocol.Conflict
	out.Base, _ = p.Text(h.Old)
	out.Agent, _ = p.Text(h.New)
	out.Tree, _ = p.Text(tree)
	return &out
}

// gitMode is a mode as git writes it, "" for none.
func gitMode(mode fs.FileMode) string {
	switch {
	case mode == 0:
		return ""
	case mode&fs.ModeSymlink != 0:
		return "120000"
	case mode&0o111 != 0:
		return "100755"
	}
	return "100644"
}

// exactMode is a mode with all of its permission bits, in git's form: two that
// git writes alike can be in conflict.
func exactMode(mode fs.FileMode) string {
	if mode == 0 || mode&fs.ModeSymlink != 0 {
		return gitMode(mode)
	}
	return fmt.Sprintf("%o", 0o100000|uint32(mode.Perm()))
}

// addWords marks in text hunks which words differ.
func (c *client) addWords(p *diffpreview.Proposal, hunks []protocol.Hunk) {
	for i := range hunks {
		h := &p.Hunks[i]
		if h.Kind != diffpreview.KindText || h.State != diffpreview.HunkOpen {
			continue
		}
		old, lossyOld := p.Text(h.Old)
		new, lossyNew := p.Text(h.New)
		if lossyOld || lossyNew {
			continue
		}
		oldSpans, newSpans, ok := diffpreview.Words([]byte(old), []byte(new))
		if !ok {
			continue
		}
		hunks[i].Words = &protocol.Words{Old: wireWords(old, oldSpans, c.encoding), New: wireWords(new, newSpans, c.encoding)}
	}
}

// wireWords counts byte ranges of a text, sorted and each within a line, as
// positions.
func wireWords(text string, spans []diffpreview.WordSpan, enc protocol.PositionEncoding) []protocol.WordSpan {
	out := []protocol.WordSpan{}
	for _, s := range spans {
		start, end := positionOf(text, s.Start, enc), positionOf(text, s.End, enc)
		out = append(out, protocol.WordSpan{Line: int(start.Line), Start: int(start.Character), End: int(end.Character)})
	}
	return out
}
