package policy

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// maxGitConfig bounds a git configuration that can pass without a person (32 KiB).
const maxGitConfig = 32 << 10

// gitEntry is one assignment. section and key are in lower case, as git takes them in
// any; sub is as it stands there.
type gitEntry struct {
	section, sub, key, value string
}

// parseGitConfig reads a configuration that is written the way git writes it. What git
// would take as well but does not write itself is an error: what is odd is for a
// person to look at.
func parseGitConfig(text []byte) ([]gitEntry, error) {
	if err := plainText(text); err != nil {
		return nil, err
	}
	var all []gitEntry
	section, sub := "", ""
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.Trim(line, " \t")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			var err error
			if section, sub, err = gitSection(line); err != nil {
				return nil, err
			}
		case section == "":
			return nil, errors.New("an assignment stands before the first section")
		default:
			e, err := gitAssignment(line)
			if err != nil {
				return nil, err
			}
			e.section, e.sub = section, sub
			all = append(all, e)
		}
	}
	return all, nil
}

// plainText refuses what a person could not read in a diff.
func plainText(text []byte) error {
	switch {
	case len(text) > maxGitConfig:
		return errors.New("the text is large")
	case !utf8.Valid(text):
		return errors.New("the text is not UTF-8")
	}
	for _, c := range string(text) {
		if c != '\n' && c != '\t' && hidden(c) {
			return errors.New("the text has a character that cannot be seen")
		}
	}
	return nil
}

// gitSection reads “[name]” or “[name "sub"]”, with nothing after it.
func gitSection(line string) (section, sub string, err error) {
	odd := errors.New("a section's line is odd")
	inner, ok := strings.CutSuffix(line[1:], "]")
	if !ok {
		return "", "", odd
	}
	name, quoted, has := strings.Cut(inner, " ")
	if !gitName(name) {
		return "", "", odd // also the old [name.sub]
	}
	if !has {
		return lowerASCII(name), "", nil
	}
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", "", odd
	}
	quoted = quoted[1 : len(quoted)-1]
	// A backslash or quotation mark within is possible in git, and odd.
	if strings.ContainsAny(quoted, `"\`) {
		return "", "", odd
	}
	return lowerASCII(name), quoted, nil
}

func gitName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || '9' < c)) {
			return false
		}
	}
	return name != ""
}

// gitAssignment reads “key = value”.
func gitAssignment(line string) (gitEntry, error) {
	key, value, has := strings.Cut(line, "=")
	key = strings.TrimRight(key, " \t")
	if !gitName(key) {
		return gitEntry{}, errors.New("a key is odd")
	}
	e := gitEntry{key: lowerASCII(key), value: "true"}
	if !has {
		return e, nil
	}
	value = strings.Trim(value, " \t")
	switch {
	case strings.ContainsAny(value, "\\\t"):
		return e, errors.New("a value has an escape or a tab, or goes on in the next line")
	case len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"':
		value = value[1 : len(value)-1]
	case strings.ContainsAny(value, "#;"):
		return e, errors.New("a value has a comment after it")
	}
	if strings.Contains(value, `"`) {
		return e, errors.New("a value is quoted in part")
	}
	e.value = value
	return e, nil
}
