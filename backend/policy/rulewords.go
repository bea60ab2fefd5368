package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Shown is a pattern of the baseline as a person reads it: “~” stands for any home and
// project for a folder of the project. It is empty for one that another stands for, which
// says the same of a home elsewhere.
func Shown(pattern string, workspaces []string, project string) string {
	if strings.HasPrefix(pattern, "/root/") || strings.HasPrefix(pattern, "/Users/") || strings.HasPrefix(pattern, "/[a-z]/Users/") {
		return ""
	}
	if rest, is := strings.CutPrefix(pattern, "/home/*"); is {
		return "~" + rest
	}
	for _, w := range workspaces {
		if rest, is := strings.CutPrefix(pattern, Quote(w)); is && (rest == "" || rest[0] == '/') {
			return project + rest
		}
	}
	return pattern
}

// OperationWords name a set of operations, before the files that they are done to.
func OperationWords(ops []Operation) string {
	for _, known := range []struct {
		words string
		ops   []Operation
	}{
		{"any change of", mutations}, {"changes of what is there in", changes}, {"reading or any change of", access},
		{"writing, but no links, of", contents}, {"reading", []Operation{Read}},
	} {
		if slices.Equal(ops, known.ops) {
			return known.words
		}
	}
	if len(ops) == 0 {
		return "reading or any change of"
	}
	words := make([]string, 0, len(ops))
	for _, op := range ops {
		words = append(words, string(op))
	}
	return strings.Join(words, ", ") + " of"
}

var decisionWords = map[Decision]string{Allow: "Allow", Deny: "Deny", Approve: "Ask before"}

// FileWords say in a sentence what a rule says, with its patterns as they are shown.
func (r FileRule) FileWords(patterns []string) string {
	if len(r.Paths) == 0 {
		patterns = []string{"every file"}
	}
	return fmt.Sprintf("%s %s %s.", decisionWords[r.Decision], OperationWords(r.Operations), joinedFew(patterns))
}

// CommandWords say in a sentence what a rule says.
func (r CommandRule) CommandWords() string {
	names := "any program"
	if len(r.Commands) > 0 {
		names = joinedFew(r.Commands)
	}
	if len(r.ArgsPatterns) > 0 {
		names += " with arguments that match " + joinedFew(r.ArgsPatterns)
	}
	return fmt.Sprintf("%s running %s.", decisionWords[r.Decision], names)
}

// SocketWords say in a sentence what a rule says, with its patterns as they are shown.
func (r PathRule) SocketWords(patterns []string) string {
	return fmt.Sprintf("%s connecting to %s.", decisionWords[r.Decision], joinedFew(patterns))
}

// fewWords is how many patterns a sentence names.
const fewWords = 4

func joinedFew(list []string) string {
	if len(list) > fewWords {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:fewWords-1], ", "), len(list)-fewWords+1)
	}
	return strings.Join(list, ", ")
}
