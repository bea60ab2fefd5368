package core

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxFileName bounds the name of a file in bytes. Systems take 255; what is left is for
	// a number where there is such a name already.
	maxFileName = 200
	maxFileExt  = 20 // of them, what a name that is shortened keeps after its last dot
)

// deviceName is what Windows takes for a device, whatever its ending.
var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// upward is what is left of a way upward where somebody has replaced the slashes, as
// browsers do.
var upward = regexp.MustCompile(`^[_.]*\.\.[_.]*`)

// PlainFileName makes a file's name out of one that a stranger chose: the last part of a
// path, of characters that can be seen, which neither hides the file nor means anything
// else to another system.
func PlainFileName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError: // control, direction, invisible, unassigned
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	s = strings.Trim(strings.TrimLeft(upward.ReplaceAllString(s, ""), ". -"), ". ")
	if len(s) > maxFileName {
		ext := path.Ext(s)
		if len(ext) > maxFileExt {
			ext = ""
		}
		n := maxFileName - len(ext)
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = strings.TrimRight(s[:n], ". ") + ext
	}
	switch {
	case s == "":
		return "download"
	case deviceName.MatchString(s):
		return "_" + s
	}
	return s
}
