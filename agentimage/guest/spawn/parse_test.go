//go:build linux

package spawn

import (
	"slices"
	"testing"

	"loop/backend/wire"
)

const statTail = " S 41 42 43 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10"

func TestParseStat(t *testing.T) {
	for name, comm := range map[string]string{
		"plain": "(sh)", "spaces": "(my prog)", "parens": "(a) S 1 (b)", "newline": "(a\nb)", "forged": "() S 1 1 1 1)",
	} {
		p, ok := parseStat(77, []byte("77 "+comm+statTail))
		if !ok || p != (process{pid: 77, ppid: 41, group: 42, session: 43, state: 'S', start: 123456}) {
			t.Errorf("%s: %+v %v", name, p, ok)
		}
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x)", "1 (x) S", "1 (x) SS 1 1", "1 (x) S x" + statTail} {
		if p, ok := parseStat(1, []byte(bad)); ok {
			t.Errorf("%q gave %+v", bad, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("77 (sh)" + statTail))
	f.Add([]byte("1 ()) Z 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, ok := parseStat(5, data); ok && (p.pid != 5 || p.ppid < 0) {
			t.Fatalf("%+v", p)
		}
	})
}

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
