//go:build docker

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestAccessFromInside has programs in real containers try every cell of the table of
// accesses: what stands at the agent's folder and beside it, and what can be written.
func TestAccessFromInside(t *testing.T) {
	t.Parallel()
	const try = `for d in %s /agent; do
  if ! grep -q " $d " /proc/self/mounts; then echo "$d absent"; continue; fi
  echo "$d $(cat $d/SOUL.md 2>/dev/null || echo none) $([ -e $d/main.go ] && echo original || echo copy) $(touch $d/written 2>/dev/null && echo written || echo refused)"
done; echo "in $(pwd)"`
	for _, tc := range []struct {
		layout, access string
		want           []string // %s is the agent's folder
		written        bool     // in the original
	}{
		{"workspace", "none", []string{"%s personality copy written", "/agent absent"}, false},
		{"workspace", "ro", []string{"%s personality copy refused", "/agent personality original refused"}, false},
		{"workspace", "rw", []string{"%s personality original written", "/agent absent"}, true},
		{"mirror", "none", []string{"%s personality copy written", "/agent absent"}, false},
		{"mirror", "ro", []string{"%s personality original refused", "/agent absent"}, false},
		{"mirror", "rw", []string{"%s personality original written", "/agent absent"}, true},
	} {
		t.Run(tc.layout+" "+tc.access, func(t *testing.T) {
			c := newCaller(t)
			h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k",
				"workspace_layout":%q,"workspace_access":%q}`, c.port, tc.layout, tc.access))
			s := h.serve()
			work := t.TempDir()
			for name, text := range map[string]string{"SOUL.md": "personality", "main.go": "package main"} {
				if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			ch, at := s.add(work), work
			if tc.layout == "workspace" {
				at = "/workspace"
			}
			c.steps["try"] = []step{bash(fmt.Sprintf(try, at))}
			run := s.prompt(ch, "Do-try")
			got := strings.Join(results(s.finished(ch, run), run), "\n")
			for _, want := range append(tc.want, "in %s") {
				if want = strings.ReplaceAll(want, "%s", at); !strings.Contains(got, want) {
					t.Errorf("%q is not in %s", want, got)
				}
			}
			if _, err := os.Stat(filepath.Join(work, "written")); errors.Is(err, fs.ErrNotExist) == tc.written {
				t.Errorf("the original was written: %v", err)
			}

			filesOf(t, s, ch, at, work, strings.HasSuffix(tc.want[0], "written"), tc.written)
			if tc.access == "none" {
				broughtOver(t, h, s, ch, work)
			}

			// A terminal sees the same, and a second run goes on with the conversation.
			var term core.TerminalInfo
			s.must("Terminals.Create", &term, core.TerminalSpec{ChannelID: ch, Plain: true, Cols: 80, Rows: 24, Cmd: []string{"true"}})
			c.steps["again"] = []step{bash("true")}
			page := s.finished(ch, s.prompt(ch, "Do-again"))
			if strings.Contains(strings.Join(kept(page, page.Events[len(page.Events)-1].RunID, core.EventNotice), " "), "no longer kept") {
				t.Error("the second run has forgotten the first")
			}
			if n := len(h.containers()); n != 1 && tc.access != "none" {
				t.Errorf("%d containers", n)
			}
		})
	}
}

// filesOf goes through the file bridge, which may do what the container's programs may.
func filesOf(t *testing.T, s *server, ch core.ChannelID, at, work string, writable, original bool) {
	t.Helper()
	read := func(path, want string) {
		t.Helper()
		var c core.FileContent
		if err := s.call("Files.Read", &c, ch, path, 100); err != nil || !strings.HasPrefix(string(c.Data), want) {
			t.Errorf("%s: %q %v", path, c.Data, err)
		}
	}
	put := func(path string, ok bool) {
		t.Helper()
		if err := s.call("Files.Write", nil, ch, path, []byte("by the bridge"), ""); (err == nil) != ok {
			t.Errorf("write %s: %v", path, err)
		}
	}
	read(at+"/SOUL.md", "personality")
	read("SOUL.md", "personality")
	put(at+"/bridged", writable)
	if _, err := os.Stat(filepath.Join(work, "bridged")); (err == nil) != original {
		t.Errorf("in the original: %v", err)
	}
	read("/etc/os-release", "PRETTY_NAME")
	put("/etc/made", false)
	put("/tmp/made", true)
	read("/tmp/made", "by the bridge")
	var l core.FileListing
	s.must("Files.List", &l, ch, "/")
	if l.HostPath != "" || len(l.Files) < 10 {
		t.Errorf("%+v", l)
	}
}

// broughtOver has what the agent made come into the original and go again, by the commands.
func broughtOver(t *testing.T, h *home, s *server, ch core.ChannelID, work string) {
	t.Helper()
	at := filepath.Join(work, "written")
	h.run("workspace", "promote", "written", "--channel", string(ch))
	if _, err := os.Stat(at); err != nil {
		t.Error(err)
	}
	var trash []core.TrashedCopy
	if s.must("Workspaces.Trash", &trash); len(trash) != 1 {
		t.Fatalf("the trash has %+v", trash)
	}
	h.run("workspace", "restore", trash[0].ID)
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was not taken back: %v", err)
	}
	var gone core.TrashedCopy
	s.must("Workspaces.Anew", &gone, ch)
	if gone.Files == 0 {
		t.Errorf("%+v", gone)
	}
}
