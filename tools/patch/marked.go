package patch

import "strings"

// marked reads the form between *** Begin Patch and *** End Patch.
func (r *reader) marked() error {
	for r.more() {
		line := strings.TrimRight(r.line(), " \t")
		add, isAdd := strings.CutPrefix(line, "*** Add File:")
		del, isDelete := strings.CutPrefix(line, "*** Delete File:")
		update, isUpdate := strings.CutPrefix(line, "*** Update File:")
		f := File{Line: r.number(), Path: strings.TrimSpace(add + del + update)}
		switch {
		case line == endMark:
			for r.at++; r.more(); r.at++ {
				if r.another() {
					return r.failf(oneForm)
				}
			}
			return nil
		case line == "":
			r.at++
			continue
		case isAdd:
			f.Kind, f.Path = Create, strings.TrimSpace(add)
		case isDelete:
			f.Kind, f.Path = Delete, strings.TrimSpace(del)
		case isUpdate:
			f.Path = strings.TrimSpace(update)
		default:
			return r.failf("*** Add File:, *** Update File:, *** Delete File: or %s comes here", endMark)
		}
		if f.Path == "" {
			return r.failf("no file is named")
		}
		r.at++
		r.files = append(r.files, f)
		if err := r.markedBody(); err != nil {
			return err
		}
	}
	return errorAt(0, "%s is missing: has the patch been cut off?", endMark)
}

func (r *reader) markedBody() error {
	f := r.file()
	switch f.Kind {
	case Delete:
		return nil
	case Create:
		h := Hunk{Line: r.number()}
		for r.more() && strings.HasPrefix(r.line(), "+") {
			h.add(r.line())
			r.at++
		}
		if r.more() && !strings.HasPrefix(r.line(), "*** ") && strings.TrimSpace(r.line()) != "" {
			return r.failf("each line of a new file begins with +")
		}
		f.Hunks = []Hunk{h}
		return nil
	case Update:
	}
	if to, ok := strings.CutPrefix(r.line(), "*** Move to:"); ok {
		if f.To = strings.TrimSpace(to); f.To == "" {
			return r.failf("no file is named")
		}
		r.at++
	}
	for r.more() && !r.atSection() {
		if err := r.markedHunk(); err != nil {
			return err
		}
	}
	if len(f.Hunks) == 0 && f.To == "" {
		return errorAt(f.Line, "nothing is said of what changes in %s", f.Path)
	}
	return nil
}

// atSection reports whether a file's part ends here.
func (r *reader) atSection() bool {
	return strings.HasPrefix(r.line(), "*** ") && !strings.HasPrefix(r.line(), "*** End of File")
}

// markedHunk reads one hunk, with the @@ lines in front.
func (r *reader) markedHunk() error {
	h := Hunk{Line: r.number()}
	for ; strings.HasPrefix(r.line(), "@@"); r.at++ {
		if anchor := strings.TrimSpace(strings.TrimPrefix(r.line(), "@@")); anchor != "" {
			h.Anchors = append(h.Anchors, anchor)
		}
	}
	blank := 0 // lines at the end that may only stand between two parts
	for r.more() && !r.atSection() && !strings.HasPrefix(r.line(), "@@") {
		if strings.HasPrefix(r.line(), "*** End of File") {
			h.AtEnd = true
			r.at++
			break
		}
		if blank++; r.line() != "" {
			blank = 0
		}
		if !h.add(r.line()) {
			return r.failf("a line begins with a blank, + or -")
		}
		r.at++
	}
	if !h.AtEnd {
		h.Old, h.New = h.Old[:len(h.Old)-blank], h.New[:len(h.New)-blank]
	}
	if len(h.Old)+len(h.New) == 0 {
		if blank > 0 && len(h.Anchors) == 0 {
			return nil
		}
		return errorAt(h.Line, "the hunk has no lines")
	}
	r.file().Hunks = append(r.file().Hunks, h)
	return nil
}
