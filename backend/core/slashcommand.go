package core

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CommandSource says whose a command is.
type CommandSource string

const (
	CommandClaude  CommandSource = "claude"  // the agent CLI's own, and those of its plugins
	CommandProject CommandSource = "project" // in the folder that agents work in
	CommandPerson  CommandSource = "person"  // in the Claude folder of the channel, where the person's own set-up is copied to
)

// SlashCommand is what a prompt can begin with after a slash. All of it may be text from a
// container: it is bounded, and has no control characters.
type SlashCommand struct {
	Name        string        `json:"name"` // without the slash
	Hint        string        `json:"hint,omitempty"`
	Description string        `json:"description,omitempty"`
	Source      CommandSource `json:"source"`
}

// SlashCommands are those of a channel.
type SlashCommands struct {
	Commands []SlashCommand `json:"commands"` // in the order of their sources, then by name; never null
	// Left says why there may be more; empty where all are there.
	Left string `json:"left,omitempty"`
}

// Bounds of commands.
const (
	MaxCommands    = 300
	maxCommandName = 100
)

// IsCommandName reports whether a text can be a command's name: one word without anything
// that does not show. Names with “_” in front are internal to the CLI.
func IsCommandName(name string) bool {
	return name != "" && len(name) <= maxCommandName && utf8.ValidString(name) && name[0] != '_' && name[0] != '-' &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '/' })
}
