package config

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// baseArg is the argument by which a build gets the name of the image that it begins with.
const baseArg = "BASE_IMAGE"

var (
	// directive changes how the rest of a Dockerfile is read, or who reads it.
	directive = regexp.MustCompile(`(?i)^#\s*(syntax|escape|check)\s*=`)
	heredoc   = regexp.MustCompile(`<<-?["']?[A-Za-z_]`)
	fromBase  = regexp.MustCompile(`^\$(BASE_IMAGE|\{BASE_IMAGE\})$`)
)

// imageBase is the image that the last stage of a project's Dockerfile descends from: the
// configured one or Loop's own, by name or as ${BASE_IMAGE}. Earlier stages may begin with any
// image. Any other Dockerfile is an error that says, in a sentence, what is refused; so is one
// whose stages could be read in two ways.
func imageBase(text []byte, configured, own string) (string, error) {
	lines, err := instructions(text)
	if err != nil {
		return "", err
	}
	stages, last, said := map[string]string{}, "", ""
	argued, any := false, false
	for _, line := range lines {
		words := strings.Fields(line)
		switch name := strings.ToUpper(words[0]); {
		case name == "ARG" && !any:
			arg, _, _ := strings.Cut(strings.Join(words[1:], " "), "=")
			argued = argued || arg == baseArg
		case name == "FROM":
			any = true
			for len(words) > 1 && strings.HasPrefix(words[1], "--") {
				words = words[1:]
			}
			if len(words) != 2 && (len(words) != 4 || !strings.EqualFold(words[2], "AS")) {
				return "", refused("“%s” is not a line of the form FROM image [AS name].", cut(line))
			}
			last, said = "", words[1]
			switch base, stage := stages[strings.ToLower(said)]; {
			case stage:
				last = base
			case fromBase.MatchString(said) && !argued:
				return "", refused("“%s” needs a line “ARG %s” before the first FROM.", cut(line), baseArg)
			case fromBase.MatchString(said), sameImage(said, configured):
				last = configured
			case sameImage(said, own):
				last = own
			}
			if len(words) == 4 {
				stages[strings.ToLower(words[3])] = last
			}
		case !any:
			return "", refused("“%s” comes before the first FROM, where only ARG may be.", cut(words[0]))
		}
	}
	switch {
	case !any:
		return "", refused("The Dockerfile has no FROM.")
	case last == "":
		return "", refused("Its last stage begins with “%s”. It has to begin with ${%s}, %s or %s.", cut(said), baseArg, configured, own)
	}
	return last, nil
}

// sameImage compares names of images; one without a tag is the latest.
func sameImage(a, b string) bool { return a != "" && (a == b || a+":latest" == b || a == b+":latest") }

func refused(format string, args ...any) error { return imageError(fmt.Sprintf(format, args...)) }

func cut(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// plainDockerfile reports whether a Dockerfile begins with ARG or FROM, and no line before them
// chooses who reads the rest. BuildKit finds such a line behind a byte order mark, “//” and “{”, too.
func plainDockerfile(text []byte) bool {
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line = strings.TrimSpace(line)
		switch {
		case directive.MatchString(line):
			return false
		case line != "" && line[0] != '#':
			first := strings.ToUpper(strings.Fields(line)[0])
			return first == "ARG" || first == "FROM"
		}
	}
	return false
}

// instructions are the lines of a Dockerfile as its builder joins them, without comments.
func instructions(text []byte) (out []string, err error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, refused("The Dockerfile is not text.")
	}
	joined, open := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		switch bare := strings.TrimSpace(line); {
		case directive.MatchString(bare):
			return nil, refused("“%s” would have the Dockerfile read in another way, which is refused.", cut(bare))
		case bare == "" || bare[0] == '#':
			continue
		case !open:
			line = bare
		}
		if open = strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`); open {
			joined += strings.TrimSuffix(line, `\`)
			continue
		}
		out, joined = append(out, joined+line), ""
	}
	out = append(out, joined) // of a last line that goes on nowhere
	out = slices.DeleteFunc(out, func(line string) bool { return strings.TrimSpace(line) == "" })
	for _, line := range out {
		if heredoc.MatchString(line) {
			return nil, refused("“%s” has a here-document, which not every engine can build.", cut(line))
		}
	}
	return out, nil
}
