package policy

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// stateWords tell what of the agent CLI's state decides what runs or is permitted later.
// They are taken from the keys that version 2.1.330 reads and writes: mcpServers,
// allowedTools, hasTrustDialogAccepted, apiKeyHelper, env and so on. A key of a later
// version counts as well if its name has such a word, unless it is a count, a cache or a
// note of what the person has seen. That working without permissions was accepted is no
// matter: Loop writes it down before each start, and the CLI then takes it away.
type stateWords struct{ matters, notes *regexp.Regexp }

var stateKeys = sync.OnceValue(func() stateWords {
	return stateWords{
		matters: regexp.MustCompile(`(?i)^env$|server|hook|helper|command|allow|trust|approved$|permission|tools|plugin|marketplace|` +
			`shell|launcher|route|proxy|url|credential|refresh|export|statusline|daemon|sandbox|autoupload|remotecontrolat|(connect|install)ide`),
		notes: regexp.MustCompile(`^(bypassPermissionsModeAccepted$|last|cached|seen|feedback|favorite|` +
			`lspRecommendation|officialMarketplaceAuto|has(Seen|Used|Visited|Opened)[A-Z])|` +
			`(Count|Counts|At|Usage|Used|Cache|Seen|Shown|Dismissed|Ids|State)$`),
	}
})

// agentStateChange tells whether two texts of the CLI's state say the same of what runs or
// is permitted later. It is false for what is not strict JSON.
func agentStateChange(before, after []byte) (inert bool) {
	old, now, ok := agentStates(before, after)
	return ok && maps.EqualFunc(old, now, func(a, b jsontext.Value) bool { return bytes.Equal(a, b) })
}

// agentStateExcerpt is what matters in two texts and is not the same in both, written so
// that a person can compare it. ok is false where one of them is not strict JSON.
func agentStateExcerpt(before, after []byte) (was, is []byte, ok bool) {
	old, now, ok := agentStates(before, after)
	if !ok {
		return nil, nil, false
	}
	both := maps.Clone(old)
	maps.Copy(both, now)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		if !bytes.Equal(old[key], now[key]) {
			was, is = appendField(was, key, old[key]), appendField(is, key, now[key])
		}
	}
	return was, is, true
}

func appendField(text []byte, key string, value jsontext.Value) []byte {
	if value == nil {
		return text
	}
	value = value.Clone()
	if value.Indent() != nil { // canonical, so that it is valid
		return text
	}
	return append(append(append(text, key+" = "...), value...), '\n')
}

func agentStates(before, after []byte) (old, now map[string]jsontext.Value, ok bool) {
	if old, ok = agentState(before); !ok {
		return nil, nil, false
	}
	now, ok = agentState(after)
	return old, now, ok
}

// agentState is what matters of the CLI's state, by its path and in canonical form. What is
// empty or false is as good as absent: the CLI writes both for each folder in which it
// starts. No text is an empty object.
func agentState(text []byte) (map[string]jsontext.Value, bool) {
	all := map[string]jsontext.Value{}
	if len(bytes.TrimSpace(text)) == 0 {
		return all, true
	}
	var top map[string]jsontext.Value
	// Duplicate keys, of which readers take one or the other, are an error here.
	// Half of a sign, where the CLI has cut a text, stands for no sign, as it does to the CLI.
	half := jsontext.AllowInvalidUTF8(true)
	if json.Unmarshal(text, &top, half) != nil || top == nil || !keepFields(all, "", top) {
		return nil, false
	}
	var projects map[string]map[string]jsontext.Value
	if raw := top["projects"]; raw != nil && json.Unmarshal(raw, &projects, half) != nil {
		return nil, false
	}
	for folder, fields := range projects {
		if !keepFields(all, "projects["+strconv.Quote(folder)+"].", fields) {
			return nil, false
		}
	}
	return all, true
}

func keepFields(all map[string]jsontext.Value, at string, fields map[string]jsontext.Value) bool {
	for key, value := range fields {
		if !stateKeys().matters.MatchString(key) || stateKeys().notes.MatchString(key) {
			continue
		}
		if value.Canonicalize() != nil {
			return false
		}
		switch string(value) {
		case "null", "false", "[]", "{}", `""`:
		default:
			all[at+key] = value
		}
	}
	return true
}

// agentEditing are commands of the agent CLI that only write down what their arguments say.
var agentEditing = []string{"add", "add-json", "remove", "reset-project-choices"}

// OnlyEdits tells whether an agent CLI that is started with these arguments works for the
// one who typed them alone: it adds or removes a server, and runs neither a model nor any
// program.
func OnlyEdits(argv []string) bool {
	return len(argv) > 2 && argv[1] == "mcp" && slices.Contains(agentEditing, argv[2])
}
