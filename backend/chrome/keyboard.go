package chrome

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
)

const (
	maxTyped = 64 << 10 // bytes of text at a time
	maxByKey = 1000     // characters that are typed key by key; longer text is inserted at once
)

// key is one key of a keyboard with the US layout.
type key struct {
	key, code string
	vk        int64 // Windows virtual key code
	text      string
	location  int64
}

// namedKeys are keys by the names that people and tools give them, in lower case.
var namedKeys = func() map[string]key {
	m := map[string]key{
		"enter":     {"Enter", "Enter", 13, "\r", 0},
		"tab":       {"Tab", "Tab", 9, "", 0},
		"backspace": {"Backspace", "Backspace", 8, "", 0},
		"delete":    {"Delete", "Delete", 46, "", 0},
		"escape":    {"Escape", "Escape", 27, "", 0},
		"space":     {" ", "Space", 32, " ", 0},
		"arrowup":   {"ArrowUp", "ArrowUp", 38, "", 0}, "arrowdown": {"ArrowDown", "ArrowDown", 40, "", 0},
		"arrowleft": {"ArrowLeft", "ArrowLeft", 37, "", 0}, "arrowright": {"ArrowRight", "ArrowRight", 39, "", 0},
		"home": {"Home", "Home", 36, "", 0}, "end": {"End", "End", 35, "", 0},
		"pageup": {"PageUp", "PageUp", 33, "", 0}, "pagedown": {"PageDown", "PageDown", 34, "", 0},
		"insert": {"Insert", "Insert", 45, "", 0}, "capslock": {"CapsLock", "CapsLock", 20, "", 0},
		"contextmenu": {"ContextMenu", "ContextMenu", 93, "", 0},
		"shift":       {"Shift", "ShiftLeft", 16, "", 1}, "control": {"Control", "ControlLeft", 17, "", 1},
		"alt": {"Alt", "AltLeft", 18, "", 1}, "meta": {"Meta", "MetaLeft", 91, "", 1},
	}
	for n := int64(1); n <= 12; n++ {
		name := fmt.Sprintf("F%d", n)
		m[strings.ToLower(name)] = key{name, name, 111 + n, "", 0}
	}
	for other, name := range map[string]string{
		"return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "up": "arrowup", "down": "arrowdown",
		"left": "arrowleft", "right": "arrowright", "page_up": "pageup", "page_down": "pagedown", "prior": "pageup",
		"next": "pagedown", "spacebar": "space", "ctrl": "control", "cmd": "meta", "command": "meta", "super": "meta",
		"win": "meta", "option": "alt", "menu": "contextmenu", "kp_enter": "enter",
	} {
		m[other] = m[name]
	}
	return m
}()

// modifierKeys are the bits of what is held while another key is pressed.
var modifierKeys = map[string]int{
	"Alt": core.ModifierAlt, "Control": core.ModifierCtrl, "Meta": core.ModifierMeta, "Shift": core.ModifierShift,
}

// shifted and plain are the two characters of each key that has no letter.
const (
	plain   = "`1234567890-=[]\\;',./"
	shifted = "~!@#$%^&*()_+{}|:\"<>?"
)

var punctuation = []struct {
	code string
	vk   int64
}{
	{"Backquote", 192},
	{"Digit1", 49}, {"Digit2", 50}, {"Digit3", 51}, {"Digit4", 52}, {"Digit5", 53},
	{"Digit6", 54}, {"Digit7", 55}, {"Digit8", 56}, {"Digit9", 57}, {"Digit0", 48},
	{"Minus", 189}, {"Equal", 187}, {"BracketLeft", 219}, {"BracketRight", 221}, {"Backslash", 220},
	{"Semicolon", 186}, {"Quote", 222}, {"Comma", 188}, {"Period", 190}, {"Slash", 191},
}

// character is the key that writes r, and whether shift is held for it. false if the US
// layout has none.
func character(r rune) (k key, shift, ok bool) {
	text := string(r)
	switch {
	case r >= 'a' && r <= 'z':
		return key{text, "Key" + strings.ToUpper(text), int64(r - 'a' + 'A'), text, 0}, false, true
	case r >= 'A' && r <= 'Z':
		return key{text, "Key" + text, int64(r), text, 0}, true, true
	case r == ' ':
		return namedKeys["space"], false, true
	case r == '\n' || r == '\r':
		return namedKeys["enter"], false, true
	case r == '\t':
		return namedKeys["tab"], false, true
	}
	if i := strings.IndexRune(plain, r); i >= 0 && r < 0x80 {
		return key{text, punctuation[i].code, punctuation[i].vk, text, 0}, false, true
	}
	if i := strings.IndexRune(shifted, r); i >= 0 && r < 0x80 {
		return key{text, punctuation[i].code, punctuation[i].vk, text, 0}, true, true
	}
	return key{}, false, false
}

