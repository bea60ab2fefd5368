package policy

import (
	"bytes"
	"path"
)

// Content tells whether putting other bytes in the place of a file may pass silently
// although File asks for it: nothing changes, or it is one of git's configurations or
// the agent CLI's settings and the change is inert. before is empty where there is no
// file. It must be asked only where exactly the bytes of after will be there. It is
// false for what is denied and for what rules of others ask.
func (e *Engine) Content(op Operation, file string, before, after []byte) bool {
	v := e.File(op, file)
	if v.Decision != Approve || v.Category != Startup || op != Write && op != Create {
		return false
	}
	if op == Write && bytes.Equal(before, after) {
		return true
	}
	switch name := path.Base(file); v.Rule {
	case ruleGitConfig, ruleGitHome:
		name = lowerASCII(name)
		return (name == "config" || name == "config.worktree" || name == ".gitconfig") && GitConfigChange(before, after)
	case ruleAgent:
		return path.Base(path.Dir(file)) == ".claude" && (name == "settings.json" || name == "settings.local.json") &&
			agentSettingsChange(before, after)
	}
	return false
}
