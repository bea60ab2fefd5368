package gate

import (
	"strings"
	"testing"

	"loop/backend/wire"
)

const (
	before = `/bin/bash -c source /opt/loop/.claude/shell-snapshots/snapshot-bash-1795418555201-7u2y42.sh 2>/dev/null || true && ` +
		`\builtin shopt -u extglob 2>/dev/null || true && ` +
		`{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && ` +
		`{ \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true && eval `
	after = ` < /dev/null && pwd -P >| /tmp/claude-4c34-cwd`
)

func TestShortCommandIsWhatTheAgentAskedFor(t *testing.T) {
	for line, want := range map[string]string{
		before + `'echo '"'"'export EDITOR=vim'"'"' >> ~/.bashrc'` + after: `echo 'export EDITOR=vim' >> ~/.bashrc`,
		before + `'make && pwd -P'` + after:                                `make && pwd -P`,
		before + `make` + after:                                            `make`,
		before + "'cat <<E\nx\nE'" + after:                                 "cat <<E\nx\nE",
		before + `'ls | wc' && pwd -P >| /tmp/claude-1-cwd`:                `ls | wc`,
		before + `'a long one that was c`:                                  `a long one that was c …`,
		before + `'echo '"'"'cut here'"`:                                   `echo 'cut here …`,

		// Whatever else stands in a line would not be seen.
		before + `'ls'; rm -r /x` + after:                                       "",
		before + `'ls' 'x'` + after:                                             "",
		before + `'ls'` + after + `; rm -r /x`:                                  "",
		strings.Replace(before, "eval ", "rm -r /x; eval ", 1) + `'ls'` + after: "",
		strings.Replace(before, "'which'", "'a; rm -r /x'", 1) + `'ls'` + after: "",
		strings.Replace(before, ".sh ", ".sh; rm -r /x ", 1) + `'ls'` + after:   "",
		"x " + before + `'ls'` + after:                                          "",
		before + `"$(rm -r /x)"` + after:                                        "",
		before + `''` + after:                                                   "",
		`/bin/bash -c echo hi`:                                                  "",
		`bash -c eval 'ls'`:                                                     "",
		"":                                                                      "",
	} {
		if got := shortCommand(line); got != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

func FuzzShortCommand(f *testing.F) {
	f.Add(before + `'echo '"'"'x'"'"''` + after)
	f.Add(before + `'x`)
	f.Fuzz(func(t *testing.T, line string) {
		short := shortCommand(line)
		if strings.Trim(short, " …") != "" && len(short) > len(line)+len(" …") {
			t.Errorf("%q became longer: %q", line, short)
		}
		// With the quoting put back, what is shown stands in the line.
		quoted := strings.ReplaceAll(strings.TrimSuffix(short, " …"), "'", `'"'"'`)
		if !strings.Contains(line, quoted) {
			t.Errorf("%q does not have %q", line, quoted)
		}
	})
}

func TestTheAgentItselfIsCalledByItsName(t *testing.T) {
	list := []wire.Process{
		{Pid: 9, Exe: "/usr/bin/bash", Command: before + "'make'" + after},
		{Pid: 8, Exe: "/tmp/claude", Command: "claude --print a"},
		{Pid: 7, Exe: "/usr/local/bin/claude", Command: "claude --print b"},
	}
	run := processesOf(&asker{who: who{RunID: "r"}}, list)
	if run[0].Short != "make" || run[1].Short != "" || run[2].Short != "claude" || run[2].Command != "claude --print b" {
		t.Errorf("in a run: %+v", run)
	}
	if terminal := processesOf(&asker{}, list); terminal[2].Short != "" {
		t.Errorf("in a terminal: %+v", terminal)
	}
	if none := processesOf(&asker{}, nil); none == nil {
		t.Error("no processes are nil, which the page does not expect")
	}
}

func TestAPathByAnOpenFolderIsNotShown(t *testing.T) {
	for asked, want := range map[string]string{
		"/proc/self/fd/18/.bashrc":        "",
		"/proc/thread-self/fd/3/.bashrc":  "",
		"/home/ana/.bashrc":               "",
		"/proc/self/fd/18/other":          "/proc/self/fd/18/other",
		"/proc/self/fd/18/../.bashrc":     "/proc/self/fd/18/../.bashrc",
		"/proc/self/cwd/.bashrc":          "/proc/self/cwd/.bashrc",
		"/proc/self/fd/18/.bashrc/":       "/proc/self/fd/18/.bashrc/",
		"../.bashrc":                      "../.bashrc",
		"/proc/self/fd/18/.bash\u202erc":  "/proc/self/fd/18/.bash\u202erc",
		"/proc/self/fd/18/../../.bashrc/": "/proc/self/fd/18/../../.bashrc/",
	} {
		if got := askedAs(wire.Approval{Target: "/home/ana/.bashrc", AskedAs: asked}); got != want {
			t.Errorf("%q is shown as %q, want %q", asked, got, want)
		}
	}
}
