package themes

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

const codeTheme = `// a comment
{
  "name": "Night\u0000 Owl\u202e",
  "type": "dark",
  "colors": {
    "editor.background": "#011627", "editor.foreground": "#d6deeb", "sideBar.background": "#011627", "focusBorder": "#122d42",
    "textLink.foreground": "#82aaff", "descriptionForeground": "#5f7e97", "editor.selectionBackground": "#1d3b53",
    "terminal.ansiBlack": "#011627", "terminal.ansiRed": "#EF5350", "terminal.ansiGreen": "#22da6e", "terminal.ansiMagenta": "#C792EA",
    "terminal.ansiBrightBlack": "#575656", "terminalCursor.foreground": "#fff8", "evil\"; } body { background: url(https://evil)": "#fff",
    "errorForeground": "red; background: url(//evil)",
  },
  "tokenColors": [
    {"name": "Comment", "scope": "comment", "settings": {"fontStyle": "italic", "foreground": "#637777"}},
    {"scope": ["keyword.control", "keyword"], "settings": {"foreground": "#c792ea"}},
    {"scope": "string, string.quoted", "settings": {"foreground": "#ecc48d"}},
    {"scope": 7, "settings": {"foreground": "#010101"}}, {"settings": 1}, {"scope": "constant.numeric", "settings": {"foreground": "url(x)"}},
  ],
}
`

const terminalScheme = `{"name": "One Half Light", "background": "#FAFAFA", "foreground": "#383A42", "cursorColor": "#4F525D", "selectionBackground": "#BFCEFF",
 "black": "#383A42", "red": "#E45649", "green": "#50A14F", "yellow": "#C18301", "blue": "#0184BC", "purple": "#A626A4", "cyan": "#0997B3", "white": "#FAFAFA",
 "brightBlack": "#4F525D", "brightRed": "#DF6C75", "brightGreen": "#98C379", "brightYellow": "#E4C07A", "brightBlue": "#61AFEF", "brightPurple": "#C577DD", "brightCyan": "#56B5C1", "brightWhite": "#FFFFFF"}`

