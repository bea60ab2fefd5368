package runner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"loop/backend/core"
)

// Interactive is the agent CLI in a terminal: what is typed into a shell, and
// what the shell has to be given for it.
type Interactive struct {
	Line  string // the command line, without its end
	Env   []core.EnvVar
	Files []core.SpawnFile
}

// InteractiveStart says how the conversation is taken up.
type InteractiveStart struct {
	Mode core.OpenMode
	// Again is after a restart of the container: the CLI goes on with the last
	// conversation of its folder.
	Again bool
	// Exists says whether a session can still be resumed.
	Exists func(core.SessionID) bool
}

// InteractiveCommand is the CLI for a terminal session of a channel; id names the
// shell's spawn and its route to the model. It takes up the conversation that
// the next run would, but never uses up the channel's wish for that run.
func InteractiveCommand(
	l Launch, ch core.Channel, demo bool, id core.TerminalID, workDir string, addDirs []string, start InteractiveStart,
) (Interactive, error) {
	run := core.Run{ID: core.RunID(id), ChannelID: ch.ID, SpawnID: core.SpawnID(id), Demo: demo}
	permissions, st := skipPermissions, startAt{}
	if start.Again {
		permissions = append(slices.Clone(permissions), "--continue")
	} else {
		st.resume, st.fork = interactiveSession(ch, demo, start)
	}
	args := commandLine(l, run.SpawnID, permissions, false, st, addDirs)
	mcp, err := mcpConfig(l, run, workDir)
	if err != nil {
		return Interactive{}, err
	}
	for i, a := range args {
		if strings.ContainsFunc(a, unicode.IsControl) { // a shell takes it for a key
			return Interactive{}, core.Fail(core.CodeConfig, nil,
				fmt.Sprintf("The agent's command line cannot be typed: %q has a line break or another control character.", a),
				"Look at claude_bin_path, claude_model and extra_dirs.")
		}
		args[i] = core.ShellQuote(a)
	}
	return Interactive{Line: strings.Join(args, " "), Env: environ(l, run.SpawnID, interactiveModel(l, id)), Files: files(l, mcp)}, nil
}

// firstParty is where the CLI goes by itself.
const firstParty = "https://api.anthropic.com"

// InteractiveUpstream is where the model calls of a terminal go. They go through
// the link whatever the model: whoever types claude there needs no key, and no
// program has one.
func InteractiveUpstream(l Launch) core.ModelUpstream {
	up := l.Upstream
	if up.Demo {
		return up
	}
	up.BaseURL = cmp.Or(up.BaseURL, l.BaseURL)
	if l.OAuthToken != "" {
		up.OAuthToken = core.Secret(l.OAuthToken)
	} else {
		up.APIKey = core.Secret(l.APIKey)
	}
	if up.OAuthToken != "" || up.APIKey != "" {
		up.BaseURL = cmp.Or(up.BaseURL, firstParty)
	}
	return up
}

// interactiveModel is how the CLI in a terminal finds its model. Without one the
// person may log in there. In the place of an OAuth token the CLI sends what that
// needs besides; an API key's place is not its own variable, since the CLI would
// ask whether it may be used.
func interactiveModel(l Launch, id core.TerminalID) []core.EnvVar {
	up := InteractiveUpstream(l)
	if up == (core.ModelUpstream{}) {
		return nil
	}
	env := []core.EnvVar{appVar("ANTHROPIC_BASE_URL", l.modelURL(core.Run{ID: core.RunID(id), SpawnID: core.SpawnID(id)}))}
	if up.OAuthToken != "" {
		env = append(env, appVar("CLAUDE_CODE_OAUTH_TOKEN", core.NoKey))
	} else {
		env = append(env, appVar("ANTHROPIC_AUTH_TOKEN", core.NoKey))
	}
	if l.Model != "" {
		env = append(env, appVar("ANTHROPIC_MODEL", l.Model))
	}
	return env
}

// interactiveSession is the session that is taken up, and whether as a copy.
// The channel's is the one its next run would go on with: after a run that was
// stopped that is kept as a wish, and the channel's own is older or none.
func interactiveSession(ch core.Channel, demo bool, start InteractiveStart) (resume core.SessionID, fork bool) {
	own := ch.Session(demo)
	kept := func(id core.SessionID) bool {
		return id.Valid() && (start.Exists == nil || start.Exists(id))
	}
	switch start.Mode {
	case core.OpenFresh:
		return "", false
	case core.OpenLegacy: // as the next run: threads that still share their parent's conversation fork
		next := wanted(core.Run{Demo: demo}, ch)
		if resume, fork = next.resume, next.fork; resume == "" {
			return "", false
		}
	default:
		resume, fork = own, start.Mode == core.OpenFork
		if st := ch.Next(demo); st.Mode == core.SessionResume {
			resume = st.SessionID
		}
	}
	switch {
	case kept(resume):
		return resume, fork
	case resume != own && kept(own):
		return own, start.Mode == core.OpenFork
	}
	return "", false
}
