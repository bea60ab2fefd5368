//go:build docker

package guestlink_test

import (
	"fmt"
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
	"loop/backend/wire"
)

// personsRules lets everything pass but, for agents, writes to .bashrc.
func personsRules() []byte {
	agent, err := policy.Parse(ruled(policy.Deny))
	if err != nil {
		panic(err)
	}
	return policy.Policy{Name: policy.NamePerson, DefaultDecision: policy.Allow,
		Agents: &policy.Agents{Files: []string{"/project/cli"}, Policy: agent}}.Encode()
}

// TestAgentInAPlainShell: an agent that a person starts goes by the agent's rules, in the
// guest as it is. A changed copy is not known for one.
func TestAgentInAPlainShell(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent, env: []string{wire.GateEnabled + "=1"}, args: []string{"--tmpfs", "/project:mode=1777,exec"}})
		l, _ := b.link(t, guestlink.Options{})
		out := runGated(t, l, personsRules(), `cd /project; printf '#!/bin/sh\necho "$1" >>~/.bashrc && echo "$1 wrote"\n' >cli; chmod +x cli
exec 2>/dev/null; w() { echo shell >>~/.bashrc && echo shell wrote; }
w; ./cli direct; cp cli other; ./other copied; { cat cli; echo; } >changed; chmod +x changed; ./changed changed; sh -c './cli below'; w`)
		if out != "shell wrote\nchanged wrote\nshell wrote\n" {
			t.Errorf("%q", out)
		}
		// A child beside the agent instead of below it would be the shell's.
		const beside = `#!/usr/bin/perl
my $made = syscall(%d, %d, 0, 0, 0, 0); exit print "no child\n" if $made < 0; exit if $made;
print "a child wrote\n" if open F, ">>", "$ENV{HOME}/.bashrc";
`
		out = runGated(t, l, personsRules(), fmt.Sprintf("cat >/project/cli <<'END'\n"+beside+"END\n", unix.SYS_CLONE, unix.CLONE_PARENT|unix.SIGCHLD)+
			`exec 2>/dev/null; /project/cli; wait`)
		if out != "no child\n" {
			t.Errorf("beside: %q", out)
		}
	})
}

// TestActingThroughAShell: an agent reaches neither the sockets nor the terminal of a
// shell in its container, and another shell does.
func TestActingThroughAShell(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent, env: []string{wire.GateEnabled + "=1"}})
		l, _ := b.link(t, guestlink.Options{})
		id := core.SpawnID(core.NewID())
		const server = `use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Local => "/tmp/server", Listen => 5) or die $!;
open my $f, ">", "/tmp/is-at.new"; print $f readlink("/proc/self/fd/0"), "\n"; close $f; rename "/tmp/is-at.new", "/tmp/is-at"; $| = 1; print "ready\n"; <STDIN>`
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"perl", "-e", server}, Dir: "/tmp",
			Stdio: core.StdioPTY, Cols: 80, Rows: 24, Policy: personsRules(), PolicyVersion: 1}); err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), id, "out", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, len("ready"))); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		const client = `perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => "/tmp/server") ? "connected\n" : "refused\n"' 2>/dev/null
{ echo typed >"$(cat /tmp/is-at)"; } 2>/dev/null && echo opened`
		if out := runGated(t, l, personsRules(), client); out != "connected\nopened\n" {
			t.Errorf("another shell: %q", out)
		}
		if out := runGated(t, l, ruled(policy.Allow), client); out != "refused\n" {
			t.Errorf("an agent: %q", out)
		}
	})
}

// TestCommandsAreHeldToWhatWasJudged: a rule for commands in the guest as it is, with
// scripts and shells as ever.
func TestCommandsAreHeldToWhatWasJudged(t *testing.T) {
	doc := policy.Policy{Name: policy.NameAgent, DefaultDecision: policy.Allow,
		CommandRules: []policy.CommandRule{{ID: "no-id", Commands: []string{"id"}, Decision: policy.Deny}}}.Encode()
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent, env: []string{wire.GateEnabled + "=1"}})
		l, _ := b.link(t, guestlink.Options{})
		out := runGated(t, l, doc, `id >/dev/null 2>&1 || echo no id; ln -s "$(command -v id)" /tmp/who; /tmp/who >/dev/null 2>&1 || echo nor by a link
printf '#!%s\n' "$(command -v id)" >/tmp/script; chmod +x /tmp/script; /tmp/script >/dev/null 2>&1 || echo nor by a script
echo a | tr a b | cat; /nowhere 2>/dev/null; echo $?; (exit 3); echo $?; sleep 100 & p=$!; kill -STOP $p; kill -KILL $p; wait $p 2>/dev/null; echo $?`)
		if out != "no id\nnor by a link\nnor by a script\nb\n127\n3\n137\n" {
			t.Errorf("%q", out)
		}
	})
}
