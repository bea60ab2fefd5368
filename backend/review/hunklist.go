package review

import (
	"slices"
	"strings"

	"loop/backend/core"
)

// merged are the hunks of both sides in the order of the file. Those that are staged are
// numbered by HEAD and the index, the others by the index and the file.
func merged(staged, unstaged filePatch, path string) (list []core.ReviewHunk) {
	for _, side := range []struct {
		patch  filePatch
		staged bool
		salt   string
	}{{staged, true, "staged\x00" + path}, {unstaged, false, path}} {
		if side.patch.head != "" && side.patch.single() {
			list = append(list, wholeHunk(side.patch, side.staged, side.salt))
		}
	}
	if staged.single() {
		staged.hunks = nil
	}
	if unstaged.single() {
		unstaged.hunks = nil
	}
	type placed struct {
		at   int // in the index
		hunk core.ReviewHunk
	}
	var all []placed
	for _, h := range staged.hunks {
		shown := shown(h, true)
		for _, u := range unstaged.hunks {
			if u.old < h.new {
				shown.New += u.delta()
			}
		}
		all = append(all, placed{h.new, shown})
	}
	for _, h := range unstaged.hunks {
		shown := shown(h, false)
		for _, st := range staged.hunks {
			if st.new <= h.old {
				shown.Old -= st.delta()
			}
		}
		all = append(all, placed{h.old, shown})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.at - b.at })
	for _, p := range all {
		list = append(list, p.hunk)
	}
	return list
}

func shown(h hunk, staged bool) core.ReviewHunk {
	return core.ReviewHunk{
		ID: h.id, Staged: staged, Old: h.old, OldSize: h.oldSize, New: h.new, NewSize: h.newSize,
		Section: text(h.section), Lines: text(h.body),
	}
}

// wholeHunk is a change that is taken as one, with the lines of all that it consists of.
func wholeHunk(p filePatch, staged bool, salt string) core.ReviewHunk {
	h := core.ReviewHunk{ID: wholeID(p, salt), Staged: staged, Section: text(p.says())}
	for _, one := range p.hunks {
		h.Lines += text(one.body)
		h.OldSize += one.oldSize
		h.NewSize += one.newSize
	}
	h.Old, h.New = min(1, h.OldSize), min(1, h.NewSize)
	return h
}

// chosen are hunks by their names; ok is false where one is not there any more.
func (p filePatch) chosen(ids []string, salt string) (list []hunk, ok bool) {
	if p.single() {
		return nil, p.head != "" && len(ids) == 1 && ids[0] == wholeID(p, salt)
	}
	for _, h := range p.hunks {
		if slices.Contains(ids, h.id) {
			list = append(list, h)
		}
	}
	return list, len(list) == len(ids) && len(ids) > 0
}

func text(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
