//go:build docker

package guestlink_test

import (
	"fmt"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// agents are the two shapes of an agent: a person's uid, and a root host's.
var agents = []int{1000, 0}

func eachAgent(t *testing.T, f func(t *testing.T, agent int)) {
	for _, a := range agents {
		t.Run(fmt.Sprintf("agent%d", a), func(t *testing.T) { f(t, a) })
	}
}

func TestSpawnPipes(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		if l.Hello().Pid1UID != 64999 {
			t.Fatalf("pid 1 is uid %d", l.Hello().Pid1UID)
		}
		out, exit := run(t, l, `id -u; cat /proc/self/status | grep -E '^(Cap|NoNew|Groups|Uid)'; cat /proc/1/status | grep -E '^(Uid|Cap)'`)
		t.Log(out)
		if exit.Code != 0 || !strings.HasPrefix(out, fmt.Sprintf("%d\n", agent)) {
			t.Fatalf("exit %+v, output %q", exit, out)
		}
		id := core.SpawnID(core.NewID())
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"cat"}, Dir: "/", Stdio: core.StdioPipes, Stdin: []byte("hello, spool"), Spool: true}); err != nil {
			t.Fatal(err)
		}
		if got := string(readAll(t, l, id, "out", 0)); got != "hello, spool" {
			t.Fatalf("read from 0: %q", got)
		}
		if got := string(readAll(t, l, id, "out", 7)); got != "spool" {
			t.Fatalf("read from 7: %q", got)
		}
	})
}
