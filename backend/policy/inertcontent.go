package policy

import (
	"bytes"
	"path"
)

// ByContent tells whether Content may let pass what the verdict denies: the agent CLI
// cannot work where it cannot keep its state, so that a run which only plans may write
// everything of it but what runs later.
func (v Verdict) ByContent() bool {
	return v.Decision != Allow && v.Category == Startup && v.Rule == ruleAgentConfig
}

// Content tells whether putting other bytes in the place of a file may pass silently
// although File asks for it: nothing changes, or it is one of git's configurations or
// the agent CLI's settings or state and the change is inert. before is empty where there is
// no file. It must be asked only where exactly the bytes of after will be there. It is
// false for what rules of others ask, and for what is denied other than ByContent.
func (e *Engine) Content(op Operation, file string, before, after []byte) bool {
	v := e.File(op, file)
	if v.Decision != Approve && !v.ByContent() || v.Category != Startup || op != Write && op != Create {
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
	case ruleAgentConfig:
		return agentStateChange(before, after)
	}
	return false
}

// Excerpt is what a person has to see of a change that Content does not let pass, where the
// whole texts have far more in them; ok is false where they are to be shown as they are.
func (e *Engine) Excerpt(op Operation, file string, before, after []byte) (was, is []byte, ok bool) {
	if !e.File(op, file).ByContent() {
		return nil, nil, false
	}
	return agentStateExcerpt(before, after)
}
