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
	table := core.NewMountTable([]core.Mount{{Source: "/p", Target: "/in"}}, "linux")
	f.Fuzz(func(t *testing.T, host string) {
		at, err := table.Inside(host)
		if err != nil {
			return
		}
		if _, _, ok := table.At(at); !ok {
			t.Fatalf("%q leads to %q", host, at)
		}
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf '<%s>' "+core.ShellQuote(at)).Output()
		if err != nil || string(out) != "<"+at+">" {
			t.Fatalf("%q is read as %q: %v", at, out, err)
		}
	})
}
