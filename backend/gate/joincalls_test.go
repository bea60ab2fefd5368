package gate

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// The processes of the acts below: the CLI, and what it started.
var cliProcess = wire.Process{Pid: 5, Started: 50, Exe: "/usr/local/bin/claude", Command: "claude --print"}

func shellOf(pid int, command string) wire.Process {
	return wire.Process{Pid: pid, Started: uint64(pid), Exe: "/usr/bin/bash", Command: before + "'" + strings.ReplaceAll(command, "'", `'"'"'`) + "'" + after}
}

func child(pid int) wire.Process {
	return wire.Process{Pid: pid, Started: uint64(pid), Exe: "/usr/bin/python3", Command: "python3 x.py"}
}

// actOf is a write of a start-up file by processes, the one that acts first.
func actOf(list ...wire.Process) wire.Approval {
	a := inPlace("/home/ana/.bashrc", "8:5")
	a.Processes = list
	return a
}

func bashUse(id, parent, command string) core.ToolUse {
	return core.ToolUse{ToolUseID: id, ParentID: parent, Name: "Bash", Input: fmt.Appendf(nil, `{"command":%q}`, command)}
}

func fileUse(id, name, path string) core.ToolUse {
	return core.ToolUse{ToolUseID: id, Name: name, Input: fmt.Appendf(nil, `{"file_path":%q}`, path)}
}

