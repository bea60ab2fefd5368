package themes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"loop/backend/core"
)

// Bounds of a theme's text. Themes of VS Code with thousands of scopes have some 200 KiB.
const (
	MaxText     = 1 << 20
	maxBrackets = 20_000 // the parser is recursive
	maxElements = 20_000
	maxDepth    = 16
	maxWord     = 4 << 10
)

// source is what a text says, whatever its form.
type source struct {
	name, format string
	dark         *bool          // what the text says of itself
	colours      map[string]rgb // by the names of the roles below
	called       map[string]string
}

// Roles of colours besides those of tokens of the page, which have their tokens' names.
const (
	background = "background"
	foreground = "foreground"
	cursor     = "cursor"
	selection  = "selection"
)

func ansi(i int) string { return "ansi-" + strconv.Itoa(i) }

func (s *source) set(role, called string, c rgb) {
	if _, ok := s.colours[role]; !ok {
		s.colours[role], s.called[role] = c, called
	}
}

func unreadable(cause, remedy string) error { return core.Fail(core.CodeInvalid, nil, cause, remedy) }

const forms = "Take a theme of VS Code (JSON), a scheme of Windows Terminal (JSON) or colours of iTerm2 (.itermcolors)."

// read finds out which form a text has, and reads it.
func read(text []byte) (*source, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(text)
	s := &source{colours: map[string]rgb{}, called: map[string]string{}}
	switch {
	case len(text) > MaxText:
		return nil, unreadable("The theme is larger than 1 MiB.", forms)
	case len(trimmed) == 0:
		return nil, unreadable("The theme is empty.", forms)
	case !utf8.Valid(text):
		return nil, unreadable("The theme is no text in UTF-8.", forms)
	case trimmed[0] == '<':
		return s, s.iterm(trimmed)
	case trimmed[0] != '{' && trimmed[0] != '/': // a comment
		return nil, unreadable("This is no theme that Loop can read.", forms)
	case bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets:
		return nil, unreadable(fmt.Sprintf("There are more than %d brackets in the theme.", maxBrackets), "Check that it is the right file.")
	}
	plain, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		return nil, core.Fail(core.CodeInvalid, err, "The theme is no whole JSON.", "Check that all of it was copied.")
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(plain, &top); err != nil {
		return nil, core.Fail(core.CodeInvalid, err, "The theme is no whole JSON.", "Check that all of it was copied.")
	}
	_, hasColors := top["colors"]
	_, hasTokens := top["tokenColors"]
	switch {
	case hasColors || hasTokens:
		return s, s.code(top)
	case top["include"] != nil:
		return nil, unreadable("The theme only builds on another file, which it names in “include”.",
			"Import that file, or use the command “Generate Color Theme” of VS Code.")
	case top["schemes"] != nil:
		return nil, unreadable("These are the settings of Windows Terminal, with all schemes.",
			"Paste one scheme out of “schemes”, from { to }.")
	case top["background"] != nil && top["foreground"] != nil:
		return s, s.scheme(top)
	}
	return nil, unreadable("This is no theme that Loop can read.", forms)
}

// word is a member that is a text; "" for anything else.
func word(raw json.RawMessage) (out string) {
	if json.Unmarshal(raw, &out) != nil || len(out) > maxWord {
		return ""
	}
	return out
}

var schemeRoles = map[string]string{background: background, foreground: foreground, "cursorColor": cursor, "selectionBackground": selection}

// schemeNames are the 16 colours as Windows Terminal and VS Code call them.
var schemeNames = []string{"black", "red", "green", "yellow", "blue", "purple", "cyan", "white"}

func (s *source) scheme(top map[string]json.RawMessage) error {
	s.name, s.format = word(top["name"]), "Windows Terminal"
	back, ok := hexColour(word(top["background"]), black)
	if !ok {
		return unreadable("The “background” of the scheme is no colour.", "Write it like #1e1e2e.")
	}
	for called, role := range schemeRoles {
		if c, ok := hexColour(word(top[called]), back); ok {
			s.set(role, called, c)
		}
	}
	for i, name := range schemeNames {
		bright := "bright" + strings.ToUpper(name[:1]) + name[1:]
		for j, called := range []string{name, bright} {
			if c, ok := hexColour(word(top[called]), back); ok {
				s.set(ansi(i+8*j), called, c)
			}
		}
	}
	return s.whole()
}

