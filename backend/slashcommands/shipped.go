package slashcommands

// shipped are commands of the CLI, until a run of the channel has said which there are.
var shipped = []string{"code-review", "compact", "context", "init", "security-review", "simplify"}

// useless are commands that change nothing in a run, or what Loop has a place of its own for:
// the next prompt is another process.
var useless = []string{
	"agents", "auto-mode-setup", "autocompact", "clear", "color", "config", "doctor", "effort", "exit", "fast", "focus", "heapdump",
	"keybindings-help", "list-agents", "login", "logout", "mcp", "model", "output-style", "reload-plugins", "reload-skills", "rename",
	"resume", "workflow-launch-exec",
}

// says are descriptions of those that are known.
var says = map[string]string{
	"batch":              "Make one change in many places, side by side",
	"claude-api":         "Help with programs that use Claude",
	"code-review":        "Look over the changes for mistakes",
	"compact":            "Sum up the conversation, to free context",
	"context":            "Show what fills the context",
	"dataviz":            "Draw data",
	"debug":              "Find the cause of a fault",
	"deep-research":      "Look into a question with many sources",
	"goal":               "Work until a goal is reached",
	"init":               "Write a CLAUDE.md for this project",
	"insights":           "Report on how Claude Code is used here",
	"loop":               "Do a prompt again and again",
	"plugin-authoring":   "Write a plugin for Claude Code",
	"recap":              "Say where the work stands",
	"review":             "Look over the changes of this branch",
	"run":                "Start the project's program",
	"security-review":    "Look over the changes for weak points",
	"simplify":           "Make the changed code simpler",
	"team-onboarding":    "Write a guide for newcomers",
	"update-config":      "Change the settings of Claude Code",
	"usage":              "Show what the plan has left",
	"verify":             "Check that a change does what it should",
	"workflow-authoring": "Write a workflow",
}

var hints = map[string]string{"compact": "[focus]", "goal": "<goal>", "loop": "[interval] <prompt>"}
