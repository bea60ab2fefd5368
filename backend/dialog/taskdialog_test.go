package dialog

import (
	"encoding/binary"
	"strings"
	"testing"
)

// The offsets are those of commctrl.h under pshpack1.h, with pointers of eight bytes.
func TestTaskDialogConfigIsPacked(t *testing.T) {
	b := taskConfig{flags: 1, title: 2, instruction: 3, content: 4, buttonCount: 5, buttons: 6, defaultButton: 7,
		expanded: 8, expandText: 9, footer: 10, callback: 11}.bytes()
	if len(b) != 160 {
		t.Fatalf("%d bytes, want 160", len(b))
	}
	for _, f := range []struct {
		name string
		at   int
		size int
		want uint64
	}{
		{"cbSize", 0, 4, 160}, {"hwndParent", 4, 8, 0}, {"hInstance", 12, 8, 0}, {"dwFlags", 20, 4, 1},
		{"dwCommonButtons", 24, 4, 0}, {"pszWindowTitle", 28, 8, 2}, {"hMainIcon", 36, 8, 0},
		{"pszMainInstruction", 44, 8, 3}, {"pszContent", 52, 8, 4}, {"cButtons", 60, 4, 5}, {"pButtons", 64, 8, 6},
		{"nDefaultButton", 72, 4, 7}, {"cRadioButtons", 76, 4, 0}, {"pRadioButtons", 80, 8, 0},
		{"nDefaultRadioButton", 88, 4, 0}, {"pszVerificationText", 92, 8, 0}, {"pszExpandedInformation", 100, 8, 8},
		{"pszExpandedControlText", 108, 8, 9}, {"pszCollapsedControlText", 116, 8, 9}, {"hFooterIcon", 124, 8, 0},
		{"pszFooter", 132, 8, 10}, {"pfCallback", 140, 8, 11}, {"lpCallbackData", 148, 8, 0}, {"cxWidth", 156, 4, 0},
	} {
		got := uint64(binary.LittleEndian.Uint32(b[f.at:]))
		if f.size == 8 {
			got = binary.LittleEndian.Uint64(b[f.at:])
		}
		if got != f.want {
			t.Errorf("%s at %d is %d, want %d", f.name, f.at, got, f.want)
		}
	}
	buttons := taskButtons([]taskButton{{1, 2}, {3, 4}})
	if len(buttons) != 24 || buttons[0] != 1 || buttons[4] != 2 || buttons[12] != 3 || buttons[16] != 4 {
		t.Errorf("buttons % x", buttons)
	}
}

// Nothing pushes the buttons off the screen, and what is not shown is not allowed.
func TestATaskDialogFitsTheScreen(t *testing.T) {
	r := Request{Target: "/a", Facts: []Fact{{Label: "Who", Text: "git"}, {Label: "Why asked", Text: "No rule."}}}
	if f := fitted(r); f.noAllow || f.content() != "/a\n\nWho: git\nWhy asked: No rule." {
		t.Errorf("%+v: %q", f, f.content())
	}
	r.Target = strings.Repeat("x", mostExpanded+1)
	if f := fitted(r); !f.noAllow || f.full != "" {
		t.Errorf("noAllow %v, full of %d bytes", f.noAllow, len(f.full))
	}
}
