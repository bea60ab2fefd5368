//go:build docker

package guestlink_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
	"loop/backend/wire"
)

// home is the agent's in these containers.
const home = "/tmp"

// ruled is a policy that lets everything pass but writes to .bashrc.
func ruled(d policy.Decision) []byte {
	p := policy.Policy{Name: "agent", DefaultDecision: policy.Allow}
	p.FileRules = []policy.FileRule{{ID: "startup", Paths: []string{home + "/.bashrc"}, Decision: d, Message: "runs in every shell",
		Operations: []policy.Operation{policy.Write, policy.Create, policy.Delete}}}
	return p.Encode()
}

// runGated runs a script under a policy and returns what it printed.
func runGated(t *testing.T, l *guestlink.Link, doc []byte, script string) string {
	t.Helper()
	id := gatedSpawn(t, l, doc, script)
	out := readAll(t, l, id, "out", 0)
	if _, err := l.Wait(t.Context(), id); err != nil {
		t.Fatalf("wait: %v", err)
	}
	if err := l.Forget(t.Context(), id); err != nil {
		t.Fatalf("forget: %v", err)
	}
	return string(out)
}

func gatedSpawn(t *testing.T, l *guestlink.Link, doc []byte, script string) core.SpawnID {
	t.Helper()
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"sh", "-c", "exec 2>&1\n" + script},
		Env: []core.EnvVar{{Name: wire.GateEnabled, Value: "0"}},
		Dir: "/tmp", Stdio: core.StdioPipes, Policy: doc, PolicyVersion: 1}); err != nil {
		t.Fatalf("spawn: %v", err)
	}
	return id
}

// asking lets answer judge what is held until the test ends or stop is called. It returns
// once a question of the container reaches this end.
func asking(t *testing.T, l *guestlink.Link, answer func(context.Context, core.HeldCall) core.Verdict) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reached := make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = l.Questions(ctx, func(ctx context.Context, c core.HeldCall) core.Verdict {
			if strings.HasPrefix(string(c.Spawn), "reaches-") {
				once.Do(func() { close(reached) })
				return core.Verdict{}
			}
			return answer(ctx, c)
		})
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	for i := 0; ; i++ {
		id := core.SpawnID(fmt.Sprint("reaches-", i))
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"sh", "-c", "echo x >> ~/.bashrc"},
			Dir: "/tmp", Stdio: core.StdioPipes, Policy: ruled(policy.Approve), PolicyVersion: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		select {
		case <-reached:
			return stop
		default:
		}
	}
}

const appends = `echo x >> ~/.bashrc && echo CAME THROUGH; cat ~/.bashrc; true`

// TestGateDeniesAndAllows: a supervised program cannot write what its policy denies, and
// does everything else. No variable of a request changes that.
func TestGateDeniesAndAllows(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent, env: []string{wire.GateEnabled + "=1"}})
		l, _ := b.link(t, guestlink.Options{})
		if out := runGated(t, l, ruled(policy.Deny), appends); strings.Contains(out, "CAME THROUGH") || !strings.Contains(out, "ermission denied") {
			t.Errorf("denied: %q", out)
		}
		if out := runGated(t, l, ruled(policy.Allow), appends); !strings.Contains(out, "CAME THROUGH\nx\n") {
			t.Errorf("allowed: %q", out)
		}
		// The program ends with its supervisor, also where loop init did not see that one end.
		prctl := fmt.Sprintf(`perl -e 'my $b = pack("i", 0); syscall(%d, %d, $b); print "ends by ", unpack("i", $b), "\n"'`+"\n", unix.SYS_PRCTL, unix.PR_GET_PDEATHSIG)
		out := runGated(t, l, ruled(policy.Deny), `exec `+prctl)
		if out != "ends by 9\n" {
			t.Errorf("its parent's death: %q", out)
		}
		out = runGated(t, l, ruled(policy.Deny), `echo "$LOOP_GATE_ENABLED $LOOP_GATE_POLICY_FILE"; stat -c '%u %g %a' "$LOOP_GATE_POLICY_FILE"; cat "$LOOP_GATE_POLICY_FILE"
touch $LOOP_GATE_POLICY_FILE.new; rm -f "$LOOP_GATE_POLICY_FILE"; grep -E '^(Seccomp|NoNewPrivs|Umask)' /proc/self/status`)
		for _, want := range []string{"1 /run/loop/gate/", fmt.Sprintf("\n64999 %d 640\n", agent), string(ruled(policy.Deny)), "Seccomp:\t2", "Umask:\t0022"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in %q", want, out)
			}
		}
		if left, err := b.sh(t, "64999:64999", "ls -A /run/loop/gate"); left != "" || err != nil {
			t.Errorf("policies after their spawns: %q %v", left, err)
		}
	})
}

