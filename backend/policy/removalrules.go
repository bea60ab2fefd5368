package policy

import (
	"regexp"
	"strings"
)

// removal adds the rules for “rm -r”: a mistake of this command is the one that people
// fear most. Like every rule for commands it is advice.
func (b *baseline) removal() {
	// A name in a path, which is neither “.” nor “..” and has no space in it.
	const name = `(?:[^./\s][^/\s]*|\.[^./\s][^/\s]*|\.\.[^/\s]+)`
	roots := []string{"/tmp", "/var/tmp"}
	for _, w := range b.Workspaces {
		roots = append(roots, regexp.QuoteMeta(w))
	}
	inside := `(?:` + strings.Join(roots, "|") + `)(?:/+\.)*/+` + name + `(?:/+(?:` + name + `|\.))*/*`
	relative := `[^/\s-]\S*`
	b.policy.CommandRules = append(b.policy.CommandRules,
		CommandRule{
			ID: "command.rm-inside", Commands: []string{"rm"}, Decision: Allow,
			ArgsPatterns: []string{`^(?:(?:-\S*|` + inside + `|` + relative + `)(?: +|$))+$`},
		},
		CommandRule{
			ID: "command.rm", Commands: []string{"rm"}, Decision: Deny,
			ArgsPatterns: []string{
				`(?s)(?:^|\s)(?:-[A-Za-z]*[rR]|--r(?:e(?:c[a-z]*)?)?\b).*\s/`,
				`(?s)(?:^|\s)/.*\s(?:-[A-Za-z]*[rR]|--r(?:e(?:c[a-z]*)?)?\b)`,
			},
			Message: "This rm -r names an absolute path outside the project and /tmp.",
			Advice:  "Remove files of the project by their relative path.",
		})
}
