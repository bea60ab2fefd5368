package hostpty

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEndOfProcessesThatHop: each process starts the next and ends. A process that is
// found is gone before the signal reaches it. Their number at any time is bounded.
func TestEndOfProcessesThatHop(t *testing.T) {
	for name, next := range map[string]string{"in their group": `sh "$0" & exit`, "out of their session": `setsid sh "$0" & exit`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := filepath.Join(dir, "hop-here")
			// Each process also ends when this test's process is killed.
			next = fmt.Sprintf("kill -0 %d || exit\n%s\n", os.Getpid(), next)
			if err := os.WriteFile(script, []byte(next), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := Start(Options{Dir: dir, Argv: []string{"sh", "-c", `trap '' HUP TERM INT; for i in 1 2 3 4; do sh "$0" & done; echo ready; sleep 100000`, script}})
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(p).ReadString('\n'); !strings.HasPrefix(line, "ready") {
				t.Fatalf("%q %v", line, err)
			}
			begin := time.Now()
			if err := p.Close(); err != nil {
				t.Errorf("%v", err)
			}
			t.Logf("ended in %v", time.Since(begin))
			// They end when their script is removed.
			defer os.Remove(script)
			for range 5 {
				if left := running(t, script); len(left) > 0 {
					t.Fatalf("left: %q", left)
				}
			}
		})
	}
}
