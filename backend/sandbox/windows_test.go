package sandbox

import (
	"strings"
	"testing"
)

// TestWindowsPathsAtTheEdges: drive paths map to /<drive>/…. A path without a place in
// a container is refused before the engine is called.
func TestWindowsPathsAtTheEdges(t *testing.T) {
	w := pathStyle{windows: true, fold: true}
	for in, want := range map[string]string{
		`C:\Users\Mira`: "/c/Users/Mira", `c:/Users/Mira/`: "/c/Users/Mira", `C:\`: "/c", `D:\a b\ü`: "/d/a b/ü", `C:\a\..\b\.\c`: "/c/b/c", `C:\..\..\x`: "/c/x", `C:/a\b/c`: "/c/a/b/c", `Z:\x\\y`: "/z/x/y",
	} {
		if !w.abs(in) || ContainerPath("windows", in) != want || ContainerPath("windows", w.clean(in)) != want {
			t.Errorf("%q became %q, want %q", in, ContainerPath("windows", in), want)
		}
	}
	for _, in := range []string{`\\server\share\x`, `//server/share`, `\\?\C:\x`, `\\.\pipe\docker_engine`, `\\wsl$\Debian\home`, `C:x`, `C:`, `\x`, `/x`, `x`, ``, `1:\x`, `é:\x`} {
		if w.abs(in) {
			t.Errorf("%q counts as absolute", in)
		}
	}
	win := linuxHost()
	win.OS, win.UID, win.GID, win.Home, win.LoopHome = "windows", -1, -1, `C:\Users\Mira`, `C:\Users\Mira\.loop`
	for _, dir := range []string{`\\server\share\proj`, `C:`, `C:\`, `C:\Windows\System32`, `c:\program files\x`, `C:\Users\MIRA`, `C:\Users\Mira\.LOOP\channels`, `C:\Users`} {
		sub := subject(dir)
		fs := tree{dir: "dir", `C:\Users\Mira\.loop`: "dir", w.clean(dir): "dir"}
		if spec, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, win)); err == nil {
			t.Errorf("%q was accepted as a work directory: %+v", dir, spec.Mounts)
		}
	}
}

func FuzzWindowsPaths(f *testing.F) {
	for _, s := range []string{`C:\a\..\b`, `c:/x`, `\\?\C:\x`, `C:x`, `C:\..`, `C:\a/..\..\b`, `é:\x`, "C:\\a\x00b"} {
		f.Add(s)
	}
	w := pathStyle{windows: true, fold: true}
	f.Fuzz(func(t *testing.T, p string) {
		if !w.abs(p) {
			return
		}
		clean, inside := w.clean(p), ContainerPath("windows", p)
		if w.clean(clean) != clean || !w.abs(clean) || strings.Contains(clean, "/") || strings.Contains(clean+`\`, `\..\`) {
			t.Errorf("%q cleans to %q", p, clean)
		}
		if inside != ContainerPath("windows", clean) || inside[:2] != "/"+strings.ToLower(clean[:1]) || strings.Contains(inside+"/", "/../") || strings.Contains(inside, `\`) {
			t.Errorf("%q maps to %q", p, inside)
		}
		if !w.within(clean[:3], clean) {
			t.Errorf("%q lies outside its drive", clean)
		}
	})
}
