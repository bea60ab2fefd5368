//go:build unix

package hostfacts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// TestBindThatIsSwapped: while somebody swaps an agent's bind for links to what no container
// may see, as fast as they can, no spec that passes the last look names anything but the bind
// itself. What is bound then is what stands at that name, and the registry holds agents still
// from the last look to the start.
func TestBindThatIsSwapped(t *testing.T) {
	_, h, home := resolved(t)
	project := filepath.Join(home, "code", "proj")
	out, ssh := filepath.Join(project, "out"), filepath.Join(home, ".ssh")
	for _, dir := range []string{out, ssh, filepath.Join(home, "outside")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	must(t, os.Symlink(ssh, filepath.Join(project, "evil")))
	must(t, os.Symlink(filepath.Join(home, "outside"), filepath.Join(project, "lost")))
	agents := core.SettingsOrigin{Layer: core.LayerAgents, Path: filepath.Join(home, ".loop", "config.json"), Line: 3}
	settings := sandbox.Settings{
		Access: sandbox.Setting[string]{Value: sandbox.AccessRW}, Network: sandbox.Setting[string]{Value: "bridge"}, Agent: "main",
		Scope:    sandbox.Setting[string]{Value: sandbox.ScopeAgent, From: agents},
		MemoryMB: sandbox.Setting[int]{Value: 2048}, CPUs: sandbox.Setting[float64]{Value: 1}, Pids: sandbox.Setting[int64]{Value: 1024},
		Mounts: []sandbox.Setting[string]{{Value: out + ":/x", From: agents}},
	}
	sub := sandbox.Subject{
		Type: core.TypeAgent, Channel: core.Channel{ID: "chan1", Dir: project}, Image: "loop-agent:latest", ImageID: "sha256:1",
		GuestVolume: "loop-guest-test1", InstallID: "test", NameSuffix: "0a0b0c", Shared: true,
	}
	h.Look = looker()
	spec, _, err := sandbox.Resolve(settings, sub, h)
	must(t, err)
	_, err = Computer{}.Prepare(spec, h)
	must(t, err)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		away := filepath.Join(project, "away")
		for {
			for _, link := range []string{"evil", "lost"} {
				link = filepath.Join(project, link)
				_ = os.Rename(out, away)
				_ = os.Rename(link, out)
				_ = os.Rename(out, link)
				_ = os.Rename(away, out)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	// once resolves and looks a last time, with something done in between.
	once := func(between func()) (bound, skipped bool) {
		h.Look = looker()
		spec, _, err := sandbox.Resolve(settings, sub, h)
		must(t, err)
		at := slices.IndexFunc(spec.Mounts, func(m core.Mount) bool { return m.Target == "/x" })
		if at < 0 {
			return false, true
		}
		if err := sandbox.Validate(spec, h); err != nil {
			t.Error(err)
		}
		between()
		if err := Unmoved(spec); err != nil {
			return false, false
		}
		if spec.Mounts[at].Source != out {
			t.Errorf("bound: %+v", spec.Mounts[at])
		}
		return true, false
	}
	for range 1000 {
		once(func() {})
	}
	close(stop)
	<-done
	if bound, _ := once(func() {}); !bound {
		t.Error("what nobody swaps is not bound")
	}
	for _, link := range []string{"evil", "lost"} {
		link, away := filepath.Join(project, link), filepath.Join(project, "away")
		swap := func() { must(t, os.Rename(out, away)); must(t, os.Rename(link, out)) }
		if bound, skipped := once(swap); bound || skipped {
			t.Errorf("swapped before the last look: bound %v, left out %v", bound, skipped)
		}
		if _, skipped := once(func() {}); !skipped {
			t.Errorf("swapped before it was resolved, and not left out")
		}
		must(t, os.Rename(out, link))
		must(t, os.Rename(away, out))
	}
}
