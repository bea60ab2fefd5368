package engine

import (
	"os/exec"
	"strings"
	"testing"

	"loop/backend/core"
)

// The script finds what carries the mark, in every shell that is here, and
// counts the dead and itself out.
func TestSweepScript(t *testing.T) {
	for _, shell := range [][]string{{"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(shell[0]); err != nil {
			t.Logf("no %s here", shell[0])
			continue
		}
		id := core.NewID()
		run := func(signals string, sids ...string) string {
			argv := append(append(shell[1:len(shell):len(shell)], "-c", sweep, "loop-sweep", id, signals), sids...)
			out, err := exec.CommandContext(t.Context(), shell[0], argv...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v %s", shell, err, out)
			}
			return string(out)
		}
		if got := run("TERM"); got != "swept\n" {
			t.Fatalf("%v found %q", shell, got)
		}
		marked := exec.CommandContext(t.Context(), "sleep", "1000")
		marked.Env = []string{"A=multi\nline", terminalMark + "=" + id, "B=1"}
		if err := marked.Start(); err != nil {
			t.Fatal(err)
		}
		if got := run(""); !strings.Contains(got, " sleep\n") || strings.Count(got, "\n") != 2 {
			t.Errorf("%v found %q", shell, got)
		}
		run("HUP TERM CONT")
		if got := run(""); got != "swept\n" { // a dead one nobody has waited for
			t.Errorf("%v still finds %q", shell, got)
		}
		_ = marked.Wait()
	}
}
