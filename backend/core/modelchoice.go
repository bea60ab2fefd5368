package core

import (
	"slices"
	"strings"
	"unicode"
)

// Efforts are those that the agent CLI knows; the empty one leaves the choice to it.
var Efforts = []string{"", "low", "medium", "high", "xhigh", "max"}

// CheckModel refuses what cannot be a model's name on the CLI's command line. Which models
// there are, the CLI and its provider know.
func CheckModel(name string) error {
	if len(name) > 200 || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}) {
		return Fail(CodeInvalid, nil, "That is no name of a model.", "Write one word, like sonnet, or leave it empty.")
	}
	return nil
}

// CheckEffort refuses what the CLI would.
func CheckEffort(effort string) error {
	if !slices.Contains(Efforts, effort) {
		return Fail(CodeInvalid, nil, "That is no effort that the agent knows.", "Choose one of low, medium, high, xhigh and max, or none.")
	}
	return nil
}