// whole says what a terminal's colours need to have.
func (s *source) whole() error {
	for _, role := range []string{background, foreground} {
		if _, ok := s.colours[role]; !ok {
			return unreadable("The theme has no colour for its "+role+".", forms)
		}
	}
	return nil
}

// codeRoles are the members of “colors” of a VS Code theme that count, the better one first.
var codeRoles = []struct {
	role    string
	members []string
}{
	{background, []string{"editor.background"}},
	{foreground, []string{"editor.foreground", "foreground"}},
	{cursor, []string{"terminalCursor.foreground", "editorCursor.foreground"}},
	{selection, []string{"terminal.selectionBackground", "editor.selectionBackground"}},
	{"bg-0", []string{"sideBar.background", "activityBar.background"}},
	{"bg-2", []string{"editorWidget.background", "editorGroupHeader.tabsBackground"}},
	{"bg-3", []string{"list.hoverBackground", "list.inactiveSelectionBackground"}},
	{"fg-2", []string{"descriptionForeground", "sideBar.foreground"}},
	{"line", []string{"panel.border", "editorGroup.border"}},
	{"line-2", []string{"input.border", "contrastBorder"}},
	{"accent", []string{"textLink.foreground", "focusBorder", "button.background"}},
	{"need", []string{"editorWarning.foreground", "list.warningForeground"}},
	{"done", []string{"testing.iconPassed", "gitDecoration.addedResourceForeground"}},
	{"fail", []string{"errorForeground", "editorError.foreground"}},
	{"term-bg", []string{"terminal.background"}},
	{"term-fg", []string{"terminal.foreground"}},
}

// codeScopes are scopes of “tokenColors”, the better one first.
var codeScopes = []struct {
	role   string
	scopes []string
}{
	{"code-key", []string{"keyword", "keyword.control", "storage.type", "storage"}},
	{"code-str", []string{"string", "string.quoted"}},
	{"code-num", []string{"constant.numeric", "constant"}},
	{"code-fn", []string{"entity.name.function", "support.function"}},
	{"code-com", []string{"comment"}},
}

func (s *source) code(top map[string]json.RawMessage) error {
	s.name, s.format = word(top["name"]), "VS Code"
	switch word(top["type"]) {
	case "dark", "hcDark":
		s.dark = new(true)
	case "light", "hcLight":
		s.dark = new(false)
	}
	var colors map[string]json.RawMessage
	if raw := top["colors"]; raw != nil && json.Unmarshal(raw, &colors) != nil {
		return unreadable("The “colors” of the theme are no object.", forms)
	}
	back, ok := hexColour(word(colors["editor.background"]), black)
	if !ok {
		return unreadable("The theme has no “editor.background” among its “colors”.",
			"Use the command “Generate Color Theme” of VS Code, which writes all of them.")
	}
	for _, r := range codeRoles {
		for _, m := range r.members {
			if c, ok := hexColour(word(colors[m]), back); ok {
				s.set(r.role, m, c)
			}
		}
	}
	for i, name := range schemeNames {
		name = strings.Replace(name, "purple", "magenta", 1)
		name = strings.ToUpper(name[:1]) + name[1:]
		for j, m := range []string{"terminal.ansi" + name, "terminal.ansiBright" + name} {
			if c, ok := hexColour(word(colors[m]), back); ok {
				s.set(ansi(i+8*j), m, c)
			}
		}
	}
	s.scopes(top["tokenColors"], back)
	return nil
}

// scopes reads the colours of code. A list that it cannot read leaves those of the page.
func (s *source) scopes(raw json.RawMessage, back rgb) {
	var rules []struct {
		Scope    json.RawMessage `json:"scope"`
		Settings json.RawMessage `json:"settings"`
	}
	if json.Unmarshal(raw, &rules) != nil {
		return
	}
	by := map[string]rgb{}
	for _, r := range rules {
		var settings struct {
			Foreground json.RawMessage `json:"foreground"`
		}
		if json.Unmarshal(r.Settings, &settings) != nil {
			continue
		}
		c, ok := hexColour(word(settings.Foreground), back)
		if !ok {
			continue
		}
		var list []string
		if json.Unmarshal(r.Scope, &list) != nil {
			list = strings.Split(word(r.Scope), ",")
		}
		for _, scope := range list {
			by[strings.TrimSpace(scope)] = c
		}
	}
	for _, r := range codeScopes {
		for _, scope := range r.scopes {
			if c, ok := by[scope]; ok {
				s.set(r.role, scope, c)
			}
		}
	}
}
