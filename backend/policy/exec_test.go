package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestUnwrap(t *testing.T) {
	for line, want := range map[string]string{
		"env -u BAR FOO=1 rm -r /x":                       "rm -r /x",
		"env -S|rm -r /x":                                 "rm -r /x",
		"/usr/bin/env -C /tmp rm x":                       "rm x",
		"nice -n 5 rm x":                                  "rm x",
		"nice -5 rm x":                                    "rm x",
		"nohup setsid -f rm x":                            "rm x",
		"timeout -k 5 --signal=KILL 10 rm x":              "rm x",
		"timeout --kill-after 5 10 rm x":                  "rm x",
		"stdbuf -oL -e 0 rm x":                            "rm x",
		"ionice -c2 -n 7 rm x":                            "rm x",
		"chrt -f 10 rm x":                                 "rm x",
		"taskset -c 0,1 rm x":                             "rm x",
		"time -f %e rm x":                                 "rm x",
		"xargs -0 -n 1 rm -r":                             "rm -r",
		"sudo -u ada rm x":                                "rm x",
		"busybox rm x":                                    "rm x",
		"/lib64/ld-linux-x86-64.so.2 --argv0 a /bin/rm x": "/bin/rm x",
		"sh -c|rm -r /x":                                  "rm -r /x",
		"-bash -lc|exec rm -r /x":                         "rm -r /x",
		"bash -e -o pipefail -c|A=1 'rm' \"-r\" /x":       "rm -r /x",
		"bash -c|timeout 5 env rm x":                      "rm x",
		// What is not plain stays what it is.
		"bash -c|rm x; rm y": "bash -c rm x; rm y",
		"bash -c|rm $X":      "bash -c rm $X",
		"bash -c|rm *":       "bash -c rm *",
		"bash -c|rm 'x":      "bash -c rm 'x",
		"bash script.sh rm":  "bash script.sh rm",
		"bash -c":            "bash -c",
		"bash":               "bash",
		"timeout 5":          "timeout 5",
		"env":                "env",
		"env -u":             "env -u",
		"ls env rm":          "ls env rm",
	} {
		plain, script, has := strings.Cut(line, "|")
		argv := strings.Fields(plain)
		if has {
			argv = append(argv, script)
		}
		chain := unwrap(Command{Argv: argv})
		if got := strings.Join(chain[len(chain)-1].Argv, " "); got != want {
			t.Errorf("%s runs %q, want %q", line, got, want)
		}
	}
}

func TestUnwrapEnds(t *testing.T) {
	argv := slices.Repeat([]string{"nohup"}, 1000)
	if n := len(unwrap(Command{Argv: argv})); n > maxWrappers+1 {
		t.Errorf("a chain of %d", n)
	}
	for _, c := range []Command{{}, {Path: "/"}, {Argv: []string{""}}, {Path: "/bin/env", Argv: []string{"x", "rm"}}} {
		unwrap(c)
	}
}

func TestExec(t *testing.T) {
	e := compiled(t, Policy{DefaultDecision: Approve, CommandRules: []CommandRule{
		{ID: "ls", Commands: []string{"ls", "cat"}, Decision: Allow},
		{ID: "rm", Commands: []string{"r{m,mdir}"}, Decision: Deny},
		{ID: "push", Commands: []string{"git"}, ArgsPatterns: []string{`^push\b`, `--force`}, Decision: Deny},
		{ID: "git", Commands: []string{"git"}, Decision: Allow},
		{ID: "python", Commands: []string{"python3*"}, ArgsPatterns: []string{`^-V$`}, Decision: Allow},
	}})
	long := strings.Repeat("x", maxArguments)
	for _, c := range []struct {
		path string
		argv []string
		want string
	}{
		{"/bin/ls", []string{"ls"}, "ls"},
		{"/bin/other", []string{"/bin/rm"}, "rm"}, // either name counts
		{"/tmp/evil", []string{"ls"}, ""},         // but not to allow it
		{"/bin/ls", []string{"evil"}, ""},
		{"/bin/cat", []string{"ls"}, "ls"},
		{"/bin/rm", []string{"other"}, "rm"},
		{"/bin/x", []string{"x"}, ""},
		{"", []string{"-cat"}, "ls"}, // a login shell's name
		{"/usr/bin/git", []string{"git", "status"}, "git"},
		{"/usr/bin/git", []string{"git", "push", "origin"}, "push"},
		{"/usr/bin/git", []string{"git", "status", long}, "push"}, // too long to look at: what denies matches
		{"/usr/bin/python3.12", []string{"python3", "-V"}, "python"},
		{"/usr/bin/python3.12", []string{"python3", long}, ""},
		{"/usr/bin/env", []string{"env", "A=1", "ls"}, "ls"}, // env itself is not asked about
		{"/usr/bin/env", []string{"env", "rm", "x"}, "rm"},
		{"/bin/sh", []string{"sh", "-c", "ls -l"}, "ls"},
		{"/bin/rm", nil, "rm"},
		{"", nil, ""},
	} {
		if got := e.Exec(Command{Path: c.path, Argv: c.argv}); got.Rule != c.want {
			t.Errorf("%s %.60q: by %q, want %q", c.path, c.argv, got.Rule, c.want)
		}
	}
	wrapped := compiled(t, Policy{DefaultDecision: Allow, CommandRules: []CommandRule{
		{ID: "nohup", Commands: []string{"nohup"}, Decision: Approve}, {ID: "ls", Commands: []string{"ls"}, Decision: Allow},
	}})
	if v := wrapped.Exec(Command{Path: "/usr/bin/nohup", Argv: []string{"nohup", "ls"}}); v.Rule != "nohup" {
		t.Errorf("a rule for the wrapper itself: %+v", v)
	}
}

