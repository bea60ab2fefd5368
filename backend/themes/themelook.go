package themes

import (
	"slices"

	"loop/backend/core"
)

// What text and marks need, by WCAG 2 AA.
const (
	textNeeds = 4.5
	markNeeds = 3
	// A background leaves this much for the clearest text, so that quieter text can be told from it.
	roomNeeds = 8
)

// usual are the 16 colours of Loop's own looks, for themes without colours of terminals.
var usual = map[bool][16]string{
	true: {"#2b323b", "#f2858b", "#5fc58a", "#f2b84b", "#7aa7ff", "#c79bff", "#5cc8d6", "#c9d1da",
		"#8b96a4", "#ffa6aa", "#86e3ad", "#ffd27a", "#a9c6ff", "#dcbfff", "#8fe3ee", "#ffffff"},
	false: {"#171b21", "#b3262b", "#14693a", "#855400", "#2458d3", "#7a2fb8", "#0b6a78", "#5b6673",
		"#46515e", "#c2313a", "#1a7a45", "#8a5c00", "#2f66e0", "#8a3fc8", "#0e7584", "#2a313a"},
}

// look makes all tokens of the page out of what a theme has, and moves what cannot be read.
type look struct {
	s       *source
	dark    bool
	out     map[string]rgb
	changes []core.ThemeChange
}

// lookOf makes a look. Every colour of a text has enough contrast with what it stands on.
func lookOf(s *source) (core.ThemeLook, []core.ThemeChange) {
	back := s.colours[background]
	dark := contrast(white, back) > contrast(black, back)
	if s.dark != nil && contrast(white, back) > markNeeds && contrast(black, back) > markNeeds {
		dark = *s.dark // between the two the theme's own word counts
	}
	l := &look{s: s, dark: dark, out: map[string]rgb{}}
	l.grounds()
	l.texts()
	l.surfaces()
	l.terminal()
	colors := make(map[string]string, len(l.out))
	for token, c := range l.out {
		colors[token] = c.String()
	}
	return core.ThemeLook{Dark: l.dark, Colors: colors}, l.changes
}

func (l *look) far() rgb {
	if l.dark {
		return white
	}
	return black
}

// given is the theme's own colour of a role, or another one.
func (l *look) given(role string, other rgb) rgb {
	if c, ok := l.s.colours[role]; ok {
		return c
	}
	return other
}

// put sets a token to the colour nearest to c that holds. role is the theme's, for the
// report; "" says that the colour is not the theme's own.
func (l *look) put(token, role string, c rgb, needs float64, on ...rgb) {
	to, ok := holding(c, needs, on...)
	if !ok {
		to = l.far()
	}
	l.out[token] = to
	l.told(role, c, to, needs, on...)
}

func (l *look) told(role string, from, to rgb, needs float64, on ...rgb) {
	called, ok := l.s.called[role]
	if !ok || from == to {
		return
	}
	had := 21.0
	for _, o := range on {
		had = min(had, contrast(from, o))
	}
	change := core.ThemeChange{What: called, From: from.String(), To: to.String(), Had: had, Needs: needs}
	// A colour may be that of a mark and of terminals: the terminals' is told, which come last.
	if i := slices.IndexFunc(l.changes, func(c core.ThemeChange) bool { return c.What == called }); i >= 0 {
		l.changes[i] = change
		return
	}
	l.changes = append(l.changes, change)
}

// ground is a background with room for text.
func (l *look) ground(token, role string, c rgb) {
	to, ok := holding(c, roomNeeds, l.far())
	if !ok {
		to = mix(white, black, map[bool]float64{true: 1, false: 0}[l.dark])
	}
	l.out[token] = to
	l.told(role, c, to, roomNeeds, l.far())
}

// maxStep is how far the other backgrounds of a theme may be from the one of its editor:
// text stands on all of them.
const maxStep = 1.7

func (l *look) grounds() {
	l.ground("bg-1", background, l.s.colours[background])
	bg, fg := l.out["bg-1"], l.given(foreground, l.far())
	side := map[bool]float64{true: 0.28, false: 0.06}[l.dark]
	rest := map[string]rgb{"bg-0": mix(bg, black, side), "bg-2": mix(bg, fg, 0.045), "bg-3": mix(bg, fg, 0.1)}
	for _, token := range []string{"bg-0", "bg-2", "bg-3"} {
		c := l.given(token, rest[token])
		if contrast(c, bg) > maxStep {
			c = rest[token]
		}
		l.ground(token, "", c)
	}
	l.out["line"] = l.given("line", mix(bg, fg, 0.13))
	l.out["line-2"] = l.given("line-2", mix(bg, fg, 0.24))
	l.out["thumb"] = mix(bg, fg, 0.24)
}

