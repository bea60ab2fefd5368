//go:build linux

package spawn

import (
	"slices"
	"testing"

	"loop/backend/wire"
)

func TestEnvironment(t *testing.T) {
	base := BaseEnv([]string{"PATH=/bin", "CHOWN_PATHS=/x", "LOOP_AGENT_UID=1", "LOOP_AGENT_GID=1", "LOOP_AGENT_USER=u", "CHANNEL_ID=c", "broken", "=x"}, "u", "/home/u")
	want := []string{"PATH=/bin", "CHANNEL_ID=c", "USER=u", "LOGNAME=u", "HOME=/home/u"}
	if !slices.Equal(base, want) {
		t.Errorf("base %q", base)
	}
	asked := []string{"PATH=/own", "A=1", "A=2"}
	want = []string{"CHANNEL_ID=c", "USER=u", "LOGNAME=u", "HOME=/home/u", "PATH=/own", "A=2"}
	if got := mergeEnv(base, wire.Spawn{Stdio: wire.StdioPipes, Env: asked}); !slices.Equal(got, want) {
		t.Errorf("merged %q", got)
	}
	for _, c := range []struct{ base, asked, want []string }{
		{want: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}},
		{base: []string{"TERM=linux", "LANG=de_DE.UTF-8"}, want: []string{"LANG=de_DE.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor"}},
		{base: []string{"LC_ALL=C"}, asked: []string{"TERM=vt100"}, want: []string{"LC_ALL=C", "COLORTERM=truecolor", "TERM=vt100"}},
	} {
		if got := mergeEnv(c.base, wire.Spawn{Stdio: wire.StdioPTY, Env: c.asked}); !slices.Equal(got, c.want) {
			t.Errorf("terminal over %q with %q: %q", c.base, c.asked, got)
		}
	}
}