// TestGateRefusesSpawns: in a container of the gate nothing runs without a policy, or
// under one that is wrong.
func TestGateRefusesSpawns(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, env: []string{wire.GateEnabled + "=1"}})
	l, _ := b.link(t, guestlink.Options{})
	req := core.SpawnRequest{ID: "a", Argv: []string{"true"}, Dir: "/", Stdio: core.StdioPipes}
	if _, err := l.Spawn(t.Context(), req); core.AsFailure(err).Code != core.CodeForbidden {
		t.Errorf("no policy: %v", err)
	}
	req.Policy, req.PolicyVersion = []byte(`{"default_decision":"perhaps"`), 1
	if _, err := l.Spawn(t.Context(), req); core.AsFailure(err).Code != core.CodeInvalid || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a wrong one: %v", err)
	}
	req.Policy, req.PolicyVersion = ruled(policy.Allow), 0
	if _, err := l.Spawn(t.Context(), req); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("without a version: %v", err)
	}
	req.PolicyVersion = 1
	if _, err := l.Spawn(t.Context(), req); err != nil {
		t.Errorf("a right one: %v", err)
	}
}

// TestGateAsks: a person's answer decides, once for each call. Without a host, and when
// the link breaks, the answer is no.
func TestGateAsks(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, conn := b.link(t, guestlink.Options{})
	held := make(chan core.HeldCall, 1)
	verdicts := make(chan core.Verdict)
	stop := asking(t, l, func(ctx context.Context, c core.HeldCall) core.Verdict {
		held <- c
		select {
		case v := <-verdicts:
			return v
		case <-ctx.Done():
			return core.Verdict{}
		}
	})
	for _, allow := range []bool{true, false} {
		id := gatedSpawn(t, l, ruled(policy.Approve), appends+"; rm -f ~/.bashrc-; echo end")
		c := <-held
		if c.Spawn != id || c.Kind != wire.KindFile || !strings.Contains(string(c.Detail), home+"/.bashrc") {
			t.Errorf("asked %s", c.Detail)
		}
		verdicts <- core.Verdict{Allow: allow, Text: "the person said so"}
		if out := string(readAll(t, l, id, "out", 0)); strings.Contains(out, "CAME THROUGH") != allow || !strings.Contains(out, "end\n") {
			t.Errorf("answered %v: %q", allow, out)
		}
	}
	id := gatedSpawn(t, l, ruled(policy.Approve), appends+"; echo end")
	<-held
	conn.kill()
	<-l.Done()
	stop()
	l, _ = b.link(t, guestlink.Options{})
	for range 2 { // the one that was held, then one that nobody takes
		if out := string(readAll(t, l, id, "out", 0)); strings.Contains(out, "CAME THROUGH") || !strings.Contains(out, "end\n") {
			t.Errorf("without an answer: %q", out)
		}
		id = gatedSpawn(t, l, ruled(policy.Approve), appends+"; echo end")
	}
}