func TestRemovalOfFolders(t *testing.T) {
	e := compiled(t, shipped(t, NameAgent))
	for line, want := range map[string]Decision{
		"rm -rf node_modules":                   Allow,
		"rm -rf ./build ../x":                   Allow, // where that leads, no text says
		"rm -rf /home/ada/src/app/build":        Allow,
		"rm -rf /home/ada/src/app/build /tmp/x": Allow,
		"rm -r -f -- /tmp/a /var/tmp/b":         Allow,
		"rm -rf /work trees/two/x":              Allow, // the arguments are joined by spaces
		"rm /etc/passwd":                        Allow, // files are the file rules' matter
		"rm -rf /":                              Deny,
		"rm -rf /*":                             Deny,
		"rm -fr /home/ada":                      Deny,
		"rm -rf /home/ada/src/app":              Deny, // the project itself
		"rm -rf /home/ada/src/app/":             Deny,
		"rm -rf /home/ada/src/app/../..":        Deny,
		"rm -rf /home/ada/src/app/..":           Deny,
		"rm -rf /home/ada/src/app2":             Deny,
		"rm -rf /tmp":                           Deny,
		"rm -rf /tmp/x /usr":                    Deny,
		"rm -rf /tmp/x -- /usr":                 Deny,
		"rm /usr -r":                            Deny,
		"rm --recursive /usr":                   Deny,
		"rm --rec /usr":                         Deny,
		"rm /usr --recursive":                   Deny,
		"rm -v -R x /usr":                       Deny,
		"timeout 5 rm -rf /usr":                 Deny,
		"rm -rf /tmp/..a/.b":                    Allow,
		"rm -rf /tmp/.. /tmp/a":                 Deny,
	} {
		argv := strings.Fields(line)
		if got := e.Exec(Command{Path: "/usr/bin/" + argv[0], Argv: argv}); got.Decision != want {
			t.Errorf("%s: %s by %q, want %s", line, got.Decision, got.Rule, want)
		}
	}
	if v := e.Exec(Command{Path: "/bin/rm", Argv: []string{"rm", "-rf", "x\n", "/usr"}}); v.Decision != Deny {
		t.Errorf("behind a newline: %+v", v)
	}
}

// TestExecMatters: where it says no, no command is judged otherwise than allow.
func TestExecMatters(t *testing.T) {
	rm := CommandRule{Commands: []string{"rm"}, Decision: Deny}
	all := CommandRule{Decision: Allow}
	for name, c := range map[string]struct {
		p    Policy
		want bool
	}{
		"no rule":             {Policy{DefaultDecision: Allow}, false},
		"a default that asks": {Policy{DefaultDecision: Approve}, true},
		"one that denies":     {Policy{DefaultDecision: Allow, CommandRules: []CommandRule{rm}}, true},
		"behind all":          {Policy{DefaultDecision: Deny, CommandRules: []CommandRule{all, rm}}, false},
		"before all":          {Policy{DefaultDecision: Allow, CommandRules: []CommandRule{rm, all}}, true},
		"tightened":           {Policy{DefaultDecision: Allow, Tighten: []Policy{{CommandRules: []CommandRule{rm}}}}, true},
		"tightened in vain":   {Policy{DefaultDecision: Allow, Tighten: []Policy{{CommandRules: []CommandRule{all}}}}, false},
	} {
		e, err := Compile(c.p)
		if err != nil {
			t.Fatal(err)
		}
		if e.ExecMatters() != c.want {
			t.Errorf("%s: %v", name, e.ExecMatters())
		}
		v := e.Exec(Command{Path: "/bin/rm", Argv: []string{"rm", "-r", "/"}})
		if (v.Decision == Allow) == c.want {
			t.Errorf("%s: rm is %v", name, v.Decision)
		}
	}
}