func (l *look) bases() []rgb {
	return []rgb{l.out["bg-0"], l.out["bg-1"], l.out["bg-2"], l.out["bg-3"]}
}

// hue is the theme's colour of its 16, or the usual one.
func (l *look) hue(i int) (rgb, string) {
	c, _ := hexColour(usual[l.dark][i], black)
	if own, ok := l.s.colours[ansi(i)]; ok {
		return own, ansi(i)
	}
	return c, ""
}

func (l *look) texts() {
	on, bg := l.bases(), l.out["bg-1"]
	l.put("fg-1", foreground, l.given(foreground, l.far()), textNeeds, on...)
	fg := l.out["fg-1"]
	l.put("fg-2", "fg-2", l.given("fg-2", mix(fg, bg, 0.26)), textNeeds, on...)
	l.put("fg-3", "", mix(fg, bg, 0.4), textNeeds, on...)
	for _, t := range []struct {
		token string
		ansi  int
	}{{"accent", 4}, {"need", 3}, {"done", 2}, {"fail", 1}, {"code-key", 5}, {"code-str", 2}, {"code-num", 3}, {"code-fn", 4}} {
		c, role := l.hue(t.ansi)
		if own, ok := l.s.colours[t.token]; ok {
			c, role = own, t.token
		}
		l.put(t.token, role, c, textNeeds, on...)
	}
	l.put("code-com", "code-com", l.given("code-com", l.out["fg-3"]), textNeeds, on...)
	l.put("accent-2", "", mix(l.out["accent"], fg, 0.25), textNeeds, on...)
	l.out["work"] = l.out["accent"]
	l.put("on-accent", "", bg, textNeeds, l.out["accent"], l.out["accent-2"])
}

// surface is a tinted background. The tint fades until all that stands on it can be read.
func (l *look) surface(token string, base, tint rgb, share float64, texts ...string) {
	for ; share > 0; share -= 0.01 {
		c, clear := mix(base, tint, share), true
		for _, t := range texts {
			clear = clear && contrast(c, l.out[t]) >= textNeeds
		}
		if clear {
			l.out[token] = c
			return
		}
	}
	l.out[token] = base
}

func (l *look) surfaces() {
	bg := l.out["bg-1"]
	plain := []string{"fg-1", "fg-2", "fg-3"}
	with := func(more ...string) []string { return append(more, plain...) }
	l.surface("accent-bg", bg, l.out["accent"], 0.16, with("accent")...)
	l.surface("need-bg", bg, l.out["need"], 0.13, with("need")...)
	l.surface("done-bg", bg, l.out["done"], 0.13, with("done")...)
	l.surface("fail-bg", bg, l.out["fail"], 0.13, with("fail")...)
	code := []string{"fg-1", "fg-2", "code-key", "code-str", "code-num", "code-fn", "code-com"}
	l.out["add-2"], l.out["del-2"] = l.out["done"], l.out["fail"]
	l.surface("add", bg, l.out["done"], 0.13, append(code, "add-2")...)
	l.surface("del", bg, l.out["fail"], 0.13, append(code, "del-2")...)
	l.surface("add-word", bg, l.out["done"], 0.3, code...)
	l.surface("del-word", bg, l.out["fail"], 0.3, code...)
}

func (l *look) terminal() {
	l.out["term-bg"] = l.out["bg-1"]
	if c, ok := l.s.colours["term-bg"]; ok && contrast(c, l.out["bg-1"]) <= maxStep {
		l.ground("term-bg", "term-bg", c)
	}
	bg := l.out["term-bg"]
	l.put("term-fg", "term-fg", l.given("term-fg", l.out["fg-1"]), textNeeds, bg)
	l.put("term-cursor", cursor, l.given(cursor, l.out["term-fg"]), markNeeds, bg)
	for i := range 16 {
		c, role := l.hue(i)
		// Programs draw on the first one of a dark look, and write with it in a light one.
		if i == 0 && l.dark {
			l.out[ansi(i)] = c
			continue
		}
		l.put(ansi(i), role, c, textNeeds, bg, l.out["bg-1"], l.out["bg-2"])
	}
	chosen := l.given(selection, mix(bg, l.out["accent"], 0.35))
	l.surface("term-select", bg, chosen, 1, "term-fg")
	l.told(selection, chosen, l.out["term-select"], textNeeds, l.out["term-fg"])
	l.out["term-select-off"] = mix(bg, l.out["term-select"], 0.5)
	l.out["term-thumb"], l.out["term-thumb-2"] = mix(bg, l.out["term-fg"], 0.2), mix(bg, l.out["term-fg"], 0.35)
	l.surface("term-found", bg, l.out["need"], 0.3, "term-fg")
	l.surface("term-found-here", bg, l.out["need"], 0.5, "term-fg")
}
