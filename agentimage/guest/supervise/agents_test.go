//go:build linux

package supervise

import (
	"os"
	"strings"
	"testing"

	"loop/backend/policy"
)

// stacked is a judge under which files start agents, which another one judges.
type stacked struct {
	rules
	files    []string
	stricter Judge
}

func (s *stacked) Agents() ([]string, Judge) { return s.files, s.stricter }

// TestAgentUnderPerson: what the person starts goes by the person's policy; an agent, by
// whatever name, and all that comes from it, by the agent's.
func TestAgentUnderPerson(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	const agent = `#!/bin/sh
echo "$1" >>secret && echo "$1${2+ $2} wrote"
`
	script := `exec 2>/dev/null
cat >cli <<'END'
` + agent + `END
chmod +x cli; cp cli copy; ln -s cli link; cp /bin/sh program; cp program second
w() { echo person >>secret && echo "person wrote $1"; }
(sleep 100 & echo $! >old); w first
./cli direct; ./link link; ./copy copy; sh cli script; bash ./copy copied-script; ./program -c 'echo x >>secret && echo program wrote'
./second -c 'echo x >>secret && echo second wrote'
./program -c 'sh -c "echo x >>secret && echo child wrote"'
mkfifo fifo done; ./program -c '(sh -c "read x <fifo; echo x >>secret && echo orphan wrote; echo >done" &)'
echo go >fifo; read x <done
./cli mcp add; ./cli mcp list; sh cli mcp add; ./program -c 'true' mcp add && ./cli mcp add
w last; ls >list; echo over
kill $(cat old)`
	judge := func() Judge {
		return &stacked{files: []string{"/nowhere", dir + "/cli", dir + "/program"},
			stricter: &rules{list: []rule{{"", dir + "/secret", policy.Deny}}}}
	}
	got := trace(t, judge(), "shell", script).wait(t)
	// An agent that only writes down what the person has typed is the person's.
	want := "person wrote first\nmcp add wrote\nmcp add wrote\nperson wrote last\nover\nended ok\n"
	if got != want {
		t.Errorf("got %q", got)
	}
	// Without the list everything is the person's.
	control := trace(t, &rules{}, "shell", script).wait(t)
	for _, who := range []string{"direct", "link", "copy", "script", "mcp add", "mcp list", "copied-script", "program", "second", "child", "orphan"} {
		if !strings.Contains(control, who+" wrote\n") {
			t.Errorf("control: %s did not write in %q", who, control)
		}
	}
}
