package gate

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"loop/backend/wire"
)

// maxDiff bounds what is shown of a change, as JSON has it: it goes into events and the
// timeline.
const maxDiff = 48 << 10

// change is the difference that an act makes, or why it is not shown.
func change(a wire.Approval) (diff, note string) {
	before, after := a.Before, a.After
	switch {
	case a.Kind != wire.KindFile || a.Operation != "write" && a.Operation != "create":
		return "", ""
	case a.InPlace && a.Append:
		return "", "It can only add to the end of the file. What it will add is not known yet."
	case a.InPlace && a.Operation == "create":
		return "", "The file is new. What it will write is not known yet."
	case a.InPlace:
		return "", "It opens the file to change it. What it will write is not known yet."
	case after == nil:
		return "", "What will be written is not known yet."
	case after.Cut && !after.Part || before != nil && before.Cut && !before.Part:
		return "", "The change is too long to be shown here."
	case !isText(after.Text) || before != nil && !isText(before.Text):
		return "", "The content is not text."
	}
	old := ""
	if before != nil {
		old = string(before.Text)
	} else {
		note = "The file is new."
	}
	if old == string(after.Text) {
		return "", "The content stays the same."
	}
	if after.Part {
		note = strings.TrimSpace(note + " Only what runs or is permitted later is shown of this file.")
	}
	diff = udiff.Unified("before", "after", old, string(after.Text))
	size := 0
	for i := range len(diff) {
		if size += encoded(diff[i]); size > maxDiff {
			cut := strings.LastIndexByte(diff[:i], '\n') + 1
			return diff[:cut], "The end of the change is left out here."
		}
	}
	return diff, note
}

// encoded is how many bytes JSON has for one, at most: it writes some signs of HTML with
// six, and both separators of lines that have three.
func encoded(c byte) int {
	switch c {
	case '<', '>', '&', 0xe2:
		return 6
	case '\n', '\t', '\r', '"', '\\':
		return 2
	}
	return 1
}
