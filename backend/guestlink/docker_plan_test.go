//go:build docker

package guestlink_test

import (
	"io"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
)

// planTries are writes of every kind in /project, each of which prints its name if it came
// through, and then writes that a run that plans may make.
const planTries = `cd /project
try() { name=$1; shift; "$@" 2>/dev/null && echo "project $name"; }
try write sh -c 'echo x >> there'
try create sh -c 'echo x > new'
try truncate truncate -s 0 there
try open perl -e 'open(my $f, "+<", "there") or exit 1'
try mkdir mkdir folder
try mkfifo mkfifo fifo
try symlink ln -s there symbolic
try link ln there second
try rename mv there elsewhere
try over mv /tmp/mine there
try chmod chmod 777 there
try touch touch -d yesterday there
try rm rm -f there gone
try rmdir rmdir empty
for f in /tmp/t /dev/null ~/.claude/state ~/.cache/x; do mkdir -p $(dirname $f) && echo x > $f && echo "own $f"; done
true`

// TestPlanPolicyAlone: the policy of a run that plans refuses every change of the project
// in a container that could write it, which is where it plans once the gate was seen to
// hold. The agent's policy is the control: each try comes through.
func TestPlanPolicyAlone(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, args: []string{"--tmpfs", "/project:mode=1777"}})
	l, _ := b.link(t, guestlink.Options{})
	doc := func(name string) []byte {
		p, err := policy.Baseline(name, policy.Place{Home: home + "/home", Workspaces: []string{"/project"}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Encode()
	}
	runs := func(name string) (project, own int) {
		runGated(t, l, doc(policy.NameAgent), "export HOME=/tmp/home; mkdir -p $HOME; cd /project; rm -rf *; echo one > there; echo two > /tmp/mine; mkdir empty")
		out := runGated(t, l, doc(name), "export HOME=/tmp/home\n"+planTries)
		t.Logf("%s:\n%s", name, out)
		return strings.Count(out, "project "), strings.Count(out, "own ")
	}
	if project, own := runs(policy.NamePlan); project != 0 || own != 4 {
		t.Errorf("a plan: %d writes to the project, %d to its own", project, own)
	}
	if out := runGated(t, l, doc(policy.NamePlan), "cd /project; ls -A | tr '\\n' ' '; cat there; stat -c %a there"); out != "empty there one\n644\n" {
		t.Errorf("after the plan: %q", out)
	}
	if project, own := runs(policy.NameAgent); project != strings.Count(planTries, "\ntry ") || own != 4 {
		t.Errorf("the control: %d writes to the project, %d to its own", project, own)
	}
}

// servesShell is an agent's program with everything that another one could act through: it
// runs what it is sent by a socket, and a shell of its reads from a pipe.
const servesShell = `use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new(Local => "/tmp/server", Listen => 5) or die $!;
my $shell = open(my $pipe, "|-", "sh") or die $!;
open my $f, ">", "/tmp/is-at.new"; print $f readlink("/proc/self/fd/0"), "\n$shell\n"; close $f; rename "/tmp/is-at.new", "/tmp/is-at";
$| = 1; print "ready\n"; while (my $c = $s->accept) { my $line = <$c>; system("sh", "-c", $line); print $c "done\n" }`

const actsThrough = `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => "/tmp/server") or exit 1; print $s "touch /project/socket\n"; print <$s>' 2>/dev/null
{ echo typed > $(sed -n 1p /tmp/is-at); } 2>/dev/null && echo terminal
{ echo "touch /project/pipe" > /proc/$(sed -n 2p /tmp/is-at)/fd/0; } 2>/dev/null && echo pipe
ls -A /project`

// TestPlanBesideAnAgent: in one container a run that plans cannot act through an agent, which
// may change the project, nor leave something that does so later. Another agent reaches the
// agent's socket and terminal, and a shell of a person's all of it.
func TestPlanBesideAnAgent(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, args: []string{"--tmpfs", "/project:mode=1777"}})
	l, _ := b.link(t, guestlink.Options{})
	doc := func(name string) []byte {
		p, err := policy.Baseline(name, policy.Place{Home: "/home/agent", Workspaces: []string{"/project"}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Encode()
	}
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"perl", "-e", servesShell}, Dir: "/tmp",
		Stdio: core.StdioPTY, Cols: 80, Rows: 24, Policy: doc(policy.NameAgent), PolicyVersion: 1}); err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), id, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := io.ReadFull(r, make([]byte, len("ready"))); err != nil {
		t.Fatal(err)
	}
	const leaves = `setsid sh -c 'while :; do echo x > /project/late; sleep 0.05; done' >/dev/null 2>&1 </dev/null &`
	if out := runGated(t, l, doc(policy.NamePlan), actsThrough+"\n"+leaves); out != "" {
		t.Errorf("a plan: %q", out)
	}
	const left = `grep -l 'la[t]e' /proc/[0-9]*/cmdline 2>/dev/null; ls -A /project`
	if out := runGated(t, l, doc(policy.NameAgent), left); out != "" {
		t.Errorf("after the plan: %q", out)
	}
	if out := runGated(t, l, doc(policy.NameAgent), actsThrough); out != "done\nterminal\nsocket\n" {
		t.Errorf("another agent: %q", out)
	}
	if out := runGated(t, l, doc(policy.NamePerson), actsThrough); !strings.HasPrefix(out, "done\nterminal\npipe\n") {
		t.Errorf("a person: %q", out)
	}
}
