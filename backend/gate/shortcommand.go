package gate

import (
	"path"
	"regexp"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// agentCLI is the name of the agent CLI's program.
const agentCLI = "claude"

// What the agent CLI puts around a command of its Bash tool. All of a line must be of
// this form: a program that only begins like it could hide what it does.
var (
	wrapped = regexp.MustCompile(`^(?:/usr)?/bin/(?:ba|z)?sh -c (?:-l )?` +
		`(?:source [\w./-]+/shell-snapshots/[\w.-]+\.sh 2>/dev/null \|\| true && )?` +
		`(?:\\builtin (?:shopt -u extglob|setopt NO_EXTENDED_GLOB) 2>/dev/null \|\| true && ` +
		`|\{ \\builtin unalias -- '[\w.-]+'; \\builtin unset -f -- '[\w.-]+'; \} >/dev/null 2>&1 \|\| true && )*eval `)
	evaluated = regexp.MustCompile(`^(?:'((?:[^']|'"'"')*)'|([\w./=:,@%+-]+))(?: \\?< /dev/null)? && pwd -P >\| /tmp/claude-[\w-]+-cwd$`)
	cutOff    = regexp.MustCompile(`^'((?:[^']|'"'"')*)(?:'"?'?"?)?$`)
)

// shortCommand is the command that the agent asked its Bash tool for, without what the
// CLI puts around it; empty where the line is anything else. A line that was cut gives
// what is left of the command, and an ellipsis.
func shortCommand(line string) string {
	around := wrapped.FindStringIndex(line)
	if around == nil {
		return ""
	}
	rest, end := line[around[1]:], ""
	m := evaluated.FindStringSubmatch(rest)
	if m == nil {
		if m = cutOff.FindStringSubmatch(rest); m == nil {
			return ""
		}
		end = " …"
	}
	command := m[1]
	if len(m) > 2 {
		command += m[2]
	}
	if command = strings.TrimSpace(strings.ReplaceAll(command, `'"'"'`, "'")); command == "" {
		return ""
	}
	return command + end
}

// processesOf are the processes as a person sees them. The last one is the program of
// the spawn.
func processesOf(who *asker, list []wire.Process) []core.ApprovalProcess {
	out := make([]core.ApprovalProcess, 0, len(list))
	for i, p := range list {
		v := core.ApprovalProcess{Pid: p.Pid, Exe: p.Exe, Command: p.Command, Short: shortCommand(p.Command)}
		if who.RunID != "" && i == len(list)-1 && path.Base(p.Exe) == agentCLI {
			v.Short = agentCLI
		}
		out = append(out, v)
	}
	return out
}

// ownDescriptor is a path below a folder that the program has open. Where the name in it
// is the object's own, it says nothing to a person.
var ownDescriptor = regexp.MustCompile(`^/proc/(?:self|thread-self)/fd/[0-9]+/([^/]+)$`)

// askedAs is the name that a program used, where it is one that a person can read.
func askedAs(a wire.Approval) string {
	if m := ownDescriptor.FindStringSubmatch(a.AskedAs); a.AskedAs == a.Target || m != nil && m[1] == path.Base(a.Target) {
		return ""
	}
	return a.AskedAs
}
