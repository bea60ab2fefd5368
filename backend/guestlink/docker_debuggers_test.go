//go:build docker

package guestlink_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
)

// debuggersPolicy is that of limitsPolicy with debuggers.
func debuggersPolicy(t *testing.T) []byte {
	t.Helper()
	p, err := policy.Parse(limitsPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	p.Debuggers = true
	return p.Encode()
}

// tracer runs a command as a debugger does, in perl, and lets it go on at each stop.
func tracer(command string) string {
	return fmt.Sprintf(`perl -e 'if (!($p = fork)) { syscall(%[1]d, 0, 0, 0, 0) == 0 or die "traceme: $!\n"; exec "sh", "-c", $ARGV[0] or die "exec: $!\n" }
while (waitpid($p, 0) == $p && ($? & 0xff) == 0x7f) { syscall(%[1]d, %[2]d, $p, 0, 0) }' %[3]s`,
		unix.SYS_PTRACE, unix.PTRACE_CONT, "'"+command+"'")
}

// seizing tries to debug a process whose number is in $P.
func seizing() string {
	return fmt.Sprintf(`P=$P perl -e 'print syscall(%d, 0x4206, $ENV{P} + 0, 0, 0) == 0 ? "seized\n" : "$!\n"'`, unix.SYS_PTRACE)
}

// TestDebuggersUnderTheGate: with the setting programs of a spawn debug each other. What
// they do to files is asked about as ever, and nothing else is reached.
func TestDebuggersUnderTheGate(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, args: []string{"--tmpfs", "/project:mode=1777,exec"}})
	l, _ := b.link(t, guestlink.Options{})
	var asked atomic.Int64
	asking(t, l, func(context.Context, core.HeldCall) core.Verdict { asked.Add(1); return core.Verdict{} })
	doc := debuggersPolicy(t)
	const eperm = "Operation not permitted"
	other := gatedSpawn(t, l, doc, "exec perl -e 'sleep 1000'")
	all, err := l.Spawns(t.Context())
	i := slices.IndexFunc(all, func(s core.SpawnInfo) bool { return s.ID == other })
	if err != nil || i < 0 {
		t.Fatalf("%+v %v", all, err)
	}
	for name, c := range map[string]struct {
		script, want string
		asks         int64
	}{
		"a traced program":     {tracer("echo traced; exec echo again"), "traced\nagain", 0},
		"one that is denied":   {tracer("id || echo denied"), "sh: 1: id: Permission denied\ndenied", 0},
		"its files":            {tracer("mkdir -p /tmp/home; echo x >>/tmp/home/.bashrc || echo denied"), "sh: 1: cannot create /tmp/home/.bashrc: Permission denied\ndenied", 1},
		"one of its own":       {"sleep 1000 & P=$!; " + seizing() + "; kill $!", "seized", 0},
		"the supervisor":       {"P=$PPID; " + seizing(), eperm, 0},
		"loop init":            {"P=1; " + seizing(), eperm, 0},
		"a program of another": {"P=" + strconv.Itoa(all[i].Pid) + "; " + seizing(), eperm, 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			var said []string
			for line := range strings.Lines(runGated(t, l, doc, c.script)) {
				if !strings.HasPrefix(line, "loop: ") {
					said = append(said, line)
				}
			}
			if got := strings.TrimSpace(strings.Join(said, "")); got != c.want || asked.Load() != c.asks {
				t.Errorf("%d questions, %q", asked.Load(), got)
			}
		})
	}
}
