//go:build docker

package guestlink_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
)

// profile is a seccomp profile of the engine that lets everything pass but one call, and
// returns the arguments of docker create that name it.
func profile(t *testing.T, rule map[string]any) []string {
	t.Helper()
	doc, err := json.Marshal(map[string]any{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []any{rule}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(file, doc, 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"--security-opt", "seccomp=" + file}
}

// probedGate notes what starts have shown.
type probedGate struct {
	watchedGate
	mu   sync.Mutex
	told []error
}

func (g *probedGate) Probed(err error, _ bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = append(g.told, err)
}

// TestNothingRunsWithoutTheGate: where the kernel has no filters, does not know the flags
// that the gate needs, or something keeps the supervisor from hearing of a call, a program
// with a policy does not start. It is never let go without. The refusal says why, and that
// only the person's own settings do without the gate.
func TestNothingRunsWithoutTheGate(t *testing.T) {
	const (
		notifRecv = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
		flags     = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	)
	call := func(name string, errno unix.Errno, args ...any) map[string]any {
		return map[string]any{"names": []string{name}, "action": "SCMP_ACT_ERRNO", "errnoRet": int(errno), "args": args}
	}
	equal := func(index int, value uint64) map[string]any {
		return map[string]any{"index": index, "value": value, "op": "SCMP_CMP_EQ"}
	}
	for name, c := range map[string]struct {
		rule map[string]any
		says string
	}{
		"no filters":  {call("seccomp", unix.ENOSYS), "Linux 5.19"},
		"older flags": {call("seccomp", unix.EINVAL, equal(1, flags)), "Linux 5.19"},
		// As the kernel does, which looks for the program before it looks for a listener.
		"another listener":  {call("seccomp", unix.EBUSY, equal(1, flags), map[string]any{"index": 2, "value": 0, "op": "SCMP_CMP_NE"}), "for a supervisor of its own"},
		"a refusing module": {call("ioctl", unix.EPERM, equal(1, notifRecv)), "do not reach the supervisor"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, boxOptions{agent: 1000, args: profile(t, c.rule)})
			g := &probedGate{}
			l, _ := b.link(t, guestlink.Options{Gate: g})
			_, err := l.Spawn(t.Context(), core.SpawnRequest{
				ID: "gated", Argv: []string{"sh", "-c", "echo ran > /tmp/ran"}, Dir: "/tmp", Stdio: core.StdioPipes,
				Policy: ruled(policy.Deny), PolicyVersion: 1,
			})
			f := core.AsFailure(err)
			if err == nil || f.Code != core.CodeForbidden || !strings.Contains(f.Cause, c.says) ||
				!strings.Contains(f.Remedy, "gates.agentgate.enabled to false in your own settings") {
				t.Errorf("%v, %q, %q", err, f.Cause, f.Remedy)
			}
			if len(g.told) != 1 || g.told[0] == nil {
				t.Errorf("the gate was told %v", g.told)
			}
			out, _ := run(t, l, "cat /tmp/ran || echo nothing ran")
			if !strings.HasSuffix(out, "nothing ran\n") {
				t.Errorf("%q", out)
			}
		})
	}
}