// TestGatePolicyChangesLive: a policy is in force when SetPolicy has answered.
func TestGatePolicyChangesLive(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"sh", "-c", `while read x; do echo $x 2>&1 >> ~/.bashrc; cat ~/.bashrc; echo "end $x"; done`},
		Dir: "/tmp", Stdio: core.StdioPipes, OpenStdin: true, Policy: ruled(policy.Allow), PolicyVersion: 1}); err != nil {
		t.Fatal(err)
	}
	in, err := l.Stdin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	said := func(x string) string {
		if _, err := fmt.Fprintln(in, x); err != nil {
			t.Fatal(err)
		}
		out := ""
		r, err := l.Read(t.Context(), id, "out", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		for buf := make([]byte, 4096); !strings.Contains(out, "end "+x+"\n"); {
			n, err := r.Read(buf)
			if out += string(buf[:n]); err != nil {
				t.Fatal(out, err)
			}
		}
		return out
	}
	if out := said("one"); !strings.Contains(out, "one\nend one") {
		t.Errorf("%q", out)
	}
	state, err := l.SetPolicy(t.Context(), id, 2, ruled(policy.Deny))
	if err != nil || !state.Enforced || state.Version != 2 {
		t.Fatalf("%+v %v", state, err)
	}
	if out := said("two"); strings.Contains(out, "two\nend two") {
		t.Errorf("%q", out)
	}
	if out, err := b.sh(t, "64999:64999", "cat /run/loop/gate/"+string(id)+".json"); out != string(ruled(policy.Deny)) || err != nil {
		t.Errorf("the file: %q %v", out, err)
	}
	if err := l.Kill(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// TestGateStopDeniesFirst: what a spawn waits for is denied before it is told to stop, and
// nobody is asked for it any more.
func TestGateStopDeniesFirst(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	asked, withdrawn := make(chan struct{}, 8), make(chan struct{}, 8)
	asking(t, l, func(ctx context.Context, _ core.HeldCall) core.Verdict {
		asked <- struct{}{}
		<-ctx.Done()
		withdrawn <- struct{}{}
		return core.Verdict{}
	})
	id := gatedSpawn(t, l, ruled(policy.Approve), `exec perl -e '$SIG{TERM} = sub { exit 3 }; open(F, ">>", "/tmp/.bashrc"); sleep 1 while 1'`)
	<-asked
	if err := l.Kill(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	<-withdrawn
	if e, err := l.Wait(t.Context(), id); err != nil || e.Code != 3 {
		t.Errorf("%+v %v: it did not end by itself", e, err)
	}
}

// TestGateHoldsTheStart: the execution of the program itself may be asked about. The start
// waits for the answer; a denial, or the end of the spawn, is why it fails.
func TestGateHoldsTheStart(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	doc := policy.Policy{DefaultDecision: policy.Allow,
		CommandRules: []policy.CommandRule{{ID: "r", Commands: []string{"true"}, Decision: policy.Approve}}}.Encode()
	asked, verdicts := make(chan core.HeldCall, 1), make(chan bool)
	asking(t, l, func(ctx context.Context, c core.HeldCall) core.Verdict {
		asked <- c
		select {
		case allow := <-verdicts:
			return core.Verdict{Allow: allow}
		case <-ctx.Done():
			return core.Verdict{}
		}
	})
	for _, answer := range []string{"allow", "deny", "kill"} {
		started := make(chan error, 1)
		go func() {
			_, err := l.Spawn(t.Context(), core.SpawnRequest{ID: core.SpawnID(answer), Argv: []string{"true"}, Dir: "/", Stdio: core.StdioPipes, Policy: doc, PolicyVersion: 1})
			started <- err
		}()
		if c := <-asked; c.Kind != wire.KindExec || c.Spawn != core.SpawnID(answer) {
			t.Errorf("%s: asked %+v", answer, c)
		}
		if answer == "kill" {
			if err := l.Kill(t.Context(), "kill"); err != nil {
				t.Error(err)
			}
		} else {
			verdicts <- answer == "allow"
		}
		err := <-started
		if f := core.AsFailure(err); (err == nil) != (answer == "allow") || err != nil && (f.Code != core.CodeForbidden || !strings.Contains(f.Cause, "did not let")) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// TestLostSupervisor: a container does not outlive the supervisor of one of its programs.
func TestLostSupervisor(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	gatedSpawn(t, l, ruled(policy.Deny), "sleep 1000")
	start := time.Now()
	if out, err := dockerTry("exec", "-u", "0:0", string(b.id), "sh", "-c",
		`for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline | grep -q '^loop syscallwrap' && kill -9 ${p#/proc/}; done; true`); err != nil && !strings.Contains(err.Error(), "137") {
		t.Log(err, out) // the container may end before the command does
	}
	if code := docker(t, "wait", string(b.id)); code != "70" {
		t.Errorf("ended with %s", code)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("gone after %v", took)
	}
}

// TestGateAtTheLimitOfProcesses: a program that uses up every process there may be has its
// calls held all the same, and its supervisor lives.
func TestGateAtTheLimitOfProcesses(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	doc := ruled(policy.Deny)
	out := runGated(t, l, doc, `cd /tmp
perl -e 'my @kids; while (1) { my $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } push @kids, $p }
print scalar(@kids) > 50 ? "full\n" : "not full: @kids\n";
for my $i (1..200) { open(my $f, ">", "/tmp/f$i") or print "cannot: $!\n"; print $f "x"; close $f; unlink "/tmp/f$i" or print "stays: $!\n" }
print "CAME THROUGH\n" if open(my $f, ">>", "/tmp/.bashrc"); print "$!\n"; kill 9, @kids; print "end\n"'`)
	if !strings.HasSuffix(out, "full\nPermission denied\nend\n") {
		t.Errorf("%q", out)
	}
	if out := runGated(t, l, doc, "echo well"); out != "well\n" {
		t.Errorf("afterwards: %q", out)
	}
}
