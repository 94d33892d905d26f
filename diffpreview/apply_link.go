package diffpreview

import "io/fs"

// mark tells contents apart in an intent and in a fingerprint: the hash of a
// file's bytes, which is what [intent.bodies] speaks of, and of a link something
// that is no such hash. It is "" for what does not exist.
func mark(c Content) string {
	if c.IsLink() {
		return "link " + c.Hash()
	}
	return c.Hash()
}

// markOfLink is mark of the link called name.
func (f *folder) markOfLink(name string) (string, error) {
	target, err := f.root.Readlink(name)
	if err != nil {
		return "", err
	}
	return mark(Content{Exists: true, Data: []byte(target), Mode: fs.ModeSymlink}), nil
}

// checkLink is checkThere where there is a link.
func (c *fileChange) checkLink(info fs.FileInfo) error {
	if !c.base.IsLink() {
		return c.stale("is a link now")
	}
	target, err := c.folder.root.Readlink(c.leaf)
	if err != nil {
		return c.fail("reading link", err)
	}
	if target != string(c.base.Data) {
		return c.stale("leads elsewhere than what the change was made on")
	}
	c.before = info
	return nil
}

// stillLink is still for a link.
func (c *fileChange) stillLink(f *folder, name string) error {
	info, err := f.root.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return c.stale("was replaced while it was being written")
	}
	target, err := f.root.Readlink(name)
	switch {
	case err != nil:
		return c.fail("reading link", err)
	case target != string(c.base.Data):
		return c.stale("was replaced while it was being written")
	}
	c.moved = info
	return nil
}

// stageLink makes c's new link under its temporary name. What makes a link
// durable is the sync of its directory.
func (t *transaction) stageLink(c *fileChange, sync bool) error {
	if err := c.home.root.Symlink(string(c.want.Data), c.temp); err != nil {
		return c.fail("creating temporary link", err)
	}
	c.staged = true
	t.touched[c.home] = true
	t.w.step("temporary link created")
	if old := c.lender(); old != nil {
		c.home.lendOwner(c.temp, old.before)
	}
	if sync {
		if err := c.home.sync(); err != nil {
			return c.fail("syncing directory", err)
		}
	}
	var err error
	c.ours, err = c.home.fingerprint(c.temp)
	return c.fail("looking at temporary link", err)
}
