package patch

import "strings"

// maxAbove is how many lines above a block its file's name is looked for.
const maxAbove = 4

// blocks reads SEARCH/REPLACE blocks. The file's name stands above the block, before
// or in its fence; a block without one is of the file of the block before.
func (r *reader) blocks() error {
	end := 0 // of the block before
	for ; r.more(); r.at++ {
		if !searchMark.MatchString(r.line()) {
			if r.another() {
				return r.failf(oneForm)
			}
			continue
		}
		h := Hunk{Line: r.number()}
		name := r.nameAbove(end)
		switch {
		case name == "" && len(r.files) == 0:
			return r.failf("the line above the block names no file")
		case name != "" && (len(r.files) == 0 || r.file().Path != name):
			r.files = append(r.files, File{Path: name, Line: r.number(), Anywhere: true})
		}
		r.at++
		var err error
		if h.Old, err = r.until("=======", dividerMark.MatchString); err != nil {
			return err
		}
		if h.New, err = r.until(">>>>>>> REPLACE", replaceMark.MatchString); err != nil {
			return err
		}
		r.file().Hunks = append(r.file().Hunks, h)
		end = r.at
		r.at--
	}
	return nil
}

// until reads the lines up to a mark, and the mark.
func (r *reader) until(mark string, is func(string) bool) (lines []string, err error) {
	from := r.number() - 1
	for ; r.more(); r.at++ {
		line := r.line()
		switch {
		case is(line):
			r.at++
			return lines, nil
		case searchMark.MatchString(line), dividerMark.MatchString(line), replaceMark.MatchString(line):
			return nil, r.failf("%s comes first: text that holds such a line is changed by edit_file or by a unified diff", mark)
		}
		lines = append(lines, line)
	}
	return nil, errorAt(from, "the block has no %s: has the patch been cut off?", mark)
}

// nameAbove is the file that stands above the next line, not above line end.
func (r *reader) nameAbove(end int) string {
	for i := r.at - 1; i >= max(end, r.at-maxAbove); i-- {
		line := strings.TrimSpace(r.lines[i])
		if line == "" || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue
		}
		line = strings.TrimSuffix(line, ":")
		for _, around := range []string{"`", "**", `"`} {
			if inner, ok := strings.CutPrefix(line, around); ok && strings.HasSuffix(inner, around) {
				line = strings.TrimSuffix(inner, around)
			}
		}
		return strings.TrimSpace(strings.TrimSuffix(line, ":"))
	}
	return ""
}
