package dialog

import (
	"encoding/binary"
	"strings"
)

// taskConfig is TASKDIALOGCONFIG of commctrl.h for a 64-bit Windows, as far as Loop uses
// it. Pointers are of memory that the caller keeps in place.
type taskConfig struct {
	flags         uint32
	title         uintptr
	instruction   uintptr
	content       uintptr
	buttons       uintptr // of taskButtons
	buttonCount   uint32
	defaultButton uint32
	expanded      uintptr
	expandText    uintptr // of the control while it is collapsed, and while it is expanded
	footer        uintptr
	callback      uintptr
}

// bytes is the structure as Windows reads it: packed to one byte, which Go's own
// structures are not.
func (c taskConfig) bytes() []byte {
	b := make([]byte, 0, taskConfigSize)
	u32 := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	ptr := func(v uintptr) { b = binary.LittleEndian.AppendUint64(b, uint64(v)) }
	u32(taskConfigSize)
	ptr(0) // hwndParent: the window is out of sight
	ptr(0) // hInstance
	u32(c.flags)
	u32(0) // dwCommonButtons
	ptr(c.title)
	ptr(0) // hMainIcon
	ptr(c.instruction)
	ptr(c.content)
	u32(c.buttonCount)
	ptr(c.buttons)
	u32(c.defaultButton)
	u32(0) // cRadioButtons
	ptr(0) // pRadioButtons
	u32(0) // nDefaultRadioButton
	ptr(0) // pszVerificationText: nothing is remembered
	ptr(c.expanded)
	ptr(c.expandText) // pszExpandedControlText
	ptr(c.expandText) // pszCollapsedControlText
	ptr(0)            // hFooterIcon
	ptr(c.footer)
	ptr(c.callback)
	ptr(0) // lpCallbackData
	u32(0) // cxWidth: Windows chooses
	return b
}

const taskConfigSize = 160

// taskButton is one TASKDIALOG_BUTTON, packed likewise.
type taskButton struct {
	id   uint32
	text uintptr
}

func taskButtons(buttons []taskButton) []byte {
	var b []byte
	for _, button := range buttons {
		b = binary.LittleEndian.AppendUint32(b, button.id)
		b = binary.LittleEndian.AppendUint64(b, uint64(button.text))
	}
	return b
}

// mostExpanded is how many bytes a task dialog shows of what does not fit: it does not
// scroll, and its buttons must stay on the screen.
const mostExpanded = 1500

// fitted is a face for a dialog that cannot scroll.
func fitted(r Request) face {
	f := faceOf(r)
	if len(f.full) > mostExpanded {
		r.ReviewOnly = true
		f = faceOf(r)
		f.full = ""
	}
	return f
}

// content is target and facts as lines. The line breaks are Loop's: named leaves none.
func (f face) content() string {
	lines := []string{f.target, ""}
	for _, fact := range f.facts {
		lines = append(lines, fact.Label+": "+fact.Text)
	}
	return strings.Join(lines, "\n")
}
