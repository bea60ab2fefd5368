package filebridge

import "loop/backend/core"

// move renames within one folder. Between folders it does not: Windows names a file's new
// folder by a path, which an agent could have replaced by a link.
func (p *place) move(to *place, within bool) error {
	if within {
		return p.root.Rename(p.name, to.name)
	}
	return core.Fail(core.CodeInvalid, nil, "Loop does not move files between folders on Windows.", "Move it in the Explorer or a terminal.")
}
