//go:build docker

package guestlink_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// agents are the two user ids that an agent can have: a person's uid, and 0 where Loop
// runs as root.
var agents = []int{1000, 0}

func eachAgent(t *testing.T, f func(t *testing.T, agent int)) {
	for _, a := range agents {
		t.Run(fmt.Sprintf("agent%d", a), func(t *testing.T) { f(t, a) })
	}
}

func TestAgentHasNoPrivilege(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		if l.Hello().Pid1UID != 64999 {
			t.Fatalf("pid 1 says it is uid %d", l.Hello().Pid1UID)
		}
		out, _ := run(t, l, `cat /proc/1/status`)
		if !strings.Contains(out, "Uid:\t64999\t64999\t64999\t64999") || !strings.Contains(out, "CapEff:\t00000000000800e2") {
			t.Fatalf("pid 1:\n%s", out)
		}
		out, _ = run(t, l, `cat /proc/self/status`)
		for _, want := range []string{
			fmt.Sprintf("Uid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d", agent), "NoNewPrivs:\t1",
			"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		out, _ = run(t, l, `env; ls -l /proc/self/fd`)
		for _, no := range []string{"LOOP_AGENT_UID", "CHOWN_PATHS", "private"} {
			if strings.Contains(out, no) {
				t.Errorf("%q reached the agent:\n%s", no, out)
			}
		}
	})
}

// TestAgentAttacks tries attacks that must fail as the agent. As a user with the right,
// the same attack must succeed, which shows that the attempt is sound. A script prints
// BROKE IN when it succeeds.
func TestAgentAttacks(t *testing.T) {
	attacks := []struct {
		name, script string
		as           string // the user who succeeds: root with the six capabilities, the supervisor, or empty for none
	}{
		{"list private", `ls /run/loop/private && echo BROKE IN`, "64999:64999"},
		{"read spool", `ls /run/loop/private/spool/. && echo BROKE IN`, "0:0"},
		{"connect to init", `perl -MSocket -e 'socket(S,AF_UNIX,SOCK_STREAM,0); connect(S,sockaddr_un("/run/loop/private/init.sock")) and print "BROKE IN"'`, "64999:64999"},
		{"replace private", `mv /run/loop/private /run/loop/other && mv /run/loop/other /run/loop/private && echo BROKE IN`, "64999:64999"},
		{"add to run directory", `touch /run/loop/x && echo BROKE IN; rm -f /run/loop/x`, "64999:64999"},
		{"kill init", `kill -CONT 1 && echo BROKE IN`, "0:0"},
		{"stop keeper", `for p in /proc/[0-9]*; do grep -q '^Uid:.64999' $p/status && [ ${p#/proc/} != 1 ] && kill -CONT ${p#/proc/} && echo BROKE IN; done`, "0:0"},
		{"read memory of init", `head -c1 /proc/1/auxv >/dev/null && echo BROKE IN`, "0:0"},
		{"read environment of init", `cat /proc/1/environ >/dev/null && echo BROKE IN`, "0:0"},
		{"see descriptors of init", `ls /proc/1/fd >/dev/null && echo BROKE IN`, "0:0"},
		{"offer init to the OOM killer", `echo 1 > /proc/1/oom_score_adj && echo 0 > /proc/1/oom_score_adj && echo BROKE IN`, "0:0"},
		{"limit init", `prlimit --pid 1 --nofile=512:512 && echo BROKE IN`, "64999:64999"},
		{"overwrite the binary", `echo >> /opt/loop/bin/loop && echo BROKE IN`, ""},
		{"remove the binary", `rm -f /opt/loop/bin/loop && echo BROKE IN`, ""},
	}
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		for _, a := range attacks {
			if out, _ := run(t, l, a.script); strings.Contains(out, "BROKE IN") {
				t.Errorf("%s: the agent succeeded:\n%s", a.name, out)
			}
			if a.as == "" {
				continue // nobody succeeds, because the volume is read-only
			}
			script := a.script
			if a.name == "stop keeper" {
				script = `kill -CONT 1 && echo BROKE IN` // no keeper lives at this moment, and PID 1 has the same uid
			}
			if out, err := b.sh(t, a.as, script); !strings.Contains(out, "BROKE IN") {
				t.Errorf("%s: the control failed too (%v), so this proves nothing:\n%s", a.name, err, out)
			}
		}
	})
}

