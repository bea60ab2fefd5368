//go:build docker

package guestlink_test

import (
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// TestUnvisitedContainerEnds: a container that nobody has been linked to for its time ends if
// nothing runs in it, and goes on with whatever a program has left behind, or somebody has
// started through the engine, until that has ended.
func TestUnvisitedContainerEnds(t *testing.T) {
	const limit = 4 * time.Second
	for name, c := range map[string]struct {
		script string // what a program of Loop does before it ends
		exec   string // what a person starts through the engine
		stays  bool
	}{
		"nothing was started":          {"", "", false},
		"nothing is left":              {"sleep 0.1", "", false},
		"a server is left":             {"setsid sleep 1000 >/dev/null 2>&1 </dev/null &", "", true},
		"a grandchild is left":         {"(sh -c 'sleep 1000 & wait' >/dev/null 2>&1 </dev/null &) & ", "", true},
		"a person is in it":            {"", "sleep 1000", true},
		"what is left ends by and by":  {"setsid sleep 8 >/dev/null 2>&1 </dev/null &", "", false},
		"a zombie of docker exec left": {"", "sleep 0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, boxOptions{agent: 1000, env: []string{wire.EndUnvisited + "=4"}})
			link, _ := b.link(t, guestlink.Options{})
			if c.script != "" {
				req := core.SpawnRequest{ID: core.SpawnID(core.NewID()), Argv: []string{"/bin/sh", "-c", c.script}, Dir: "/tmp", Stdio: core.StdioPipes}
				if _, err := link.Spawn(t.Context(), req); err != nil {
					t.Fatal(err)
				}
				if _, err := link.Wait(t.Context(), req.ID); err != nil {
					t.Fatal(err)
				}
				if c.stays || name == "nothing is left" {
					eventually(t, "what it says of the program's tree", func() bool {
						all, err := link.Spawns(t.Context())
						return err == nil && len(all) == 1 && all[0].Gone != c.stays
					})
				}
			}
			if c.exec != "" {
				docker(t, "exec", "-d", string(b.id), "sh", "-c", c.exec)
			}
			// Beside a link it goes on, whatever runs in it.
			<-time.After(2 * limit)
			if !b.runs(t) {
				t.Fatal("it has ended beside a link")
			}
			if err := link.Close(); err != nil {
				t.Fatal(err)
			}
			lost := time.Now()
			for end := lost.Add(patience); b.runs(t) && time.Now().Before(end) && !(c.stays && time.Since(lost) > 3*limit); {
				<-time.After(100 * time.Millisecond)
			}
			switch d := time.Since(lost); {
			case b.runs(t) != c.stays:
				t.Errorf("%s after the last link it runs: %v", d, !c.stays)
			case !c.stays && d < limit-limit/5:
				t.Errorf("it ended %s after the last link", d)
			case !c.stays && docker(t, "inspect", "-f", "{{.State.ExitCode}}", string(b.id)) != "0":
				t.Error("it did not end in order")
			}
		})
	}
}

func (b *box) runs(t *testing.T) bool {
	t.Helper()
	return docker(t, "inspect", "-f", "{{.State.Running}}", string(b.id)) == "true"
}
