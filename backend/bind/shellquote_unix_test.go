//go:build unix

package bind

import (
	"os/exec"
	"testing"

	"loop/backend/core"
)

// FuzzShellQuote lets a shell read quoted paths, and checks that no path leaves the
// mounts.
func FuzzShellQuote(f *testing.F) {
	for _, seed := range []string{"/p/a b", "/p/'", "/p/''", `/p/\'`, "/p/$HOME", "/p/~", "/p/-x", "/p/\u202e", "/p/../q", "/p//./x"} {
		f.Add(seed)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Fatal(err)
	}
	mounts := []core.Mount{{Source: "/p", Target: "/in"}}
	f.Fuzz(func(t *testing.T, host string) {
		at, err := containerPath(mounts, host, false)
		if err != nil {
			return
		}
		if _, ok := below("/in", at, false); !ok {
			t.Fatalf("%q leads to %q", host, at)
		}
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf '<%s>' "+core.ShellQuote(at)).Output()
		if err != nil || string(out) != "<"+at+">" {
			t.Fatalf("%q is read as %q: %v", at, out, err)
		}
	})
}
