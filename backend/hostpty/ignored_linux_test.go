package hostpty

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestSignalsAreHeard: Loop may have been started by nohup. Ignored signals are a state
// of the whole process, so the test uses a process of its own.
func TestSignalsAreHeard(t *testing.T) {
	const inside = "LOOP_TEST_IGNORES"
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `trap '' HUP INT; exec "$0" -test.run '^TestSignalsAreHeard$' -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), inside+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestSignalsAreHeard") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	// The test looks at these two only, since its own parent may ignore others.
	ignored := func(line string) uint64 {
		mask, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(line, "SigIgn:")), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return mask & (1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGINT-1))
	}
	own, err := exec.CommandContext(t.Context(), "grep", "SigIgn", "/proc/self/status").Output()
	if err != nil || ignored(string(own)) != 3 {
		t.Fatalf("they are not ignored to begin with: %q %v", own, err)
	}
	p, err := Start(Options{Dir: t.TempDir(), Argv: []string{"/bin/sh", "-c", "grep SigIgn /proc/self/status; exec sleep 100000"}})
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(p).ReadString('\n')
	if err != nil || ignored(line) != 0 {
		t.Errorf("%q %v", line, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
