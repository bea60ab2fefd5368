package terminal

import (
	"testing"

	"loop/backend/core"
)

// jobs is a program that can list its background programs.
type jobs struct {
	*program
	others []string
}

func (j jobs) Others() []string { return j.others }

// TestStanding lists the parts of a session that a person would miss.
func TestStanding(t *testing.T) {
	const here, box = core.TargetHost, core.TargetAgent
	s, _, _ := rig(t, Options{})
	for name, c := range map[string]struct {
		info   core.TerminalInfo
		others []string
		blind  bool // Loop cannot look behind the shell
		keep   bool
		idle   bool
		runs   string
	}{
		"a shell at its prompt":               {info: core.TerminalInfo{Target: here, Shell: core.ShellPrompt}, idle: true},
		"a shell without marks":               {info: core.TerminalInfo{Target: here}, idle: true},
		"a command":                           {info: core.TerminalInfo{Target: here, Shell: core.ShellRunning, Command: "vim notes"}, others: []string{"vim"}, runs: "vim notes"},
		"a builtin":                           {info: core.TerminalInfo{Target: here, Shell: core.ShellRunning, Command: "read x"}, runs: "read x"},
		"a command history did not take":      {info: core.TerminalInfo{Target: here, Shell: core.ShellRunning}},
		"jobs behind a prompt":                {info: core.TerminalInfo{Target: here, Shell: core.ShellPrompt}, others: []string{"vim", "make", "make"}, runs: "make, vim"},
		"a program in a shell without marks":  {info: core.TerminalInfo{Target: here}, others: []string{"nano"}, runs: "nano"},
		"jobs without a name":                 {info: core.TerminalInfo{Target: here}, others: []string{""}},
		"a program of its own":                {info: core.TerminalInfo{Target: here, Cmd: []string{"htop", "-d", "5"}}, runs: "htop -d 5"},
		"one that ended":                      {info: core.TerminalInfo{Target: here, Cmd: []string{"htop"}, State: core.TerminalEnded}, idle: true},
		"a shell that ended before its jobs":  {info: core.TerminalInfo{Target: here, Shell: core.ShellRunning, Command: "exit", State: core.TerminalEnded}, others: []string{"sleep"}, runs: "sleep"},
		"a foreign container at its prompt":   {info: core.TerminalInfo{Target: box, Shell: core.ShellPrompt}, blind: true, idle: true},
		"a foreign container without marks":   {info: core.TerminalInfo{Target: box}, blind: true}, // nobody knows, so anything may run
		"a program in a container of ours":    {info: core.TerminalInfo{Target: box, Shell: core.ShellRunning, Command: "make"}, blind: true, keep: true, runs: "make"},
		"a shell in a container of ours":      {info: core.TerminalInfo{Target: box, Shell: core.ShellPrompt}, blind: true, keep: true, idle: true},
		"a container that is away for now":    {info: core.TerminalInfo{Target: box, State: core.TerminalAway, Cmd: []string{"top"}}, blind: true, keep: true, runs: "top"},
		"an ended program in one of ours too": {info: core.TerminalInfo{Target: box, State: core.TerminalEnded, Cmd: []string{"top"}}, blind: true, keep: true, idle: true},
	} {
		t.Run(name, func(t *testing.T) {
			var p Program = newProgram()
			if !c.blind {
				p = jobs{newProgram(), c.others}
			}
			if c.info.State == "" {
				c.info.State = core.TerminalRunning
			}
			c.info.Cols, c.info.Rows = 80, 24
			got := s.newSession(c.info, p, c.keep).standing()
			if got.Idle != c.idle || got.Runs != c.runs || got.Outlives != c.keep {
				t.Errorf("idle %v, runs %q, outlives %v", got.Idle, got.Runs, got.Outlives)
			}
		})
	}
}
