package dialog

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestMisleadingCharactersAreNamed(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"/home/ana/.gitconfig", "/home/ana/.gitconfig"},
		{"%s%n <b>bold</b> & &amp; $(x)", "%s%n <b>bold</b> & &amp; $(x)"},
		{"a\nb\tc\rd\x00", "a‹U+000A›b‹U+0009›c‹U+000D›d‹U+0000›"},
		{"\x1b[31mred", "‹U+001B›[31mred"},
		{"txt.\u202egpj", "txt.‹U+202E›gpj"},
		{"a\u2066b\u2069\u200e\u200f", "a‹U+2066›b‹U+2069›‹U+200E›‹U+200F›"},
		{"a\u200bb\u200dc\ufeffd\u00ade", "a‹U+200B›b‹U+200D›c‹U+FEFF›d‹U+00AD›e"},
		{"a\u00a0b\u3000c\u2028d\u3164e\u2800f", "a‹U+00A0›b‹U+3000›c‹U+2028›d‹U+3164›e‹U+2800›f"},
		{"\U000e0041\ufe0f\u034f", "‹U+E0041›‹U+FE0F›‹U+034F›"},
		{"a\xffb\xc3", "a‹0xFF›b‹0xC3›"},
		{"a   b", "a   b"},
		{"ls" + strings.Repeat(" ", 40) + "; rm", "ls‹40 spaces›; rm"},
		{"‹U+202E›", "‹U+2039›U+202E›"},
		{"e\u0301\u0302\u0303\u0304", "e\u0301\u0302\u0303‹U+0304›"},
		{"größe 日本語 🙂", "größe 日本語 🙂"},
		{"/a/אב/גד/b", "\u200e/a/אב\u200e/גד\u200e/b"},
		{"", ""},
	} {
		if got, whole := named(c.in, 1000); got != c.want || !whole {
			t.Errorf("named(%q) = %q, %v, want %q", c.in, got, whole, c.want)
		}
	}
}

func TestNamedReadsNoMoreThanItsLimit(t *testing.T) {
	got, whole := named("aä"+strings.Repeat("x", 1<<20), 2) // in the middle of ä
	if got != "a" || whole {
		t.Errorf("named = %q, %v", got, whole)
	}
	if got, whole := named("\x80\x80\x80", 2); got != "" || whole {
		t.Errorf("bytes that begin no character: %q, %v", got, whole)
	}
}

func FuzzNamed(f *testing.F) {
	f.Add("/a/b", 10)
	f.Add("\u202e\x00\xff     אב/c\u0301\u0301\u0301\u0301", 100)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(0, min(limit, 1<<12))
		out, _ := named(text, limit)
		if !utf8.ValidString(out) || len(out) > 16*limit+64 {
			t.Fatalf("%q", out)
		}
		for _, r := range out {
			if r != leftToRight && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
				t.Fatalf("%q has %U", out, r)
			}
		}
		short, _ := elided(out, 20, 20)
		if n := utf8.RuneCountInString(short); n > 45 {
			t.Fatalf("%d runes", n)
		}
	})
}
