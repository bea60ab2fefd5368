package gate

import (
	"path"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// An act is joined with the tool call that led to it by what is known for sure, as far as
// that goes: by a process that was joined before, by the shell that the agent CLI started
// for exactly one call, by the file that a tool of the CLI itself reads or writes. Where
// that says nothing, the only call at that time counts. Where several fit, none does.

// cause is the tool call that led to an act at a time, by the calendar. A zero time is now,
// and then a call must be under way; without an act only the time counts.
func (t toolCalls) cause(run core.RunID, a *wire.Approval, at time.Time) string {
	r := t[run]
	if r == nil {
		return ""
	}
	if a == nil {
		return r.only(at, nil)
	}
	chain := chainOf(*a)
	if id := r.joinedBefore(chain); id != "" {
		r.join(chain, id)
		return id
	}
	switch shell := chain.shell(); {
	case shell != "":
		id, known := r.ofShell(shell, at)
		if id != "" {
			r.join(chain, id)
		}
		if known {
			return id
		}
		// The CLI puts something else around a command than is known here, or the call is not
		// known yet. A question waits for it: the call before it would be a wrong guess.
		free := func(c toolCall) bool { return c.command != "" && !r.taken(c.id) }
		guess := ""
		if !at.IsZero() {
			guess = r.only(at, free)
		}
		return onlyOne(r.fitting(at, func(c toolCall) bool { return free(c) && c.within(*a) }), guess)
	case chain.own:
		fits := r.fitting(at, func(c toolCall) bool { return c.changes(*a) })
		return onlyOne(fits, r.only(at, func(c toolCall) bool { return c.command == "" }))
	}
	fits := r.fitting(at, func(c toolCall) bool { return c.within(*a) || c.changes(*a) })
	return onlyOne(fits, r.only(at, nil))
}

// onlyOne is the only one of a list, or what counts where there is none.
func onlyOne(list []string, none string) string {
	switch len(list) {
	case 0:
		return none
	case 1:
		return list[0]
	}
	return ""
}

// chain are the processes of an act, the one that acts first.
type chain struct {
	below []wire.Process // the agent CLI
	own   bool           // the CLI acts itself
	top   bool           // it is known that the CLI started the last of below
}

func chainOf(a wire.Approval) chain {
	n := len(a.Processes)
	if n == 0 || path.Base(a.Processes[n-1].Exe) != agentCLI {
		return chain{below: a.Processes}
	}
	return chain{below: a.Processes[:n-1], own: n == 1, top: true}
}

// shell is the command of the shell that the CLI has started for a call; empty where the
// act comes from something else.
func (c chain) shell() string {
	if n := len(c.below); c.top && n > 0 {
		return shortCommand(c.below[n-1].Command)
	}
	return ""
}

func pidStartOf(p wire.Process) pidStart { return pidStart{p.Pid, p.Started} }

// joinedBefore is the call of the nearest process that was joined before.
func (r *runCalls) joinedBefore(c chain) string {
	for _, p := range c.below {
		if id := r.joined[pidStartOf(p)]; id != "" {
			return id
		}
	}
	return ""
}

// join remembers a call for its processes, so that what they start belongs to it: also
// after the result, and when a process has lost its parents.
func (r *runCalls) join(c chain, id string) {
	if len(r.joined)+len(c.below) > maxJoined {
		clear(r.joined)
	}
	for _, p := range c.below {
		r.joined[pidStartOf(p)] = id
	}
}

// taken says that the shell of a call is known, and so no other is.
func (r *runCalls) taken(id string) bool {
	for _, other := range r.joined {
		if other == id {
			return true
		}
	}
	return false
}

// ofShell is the only call that has a shell with a command. known says that there are such
// calls, though perhaps several.
func (r *runCalls) ofShell(command string, at time.Time) (id string, known bool) {
	begin, cut := strings.CutSuffix(command, " …")
	list := r.fitting(at, func(c toolCall) bool {
		same := c.command == command || cut && strings.HasPrefix(c.command, strings.TrimSpace(begin))
		return same && !r.taken(c.id)
	})
	return onlyOne(list, ""), len(list) > 0
}

// fitting are the calls of which something may act at a time and that fit.
func (r *runCalls) fitting(at time.Time, fits func(toolCall) bool) (ids []string) {
	for _, c := range r.list {
		if (c.background || c.near(at)) && fits(c) {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// only is the only call at a time, or else the only one near it, of those that fit.
func (r *runCalls) only(at time.Time, fits func(toolCall) bool) string {
	var then, near []string
	for _, c := range r.list {
		if c.group || !c.near(at) || fits != nil && !fits(c) {
			continue
		}
		near = append(near, c.id)
		if c.to.IsZero() && at.IsZero() || !at.Before(c.from) && (c.to.IsZero() || !at.After(c.to)) {
			then = append(then, c.id)
		}
	}
	return onlyOne(then, onlyOne(near, ""))
}

// near says that something which a call did may come at a time.
func (c toolCall) near(at time.Time) bool {
	if at.IsZero() {
		return c.to.IsZero()
	}
	return !at.Before(c.from.Add(-early)) && (c.to.IsZero() || !at.After(c.to.Add(late)))
}

// within says that a process of an act names the command of a call. Its line is cut, and a
// shell's quoting may stand around the command.
func (c toolCall) within(a wire.Approval) bool {
	const enough = 40
	command := c.command
	if len(command) > enough {
		command = command[:enough]
	}
	return command != "" && slices.ContainsFunc(a.Processes, func(p wire.Process) bool { return strings.Contains(p.Command, command) })
}

// changes says that an act is about the file of a call: the file itself, the temporary one
// that takes its place, or a folder that is made for it.
func (c toolCall) changes(a wire.Approval) bool {
	if c.path == "" {
		return false
	}
	for _, name := range []string{a.Target, a.AskedAs} {
		if m := temporary.FindStringSubmatch(name); m != nil {
			name = m[1]
		}
		if name == c.path || a.Operation == "create" && name != "" && strings.HasPrefix(c.path, name+"/") {
			return true
		}
	}
	return false
}
