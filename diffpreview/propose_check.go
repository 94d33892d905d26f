package diffpreview

import "errors"

// check asks [Options.Check] about a change: its new text, and the name that the
// file had not before.
func (v *View) check(c *Change, now, want Content) error {
	if v.store.check == nil || !want.Exists {
		return nil
	}
	if !now.Exists || c.moves() {
		if err := v.store.check(nil, []byte(v.Name(c.Shown()))); err != nil {
			return at(v.Name(c.Shown()), err)
		}
	}
	if now.Exists && now.IsLink() == want.IsLink() && sameBytes(now.Data, want.Data) {
		return nil
	}
	return at(v.Name(c.Path), v.store.check(plainBytes(now), plainBytes(want)))
}

// at names the file in an error that does not.
func at(name string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Path == "" {
		e.Path = name
	}
	return err
}

// plainBytes are a text's bytes, of UTF-16 those that it has in UTF-8.
func plainBytes(c Content) []byte {
	if enc, n := BOMOf(c.Data); n == 2 && !c.IsLink() {
		text, _ := Decode(c.Data, enc)
		return []byte(text)
	}
	return c.Data
}

// sameBytes reports whether two texts are the same; of the same bytes it does not
// look at them.
func sameBytes(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || string(a) == string(b)
}