// TestJoiningWhenSeveralCallsAreUnderWay: each act under the call that led to it, and under
// none where that is not known. The steps of a case happen one after another.
func TestJoiningWhenSeveralCallsAreUnderWay(t *testing.T) {
	const run = "run1"
	now := time.Now()
	begin := func(t toolCalls, uses ...core.ToolUse) {
		for _, u := range uses {
			t.begin(run, u, now)
		}
	}
	is := func(t *testing.T, calls toolCalls, a wire.Approval, want string) {
		t.Helper()
		for _, at := range []time.Time{{}, now} { // asked, and told later
			if got := calls.cause(run, &a, at); got != want {
				t.Errorf("at %v joined with %q, not %q", at, got, want)
			}
		}
	}
	file := func(target, asked string) wire.Approval {
		return wire.Approval{Kind: wire.KindFile, Operation: "write", Target: target, AskedAs: asked, Processes: []wire.Process{cliProcess}}
	}
	long := "cat <<'E' > ~/.bashrc\n" + strings.Repeat("export A=1\n", 200) + "E"
	for name, test := range map[string]func(*testing.T, toolCalls){
		"two commands": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make a"), bashUse("b", "", "make"))
			is(t, c, actOf(child(9), shellOf(7, "make"), cliProcess), "b")
			is(t, c, actOf(shellOf(8, "make a"), cliProcess), "a")
		},
		"a question before its call is known, while the one before it seems to go on": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "git config core.autocrlf false"))
			act := actOf(child(9), shellOf(7, "git config --global user.name Ada"), cliProcess)
			if got := c.cause(run, &act, time.Time{}); got != "" {
				t.Errorf("joined with %q", got)
			}
			begin(c, bashUse("b", "", "git config --global user.name Ada"))
			is(t, c, act, "b")
		},
		"a long command, of which the line is cut": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make"), bashUse("b", "", long))
			shell := shellOf(7, long)
			shell.Command = shell.Command[:wire.MaxShell]
			is(t, c, actOf(child(9), shell, cliProcess), "b")
		},
		"the same command twice": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make"), bashUse("b", "", "make"))
			is(t, c, actOf(shellOf(7, "make"), cliProcess), "")
			is(t, c, actOf(shellOf(8, "make"), cliProcess), "")
		},
		"the same command again, after its shell was known": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make"))
			is(t, c, actOf(child(9), shellOf(7, "make"), cliProcess), "a")
			begin(c, bashUse("b", "", "make"))
			is(t, c, actOf(shellOf(7, "make"), cliProcess), "a")
			is(t, c, actOf(shellOf(8, "make"), cliProcess), "b")
		},
		"a pid that is used again": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make"))
			is(t, c, actOf(shellOf(7, "make"), cliProcess), "a")
			begin(c, bashUse("b", "", "ls"))
			again := shellOf(7, "ls")
			again.Started = 700
			is(t, c, actOf(again, cliProcess), "b")
		},
		"a subagent": func(t *testing.T, c toolCalls) {
			begin(c, core.ToolUse{ToolUseID: "task", Name: "Task"})
			is(t, c, actOf(child(9), cliProcess), "")
			begin(c, bashUse("s", "task", "make"))
			is(t, c, actOf(child(9), cliProcess), "s") // nothing else can
			begin(c, bashUse("m", "", "ls"))
			is(t, c, actOf(shellOf(7, "ls"), cliProcess), "m")
			is(t, c, actOf(shellOf(8, "make"), cliProcess), "s")
			is(t, c, actOf(child(9), cliProcess), "")
		},
		"a subagent of a tool of another name": func(t *testing.T, c toolCalls) {
			begin(c, core.ToolUse{ToolUseID: "x", Name: "Delegate"}, bashUse("s", "x", "make"))
			is(t, c, actOf(child(9), cliProcess), "s")
		},
		"the background": func(t *testing.T, c toolCalls) {
			u := core.ToolUse{ToolUseID: "bg", Name: "Bash", Input: []byte(`{"command":"npm run dev","run_in_background":true}`)}
			begin(c, u)
			c.end(run, "bg", now)
			begin(c, bashUse("a", "", "ls"))
			is(t, c, actOf(child(9), shellOf(7, "npm run dev"), cliProcess), "bg")
			is(t, c, actOf(shellOf(8, "ls"), cliProcess), "a")
		},
		"moved to the background": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "sleep 5 &&\n make"))
			c.inBackground(run, []core.BackgroundTask{{Kind: "command", What: "sleep 5 && make"}})
			c.end(run, "a", now.Add(-time.Hour))
			begin(c, bashUse("b", "", "ls"))
			is(t, c, actOf(shellOf(7, "sleep 5 &&\n make"), cliProcess), "a")
		},
		"a process that has lost its parents": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make &"))
			is(t, c, actOf(child(10), child(9), shellOf(7, "make &"), cliProcess), "a")
			c.end(run, "a", now.Add(-time.Hour))
			begin(c, bashUse("b", "", "ls"))
			is(t, c, actOf(child(11), child(10)), "a")
		},
		"a command line that is made up": func(t *testing.T, c toolCalls) {
			begin(c, bashUse("a", "", "make"), bashUse("b", "", "ls"))
			is(t, c, actOf(shellOf(9, "ls"), shellOf(7, "make"), cliProcess), "a")
		},
		"files of the CLI's own tools": func(t *testing.T, c toolCalls) {
			begin(c, fileUse("w", "Write", "/p/a"), fileUse("e", "Edit", "/p/b"), bashUse("c", "", "echo > /p/b"))
			is(t, c, file("/p/a", ""), "w")
			is(t, c, file("/real/b", "/p/b"), "e")
			is(t, c, file("/p/b.tmp.7.0123abcd", ""), "e")
			is(t, c, file("/p/c", ""), "")
			begin(c, fileUse("e2", "Edit", "/p/b"))
			is(t, c, file("/p/b", ""), "")
		},
	} {
		t.Run(name, func(t *testing.T) { test(t, toolCalls{}) })
	}
}

// TestCallsOfOneMessageAreToldApart: a question that comes before the agent's word on its
// calls is joined when all of them are known, not with the first.
func TestCallsOfOneMessageAreToldApart(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.held("spawn1", actOf(shellOf(8, "make"), cliProcess))
		var events []core.Event
		for _, u := range []core.ToolUse{bashUse("a", "", "make"), bashUse("b", "", "make")} {
			events = append(events, core.NewEvent(core.EventToolUse, "chan", "run1", time.Now(), u))
		}
		r.bus.Publish(events...)
		synctest.Wait()
		if q := r.one(); q.ToolUseID != "" {
			t.Errorf("joined with %q, which is a guess", q.ToolUseID)
		}
	})
}
