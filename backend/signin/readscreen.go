package signin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
)

// Screen is what the program shows, as far as it matters.
type Screen struct {
	URL   string      // where the person signs in
	Asks  bool        // for the code that the page shows after that
	Error string      // a sentence of the program's; empty while all is well
	Token core.Secret // at the end
}

// The size of the terminal is large enough that neither address nor token is ever broken
// into lines.
const cols, rows = 1500, 60

const (
	maxURL   = 4000
	maxError = 300 // runes
)

var (
	sequence = regexp.MustCompile("\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[P_^X][^\x1b]*\x1b\\\\|\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]")
	forward  = regexp.MustCompile("\x1b\\[[0-9]*C|\x1b\\[[0-9;]*[GHf]")
	address  = regexp.MustCompile(`https://[^\s│|]+`)
	token    = regexp.MustCompile(`sk-ant-oat[0-9A-Za-z_-]{16,1000}`)
	failed   = regexp.MustCompile(`(?m)^[^\n]{0,8}?(?:OAuth error|Error|Invalid code|Login failed)\b[^\n]*`)
)

// tokenStart is how every token begins.
const tokenStart = "sk-ant-oat"

// maxRun bounds what is kept of an end that may be half a token.
const maxRun = 2000

// run is the run of a token's characters in which what was written ends; before is the one
// that it went on from. A run that begins like a token may be half of one.
func run(before string, written []byte) string {
	text := before + plain(written)
	i := strings.LastIndexFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '_' || r == '-')
	})
	if i >= 0 {
		_, size := utf8.DecodeRuneInString(text[i:])
		text = text[i+size:]
	}
	return text[max(0, len(text)-maxRun):]
}

// plain is the text of a terminal's state, without its sequences.
func plain(state []byte) string {
	text := forward.ReplaceAllString(string(state), " ")
	return strings.ReplaceAll(sequence.ReplaceAllString(text, ""), "\r", "")
}

// read finds what matters in the text of a screen.
func read(text string) (s Screen) {
	for _, u := range address.FindAllString(text, -1) {
		if strings.Contains(u, "/oauth/") && len(u) <= maxURL {
			s.URL = u
			break
		}
	}
	s.Asks = strings.Contains(text, "Paste code here")
	if m := token.FindString(text); m != "" {
		s.Token = core.Secret(m)
		return s
	}
	if m := failed.FindString(text); m != "" {
		s.Error = sentence(m)
	}
	return s
}

// sentence is a line of the program without the mark before it, and bounded.
func sentence(line string) string {
	line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	line = strings.TrimSpace(strings.TrimPrefix(line, "OAuth error:"))
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, line)
	return core.Shortened(strings.Join(strings.Fields(line), " "), maxError)
}

// without is a text in which no token stands.
func without(text string) string { return token.ReplaceAllString(text, "(token)") }