// parseKeys reads “ctrl+shift+a”, “Enter” or “?”. A letter of a shortcut may be written
// large, and does not mean shift then.
func parseKeys(s string) (k key, modifiers int, err error) {
	unknown := func() error {
		return core.Fail(core.CodeInvalid, nil, "There is no key “"+clip(s, 60)+"”.",
			"Use one character, or a name such as Enter, Tab, Escape, ArrowDown, F5 or ctrl+a. Several keys are several actions, "+
				"and type writes text.")
	}
	rest := s
	if trimmed := strings.TrimSpace(s); trimmed != "" {
		rest = strings.ReplaceAll(strings.ReplaceAll(trimmed, " +", "+"), "+ ", "+")
	}
	for {
		before, after, found := strings.Cut(rest, "+")
		if !found || before == "" || after == "" {
			break
		}
		m, ok := namedKeys[strings.ToLower(before)]
		bit := modifierKeys[m.key]
		if !ok || bit == 0 {
			return key{}, 0, unknown()
		}
		modifiers |= bit
		rest = after
	}
	if named, ok := namedKeys[strings.ToLower(rest)]; ok {
		k = named
	} else {
		runes := []rune(rest)
		if len(runes) != 1 {
			return key{}, 0, unknown()
		}
		if modifiers&^core.ModifierShift != 0 && runes[0] < 0x80 {
			runes[0] = unicode.ToLower(runes[0])
		}
		var shift bool
		var ok bool
		if k, shift, ok = character(runes[0]); !ok {
			k = key{rest, "", 0, rest, 0}
		}
		if shift {
			modifiers |= core.ModifierShift
		} else if modifiers&core.ModifierShift != 0 && len(k.text) == 1 && strings.HasPrefix(k.code, "Key") {
			k.key, k.text = strings.ToUpper(k.key), strings.ToUpper(k.text)
		}
	}
	if modifiers&^core.ModifierShift != 0 {
		k.text = "" // a shortcut writes nothing
	}
	return k, modifiers, nil
}

// editing are the commands that Chromium leaves to the system's key bindings.
var editing = map[string]string{"a": "selectAll", "c": "copy", "x": "cut", "v": "paste", "z": "undo"}

// events are the two events of a key that is pressed and let go.
func (k key) events(modifiers int) [2]*input.DispatchKeyEventParams {
	down := &input.DispatchKeyEventParams{
		Type: "rawKeyDown", Key: k.key, Code: k.code, WindowsVirtualKeyCode: k.vk, Location: k.location,
		Modifiers: int64(modifiers | modifierKeys[k.key]),
	}
	if k.text != "" {
		down.Type, down.Text, down.UnmodifiedText = "keyDown", k.text, k.text
	}
	if modifiers == core.ModifierCtrl || modifiers == core.ModifierMeta {
		if c, ok := editing[k.key]; ok {
			down.Commands = []string{c}
		}
	}
	up := *down
	up.Type, up.Text, up.UnmodifiedText, up.Commands = "keyUp", "", "", nil
	up.Modifiers = int64(modifiers)
	return [2]*input.DispatchKeyEventParams{down, &up}
}

// press presses a key and lets it go.
func (t *tab) press(ctx context.Context, k key, modifiers int) error {
	for _, e := range k.events(modifiers) {
		if err := t.call(ctx, input.CommandDispatchKeyEvent, e, nil); err != nil {
			return err
		}
	}
	return nil
}

// write types text into whatever has the focus.
func (t *tab) write(ctx context.Context, text string) error {
	if len(text) > maxTyped {
		return core.Fail(core.CodeInvalid, nil, "The text is longer than 64 KiB.", "Type it in pieces.")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	runes := []rune(text)
	if len(runes) > maxByKey {
		return t.insert(ctx, text)
	}
	for i := 0; i < len(runes); {
		k, shift, ok := character(runes[i])
		if !ok { // what the layout has no key for comes as an input method writes it
			n := i
			for n < len(runes) {
				if _, _, has := character(runes[n]); has {
					break
				}
				n++
			}
			if err := t.insert(ctx, string(runes[i:n])); err != nil {
				return err
			}
			i = n
			continue
		}
		modifiers := 0
		if shift {
			modifiers = core.ModifierShift
		}
		if err := t.press(ctx, k, modifiers); err != nil {
			return err
		}
		i++
	}
	return nil
}

// insert puts text in at once, as an input method does.
func (t *tab) insert(ctx context.Context, text string) error {
	return t.call(ctx, input.CommandInsertText, obj{"text": text}, nil)
}
