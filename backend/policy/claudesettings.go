package policy

import (
	"bytes"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// inertSettings are the keys of the agent CLI's settings that only say how it looks and
// thinks. A person changes them in the CLI itself (/model, /theme), which then writes
// the whole file. The language is not among them: its text becomes part of the prompt.
// That the person knows what running without permissions means is written down by the
// CLI itself when it starts for Loop; in a project's file it does not count.
var inertSettings = []string{
	"alwaysThinkingEnabled", "effortLevel", "fastMode", "model", "prefersReducedMotion", "showTurnDuration",
	"skipDangerousModePermissionPrompt", "spinnerTipsEnabled", "syntaxHighlightingDisabled", "terminalProgressBarEnabled", "theme", "verbose",
}

// agentSettingsChange tells whether two texts of the agent CLI's settings differ only
// in keys that run nothing and permit nothing. It is false for what is not strict JSON.
func agentSettingsChange(before, after []byte) (inert bool) {
	old, ok := settingsObject(before)
	if !ok {
		return false
	}
	now, ok := settingsObject(after)
	if !ok {
		return false
	}
	for _, key := range inertSettings {
		delete(old, key)
		delete(now, key)
	}
	return maps.EqualFunc(old, now, func(a, b jsontext.Value) bool { return bytes.Equal(a, b) })
}

// settingsObject reads an object whose inert keys have plain values; no text is an
// empty one.
func settingsObject(text []byte) (map[string]jsontext.Value, bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]jsontext.Value{}, true
	}
	if plainText(text) != nil {
		return nil, false
	}
	var m map[string]jsontext.Value
	// Duplicate keys, of which readers take one or the other, are an error here.
	if json.Unmarshal(text, &m) != nil || m == nil {
		return nil, false
	}
	for key, value := range m {
		if err := value.Canonicalize(); err != nil {
			return nil, false
		}
		m[key] = value
	}
	for _, key := range inertSettings {
		switch value := m[key]; value.Kind() {
		case '{', '[':
			return nil, false
		}
	}
	return m, true
}
