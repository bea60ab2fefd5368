package dialog

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostSpaces = 3 // spaces in a row that are shown as such; more could push the rest out of sight
	mostMarks  = 3 // marks on one letter; a tower of them covers the lines around it
)

// leftToRight is a mark that keeps what follows in its place. Only named writes it.
const leftToRight = '\u200e'

// named is text in one line in which every character is seen, and in the order it has.
// Characters that have no picture, or that change how others are shown, are named:
// ‹U+202E›, ‹0xFF› for a byte that is no text, ‹40 spaces›. An opening bracket of the text
// itself is named too, so that no text can write such a name. It reads no more than limit bytes and reports
// whether that was all.
func named(text string, limit int) (out string, whole bool) {
	whole = len(text) <= limit
	if !whole {
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	var b strings.Builder
	marks, backwards := 0, false
	if strings.ContainsFunc(text, rightToLeft) {
		b.WriteRune(leftToRight)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if n := leading(text[i:], ' '); n > mostSpaces {
			writeName(&b, &backwards, fmt.Sprintf("%d spaces", n))
			i += n
			continue
		}
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			writeName(&b, &backwards, fmt.Sprintf("0x%02X", text[i]))
		case unseen(r) || marks > mostMarks:
			writeName(&b, &backwards, fmt.Sprintf("U+%04X", r))
		default:
			if marks == 0 {
				setDirection(&b, &backwards, rightToLeft(r))
			}
			b.WriteRune(r)
		}
		i += size
	}
	return b.String(), whole
}

func writeName(b *strings.Builder, backwards *bool, name string) {
	setDirection(b, backwards, false)
	b.WriteString("‹" + name + "›")
}

// setDirection ends a word that is written from right to left: without the mark, the
// slash or dot behind it would join the word, and the parts of a path change places.
func setDirection(b *strings.Builder, backwards *bool, now bool) {
	if *backwards && !now {
		b.WriteRune(leftToRight)
	}
	*backwards = now
}

// unseen reports characters that have no picture of their own, or lead the eye elsewhere.
func unseen(r rune) bool {
	switch {
	case r == ' ':
		return false
	case r == '‹', r == 0x2800, r == 0xfffc: // ours; a blank of Braille; a place for an object
		return true
	}
	return !unicode.IsPrint(r) || // control, format (bidi, joiners, tags), other spaces, private, unassigned
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// rightToLeft reports the blocks that Unicode reserves for such scripts
// (DerivedBidiClass.txt, the default values R and AL).
func rightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefe ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

func leading(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// elided is text of at most head + tail runes and the mark between them, and whether
// something was left out. The end is always there: it is what a path is about.
func elided(text string, head, tail int) (string, bool) {
	runes := []rune(text)
	if len(runes) <= head+tail {
		return text, false
	}
	return string(runes[:head]) + " ‹…› " + string(runes[len(runes)-tail:]), true
}
