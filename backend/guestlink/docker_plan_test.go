//go:build docker

package guestlink_test

import (
	"strings"
	"testing"

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
// in a container that could write it. So a plan is held twice, by this and by its
// read-only mounts. The agent's policy is the control: each try comes through.
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