func itermColours(colours map[string][3]float64) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>`)
	for _, name := range slices.Sorted(maps.Keys(colours)) {
		c := colours[name]
		fmt.Fprintf(&b, "<key>%s</key><dict><key>Alpha Component</key><real>1</real><key>Blue Component</key><real>%g</real>"+
			"<key>Color Space</key><string>sRGB</string><key>Green Component</key><real>%g</real><key>Red Component</key><real>%g</real></dict>", name, c[2], c[1], c[0])
	}
	return b.String() + "</dict></plist>"
}

var solarized = itermColours(map[string][3]float64{
	"Background Color": {0, 0.169, 0.212}, "Foreground Color": {0.514, 0.58, 0.588}, "Cursor Color": {0.514, 0.58, 0.588}, "Selection Color": {0.027, 0.212, 0.259},
	"Ansi 0 Color": {0.027, 0.212, 0.259}, "Ansi 1 Color": {0.863, 0.196, 0.184}, "Ansi 8 Color": {0, 0.169, 0.212}, "Ansi 15 Color": {0.992, 0.965, 0.89},
	"Ansi 1 Color (Light)": {0, 0, 0}, "Badge Color": {1, 0, 0},
})

func TestReadingThemes(t *testing.T) {
	s := In(t.TempDir())
	tests := []struct {
		text, name, format string
		dark               bool
		want               map[string]string
	}{
		{codeTheme, "Night Owl", "VS Code", true, map[string]string{
			"bg-1": "#011627", "fg-1": "#d6deeb", "accent": "#82aaff", "ansi-1": "#ef5350", "ansi-5": "#c792ea", "code-key": "#c792ea", "code-str": "#ecc48d",
			"term-bg": "#011627", "term-cursor": "#88929a",
		}},
		{terminalScheme, "One Half Light", "Windows Terminal", false, map[string]string{"bg-1": "#fafafa", "fg-1": "#383a42", "term-select": "#bfceff", "ansi-5": "#a626a4"}},
		{solarized, "", "iTerm2", true, map[string]string{"bg-1": "#002b36", "ansi-0": "#073642", "ansi-15": "#fdf6e3"}},
	}
	for _, tt := range tests {
		r, err := s.Read("", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if r.Name != tt.name || r.Format != tt.format || r.Look.Dark != tt.dark || r.Kept != "" {
			t.Errorf("%q %q %v", r.Name, r.Format, r.Look.Dark)
		}
		for token, c := range tt.want {
			if r.Look.Colors[token] != c {
				t.Errorf("%s: %s is %s, want %s", tt.format, token, r.Look.Colors[token], c)
			}
		}
		holds(t, r.Look)
	}
}

// TestWhatCannotBeReadIsMovedAndTold: Solarized's text has 4.1, its red 3.6 and its bright
// black nothing, and all else stays.
func TestWhatCannotBeReadIsMovedAndTold(t *testing.T) {
	r, err := In(t.TempDir()).Read("x", []byte(solarized))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]core.ThemeChange{}
	for _, c := range r.Changes {
		told[c.What] = c
		if c.From == c.To || c.Had >= c.Needs {
			t.Errorf("%+v", c)
		}
	}
	if _, ok := told["Ansi 8 Color"]; !ok || told["Ansi 1 Color"].To != r.Look.Colors["ansi-1"] || told["Ansi 0 Color"].What != "" || told["Ansi 15 Color"].What != "" {
		t.Errorf("%+v", told)
	}
	from, _ := hexColour(told["Ansi 1 Color"].From, black)
	to, _ := hexColour(told["Ansi 1 Color"].To, black)
	if d := distance(from.lab(), to.lab()); d > 0.25 {
		t.Errorf("the red moved by %v", d)
	}
}

var (
	texts    = []string{"fg-1", "fg-2", "fg-3", "accent", "accent-2", "work", "need", "done", "fail", "code-key", "code-str", "code-num", "code-fn", "code-com"}
	isColour = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

// holds says what of a look cannot be read.
func holds(t *testing.T, l core.ThemeLook) {
	t.Helper()
	at := func(token string) rgb {
		c, ok := hexColour(l.Colors[token], black)
		if !ok || !isColour.MatchString(l.Colors[token]) {
			t.Fatalf("%s is %q", token, l.Colors[token])
		}
		return c
	}
	need := func(least float64, text string, grounds ...string) {
		for _, g := range grounds {
			if x := contrast(at(text), at(g)); x < least {
				t.Fatalf("%s (%v) has %.2f on %s (%v)", text, at(text), x, g, at(g))
			}
		}
	}
	for _, x := range texts {
		need(textNeeds, x, "bg-0", "bg-1", "bg-2", "bg-3")
	}
	for _, x := range []string{"accent", "need", "done", "fail"} {
		need(textNeeds, x, x+"-bg")
		need(textNeeds, "fg-1", x+"-bg")
		need(textNeeds, "fg-2", x+"-bg")
	}
	need(textNeeds, "on-accent", "accent", "accent-2")
	for _, x := range []string{"fg-1", "code-key", "code-str", "code-num", "code-fn", "code-com"} {
		need(textNeeds, x, "add", "del", "add-word", "del-word")
	}
	need(textNeeds, "add-2", "add")
	need(textNeeds, "del-2", "del")
	need(textNeeds, "term-fg", "term-bg", "term-select", "term-found", "term-found-here")
	need(markNeeds, "term-cursor", "term-bg")
	for i := 1; i < 16; i++ {
		need(textNeeds, ansi(i), "term-bg", "bg-1")
	}
	if !l.Dark {
		need(textNeeds, "ansi-0", "term-bg")
	}
}

func TestEveryThemeCanBeRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	colour := func() rgb { return rgb{rnd.Float64(), rnd.Float64(), rnd.Float64()}.rounded() }
	roles := []string{foreground, cursor, selection, "bg-0", "bg-2", "bg-3", "fg-2", "line", "accent", "need", "done", "fail", "term-bg", "term-fg", "code-key", "code-com"}
	for i := range 16 {
		roles = append(roles, ansi(i))
	}
	for range 100 {
		s := &source{colours: map[string]rgb{background: colour(), foreground: colour()}, called: map[string]string{}}
		for _, r := range roles {
			if rnd.IntN(2) == 0 {
				s.colours[r] = colour()
			}
		}
		l, _ := lookOf(s)
		holds(t, l)
	}
	for _, grey := range []float64{0, 0.3, 0.45, 0.5, 0.55, 0.7, 1} {
		c := rgb{grey, grey, grey}.rounded()
		for _, dark := range []*bool{nil, new(true), new(false)} {
			l, _ := lookOf(&source{colours: map[string]rgb{background: c, foreground: c}, called: map[string]string{}, dark: dark})
			holds(t, l)
		}
	}
}

func TestWhatIsNoTheme(t *testing.T) {
	tests := map[string]string{
		"":  "is empty",
		"x": "no theme", "[]": "no theme", "{}": "no theme", "{": "no whole JSON", "<html></html>": "no theme", "<plist>": "no whole property list",
		"<plist></plist>": "no colours", "\xff\xfe{}": "UTF-8", strings.Repeat(" ", MaxText+1): "larger than",
		strings.Repeat("[", maxBrackets+1): "no theme", "{" + strings.Repeat("[", maxBrackets+1): "brackets",
		`{"include": "./dark_vs.json"}`: "builds on another file", `{"schemes": [{}]}`: "all schemes",
		`{"colors": {"editor.foreground": "#fff"}}`: "editor.background", `{"colors": []}`: "no object",
		`{"background": "url(x)", "foreground": "#fff"}`: "no colour", `{"background": "#000", "foreground": "#ggg"}`: "no colour for its foreground",
		"<plist>" + strings.Repeat("<dict>", maxDepth+1): "no whole property list", "<plist>" + strings.Repeat("<a></a>", maxElements): "no whole property list",
		`<!DOCTYPE plist [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><plist><dict><key>&b;</key></dict></plist>`: "no whole property list",
		"<plist><key>" + strings.Repeat("k", maxWord+1) + "</key></plist>":                                    "no whole property list",
		`<?xml version="1.0" encoding="UTF-16"?><plist></plist>`:                                              "no whole property list",
		itermColours(map[string][3]float64{"Ansi 1 Color": {1, 0, 0}}):                                        "no colour for its background",
	}
	for text, want := range tests {
		_, err := In(t.TempDir()).Read("x", []byte(text))
		if f := core.AsFailure(err); err == nil || f.Code != core.CodeInvalid || !strings.Contains(f.Cause, want) || f.Remedy == "" {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func free(string) bool { return false }

func TestKeepingThemes(t *testing.T) {
	home := t.TempDir()
	s := In(home)
	if list := s.List(); list == nil || len(list) != 0 {
		t.Fatalf("%v", list)
	}
	if _, err := s.Keep("", []byte(solarized), free); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("%v", err)
	}
	if _, err := s.Keep("dark", []byte(solarized), func(n string) bool { return n == "dark" }); err == nil || !strings.Contains(err.Error(), "Loop's own") {
		t.Errorf("%v", err)
	}
	if _, err := s.Keep("../../x", []byte(solarized), free); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Keep("Mine", []byte(solarized), free); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Read("mine", []byte(terminalScheme)); err != nil || r.Kept != "other" {
		t.Errorf("%q %v", r.Kept, err)
	}
	both, err := s.Keep("Mine", []byte(terminalScheme), free)
	if err != nil || len(both.Looks) != 2 || !both.Looks[0].Dark || both.Looks[1].Dark {
		t.Fatalf("%+v %v", both, err)
	}
	if r, err := s.Read("Mine", []byte(terminalScheme)); err != nil || r.Kept != "same" {
		t.Errorf("%q %v", r.Kept, err)
	}
	list := In(home).List()
	if len(list) != 2 || list[0].Name != "../../x" || list[1].Name != "Mine" {
		t.Fatalf("%+v", list)
	}
	if all, _ := filepath.Glob(filepath.Join(home, "*")); len(all) != 1 {
		t.Errorf("files outside of the folder: %v", all)
	}
	if info, err := os.Stat(s.file("Mine")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := s.Remove("Mine"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get("Mine"); ok || s.Remove("Mine") != nil {
		t.Error("still there")
	}
	for i := range maxThemes - 1 {
		if _, err := s.Keep(fmt.Sprint("t", i), []byte(solarized), free); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Keep("one more", []byte(solarized), free); core.AsFailure(err).Code != core.CodeTooMany {
		t.Errorf("%v", err)
	}
	if _, err := s.Keep("T1", []byte(solarized), free); err != nil {
		t.Errorf("one that is there already: %v", err)
	}
}

// TestOnlyColoursGetThrough: whatever somebody puts into the folder.
func TestOnlyColoursGetThrough(t *testing.T) {
	s := In(t.TempDir())
	made, err := s.Keep("Mine", []byte(solarized), free)
	if err != nil {
		t.Fatal(err)
	}
	put := func(change func(*core.Theme)) {
		bad := core.Theme{Name: "Mine", Looks: []core.ThemeLook{{Dark: true, Colors: maps.Clone(made.Looks[0].Colors)}}}
		change(&bad)
		data, err := json.Marshal(bad)
		if err == nil {
			err = os.WriteFile(s.file("Mine"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(func(*core.Theme) {})
	if _, ok := s.Get("Mine"); !ok {
		t.Fatal("a good one is refused")
	}
	for name, change := range map[string]func(*core.Theme){
		"a value":        func(b *core.Theme) { b.Looks[0].Colors["bg-0"] = "red;}" },
		"another token":  func(b *core.Theme) { b.Looks[0].Colors["x}*{"] = "#000000" },
		"in its place":   func(b *core.Theme) { delete(b.Looks[0].Colors, "bg-0"); b.Looks[0].Colors["sans"] = "#000000" },
		"one too few":    func(b *core.Theme) { delete(b.Looks[0].Colors, "bg-0") },
		"another name":   func(b *core.Theme) { b.Name = "Other" },
		"a name":         func(b *core.Theme) { b.Name = "Mi\u202ene" },
		"no look":        func(b *core.Theme) { b.Looks = nil },
		"the same twice": func(b *core.Theme) { b.Looks = append(b.Looks, b.Looks[0]) },
		"short colour":   func(b *core.Theme) { b.Looks[0].Colors["bg-0"] = "#000" },
	} {
		put(change)
		if got, ok := s.Get("Mine"); ok {
			t.Errorf("%s: %+v", name, got)
		}
		if list := s.List(); len(list) != 0 {
			t.Errorf("%s: listed", name)
		}
	}
	if err := os.WriteFile(s.file("Mine"), []byte(strings.Repeat("x", maxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get("Mine"); ok {
		t.Error("a large file is read")
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		" One  Dark\tPro\n": "One Dark Pro", "a\u202eb\x00": "ab", "\xff": "", `say "x"\`: "say x", strings.Repeat("ä", 100): strings.Repeat("ä", maxName),
	} {
		if got := Name(in); got != want || Name(got) != got {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestTokensAreThePages: a theme sets all colours of the page, and has the page's own 16.
func TestTokensAreThePages(t *testing.T) {
	css, err := os.ReadFile("../../frontend/src/styles/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	for dark, head := range map[bool]string{true: `[data-theme="dark"] {`, false: `[data-theme="light"] {`} {
		_, rest, ok := strings.Cut(string(css), "\n"+head)
		if !ok {
			t.Fatal(head)
		}
		block, _, _ := strings.Cut(rest, "\n}")
		has := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^  --([a-z0-9-]+): (#[0-9a-fA-F]{3,8});`).FindAllStringSubmatch(block, -1) {
			has[m[1]] = m[2]
		}
		if names := slices.Sorted(maps.Keys(has)); !slices.Equal(names, Tokens()) {
			t.Errorf("the page has %v, themes set %v", names, Tokens())
		}
		for i, c := range usual[dark] {
			if has[ansi(i)] != c {
				t.Errorf("%s is %s", ansi(i), has[ansi(i)])
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{codeTheme, terminalScheme, solarized, `{"colors":{"editor.background":"#7f7f7f"}}`, "<plist><dict>", "{//"} {
		f.Add([]byte(seed))
	}
	s := In(f.TempDir())
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := s.Read("", text)
		if err != nil {
			if core.AsFailure(err).Code != core.CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		if len(r.Look.Colors) != len(Tokens()) || Name(r.Name) != r.Name {
			t.Fatalf("%+v", r)
		}
		holds(t, r.Look)
	})
}