// TestEachCapabilityIsNeeded starts containers that lack one capability. loop init must
// report that and end.
func TestEachCapabilityIsNeeded(t *testing.T) {
	for _, missing := range sixCaps {
		t.Run(missing, func(t *testing.T) {
			var caps []string
			for _, c := range sixCaps {
				if c != missing {
					caps = append(caps, c)
				}
			}
			b := newBox(t, boxOptions{agent: 1000, caps: caps})
			if code := docker(t, "wait", string(b.id)); code != "1" {
				t.Fatalf("ended with %s", code)
			}
			log, _ := dockerTry("logs", string(b.id))
			if !strings.Contains(log, "granted?") {
				t.Fatalf("the log does not name the reason:\n%s", log)
			}
		})
	}
}

// TestWhatEachCapabilityIsFor does by hand the thing for which loop init needs a
// capability. It does so as the supervisor's uid, first with all kept capabilities and
// then without that one.
func TestWhatEachCapabilityIsFor(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	id := sleeper(t, l)
	pid := ""
	infos, err := l.Spawns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if i.ID == id {
			pid = fmt.Sprint(i.Pid)
		}
	}
	kept := []string{"setuid", "setgid", "sys_ptrace", "dac_override", "kill"}
	needs := map[string]string{
		"setuid":       `perl -e '$> = 1000; exit($> == 1000 ? 0 : 1)'`,
		"setgid":       `perl -e '$) = "1000 1000"; exit($) =~ /^1000/ ? 0 : 1)'`,
		"sys_ptrace":   `readlink /proc/` + pid + `/exe`,
		"dac_override": `touch /run/loop/private/spool/probe && rm /run/loop/private/spool/probe && ls /run/loop/runs`,
		"kill":         `kill -CONT ` + pid,
	}
	as := func(caps []string, script string) error {
		list := "-all"
		for _, c := range caps {
			list += ",+" + c
		}
		out, err := dockerTry("exec", "-u", "0:0", string(b.id), "setpriv", "--reuid", "64999", "--regid", "64999",
			"--clear-groups", "--inh-caps", list, "--ambient-caps", list, "sh", "-c", script)
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	for _, c := range kept {
		if err := as(kept, needs[c]); err != nil {
			t.Errorf("%s granted: %v", c, err)
		}
		var rest []string
		for _, o := range kept {
			if o != c {
				rest = append(rest, o)
			}
		}
		if err := as(rest, needs[c]); err == nil {
			t.Errorf("%s missing, and %q works all the same", c, needs[c])
		}
	}
}

// rootDialer is an engine whose execs cannot name a user, so each runs as uid 0.
type rootDialer struct{ cliDialer }

func (d *rootDialer) DialExec(ctx context.Context, id core.ContainerID, _ string, argv []string) (io.ReadWriteCloser, error) {
	return d.cliDialer.DialExec(ctx, id, "0:0", argv)
}

// TestLinkStepsDown: a loop link that was started as root carries the link as the
// supervisor, without any capability and without a way back.
func TestLinkStepsDown(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, err := guestlink.Open(t.Context(), &rootDialer{}, b.id, guestlink.Options{HelloTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if out, exit := run(t, l, "id -u"); exit.Code != 0 || strings.TrimSpace(out) != strconv.Itoa(agent) {
			t.Errorf("a spawn over it: %q %+v", out, exit)
		}
		out, err := b.sh(t, "64999:64999", `for p in /proc/[0-9]*; do
  [ "$(tr '\0' ' ' <$p/cmdline)" = "/opt/loop/bin/loop link " ] || continue
  for s in $p/task/*/status; do grep -E '^(Uid|Gid|Groups|CapPrm|CapEff|CapAmb|NoNewPrivs)' $s; done
done`)
		if err != nil {
			t.Fatal(err, out)
		}
		fields := map[string]bool{}
		for line := range strings.Lines(out) {
			fields[strings.Join(strings.Fields(line), " ")] = true
		}
		const none = "0000000000000000"
		want := []string{"Uid: 64999 64999 64999 64999", "Gid: 64999 64999 64999 64999", "Groups:", "CapPrm: " + none, "CapEff: " + none, "CapAmb: " + none, "NoNewPrivs: 1"}
		for _, w := range want {
			if !fields[w] {
				t.Errorf("no %q", w)
			}
		}
		if len(fields) != len(want) {
			t.Errorf("a thread differs:\n%s", out)
		}
	})
}
