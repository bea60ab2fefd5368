package engine

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestSweepScript: in every shell of this computer, the script finds the processes with
// the mark. It leaves out itself and processes that have ended.
func TestSweepScript(t *testing.T) {
	for _, shell := range [][]string{{"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		for _, how := range []string{"quick", "alone"} {
			sweepScript(t, shell, how)
		}
	}
}

func sweepScript(t *testing.T, shell []string, how string) {
	if _, err := exec.LookPath(shell[0]); err != nil {
		t.Logf("no %s here", shell[0])
		return
	}
	id := core.NewID()
	run := func(signals string, sids ...string) string {
		argv := append(append(shell[1:len(shell):len(shell)], "-c", sweep, "loop-sweep", id, signals, how), sids...)
		out, err := exec.CommandContext(t.Context(), shell[0], argv...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v %s", shell, err, out)
		}
		return strings.Replace(string(out), "unsure\n", "", 1) // other processes end meanwhile
	}
	if got := run("TERM"); got != "swept\n" {
		t.Fatalf("%v found %q", shell, got)
	}
	marked := exec.CommandContext(t.Context(), "cat")
	marked.Env = []string{"A=multi\nline", terminalMark + "=" + id, "B=1"}
	in, err := marked.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := marked.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := marked.Start(); err != nil {
		t.Fatal(err)
	}
	// Once it answers, it is cat with its own name and environment.
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if got := run(""); !strings.Contains(got, " cat\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("%v found %q", shell, got)
	}
	run("HUP TERM CONT")
	deadline := time.Now().Add(time.Minute)
	for got := run(""); got != "swept\n"; got = run("") { // a process that nobody has waited for does not count
		if time.Now().After(deadline) {
			t.Errorf("%v still finds %q", shell, got)
			break
		}
	}
	_ = marked.Wait()
}
