//go:build claude

package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/demo"
)

// These tests use the real Claude Code (LOOP_CLAUDE_BIN, else “claude” on PATH) on the
// scripted model. The model's answer repeats the prompt and the one before it.

type claude struct {
	*testing.T
	*rig
	bin, url string
}

type answer struct {
	Type      string   `json:"type"`
	UUID      string   `json:"uuid"`
	SessionID string   `json:"session_id"`
	IsError   bool     `json:"is_error"`
	Result    string   `json:"result"`
	Errors    []string `json:"errors"`
	said      string   // uuid of the last answer in the stream
}

func newClaude(t *testing.T) *claude {
	t.Helper()
	bin := os.Getenv("LOOP_CLAUDE_BIN")
	if bin == "" {
		var err error
		if bin, err = exec.LookPath("claude"); err != nil {
			t.Fatal("there is no claude: set LOOP_CLAUDE_BIN, or leave out the build tag claude")
		}
	}
	srv := httptest.NewServer(demo.New(demo.Options{Pace: demo.Instant}))
	t.Cleanup(srv.Close)
	return &claude{T: t, rig: newRig(t), bin: bin, url: srv.URL}
}

// say runs one prompt as the channel, in dir.
func (c *claude) say(ch core.Channel, dir, prompt string, args ...string) answer {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(c.T.Context(), 8*time.Minute)
	defer cancel()
	home := c.T.TempDir()
	state := c.rig.path(ch.StateOwner())
	if err := os.MkdirAll(state, 0o700); err != nil {
		c.T.Fatal(err)
	}
	if err := os.Symlink(state, filepath.Join(home, ".claude")); err != nil {
		c.T.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, c.bin, append(args, "--dangerously-skip-permissions", "--print", "--verbose", "--output-format", "stream-json", "--model", "demo-quick", prompt)...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "IS_SANDBOX=1", "ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=" + c.url,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	out, _ := cmd.Output() // the error of a refusal is in the stream
	var last answer
	said := ""
	for line := range bytes.Lines(out) {
		var a answer
		if json.Unmarshal(line, &a) != nil {
			continue
		}
		switch a.Type {
		case "assistant":
			said = a.UUID
		case "result":
			last = a
		}
	}
	if last.Type == "" {
		c.T.Fatalf("%v: no result in %s", args, out)
	}
	last.said = said
	return last
}

func (c *claude) dir(name string) string {
	c.T.Helper()
	base, err := filepath.EvalSymlinks(c.T.TempDir())
	if err != nil {
		c.T.Fatal(err)
	}
	dir := filepath.Join(base, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		c.T.Fatal(err)
	}
	return dir
}

// TestCopiedTranscriptResumes: worktree channels rely on this.
func TestCopiedTranscriptResumes(t *testing.T) {
	for name, parts := range map[string][2]string{
		"a worktree":    {"my project", "my project/.worktrees/fix-login_x.y"},
		"odd names":     {"ünï cödé 😀", "日本/é"},
		"a hashed name": {"p", strings.Repeat("long-folder-name/", 16) + "end"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClaude(t)
			from, to := core.Channel{ID: "from"}, core.Channel{ID: "to"}
			base := c.dir("x")
			here, there := filepath.Join(base, parts[0]), filepath.Join(base, parts[1])
			for _, d := range []string{here, there} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			first := c.say(from, here, "First prompt")
			id := core.SessionID(first.SessionID)
			if exists, known := c.s.Exists(from, here, id); !exists || !known {
				t.Fatalf("%s is not where it is looked for: %v", id, known)
			}
			if _, err := os.Stat(c.rig.path("from", "projects", folder(here), string(id)+suffix)); err != nil {
				t.Fatalf("the folder has another name: %v", err)
			}

			// A channel with another state does not have the conversation. (In the same
			// state, newer CLIs find it from any directory, older ones do not.)
			if a := c.say(to, there, "Lost", "--resume", string(id)); !a.IsError || !strings.Contains(strings.Join(a.Errors, " "), "No conversation found") {
				t.Errorf("resumed without a copy: %+v", a)
			}
			if err := c.s.Copy(t.Context(), from, to, here, there, id); err != nil {
				t.Fatal(err)
			}
			a := c.say(to, there, "Second prompt", "--resume", string(id))
			if a.IsError || a.SessionID != string(id) || !strings.Contains(a.Result, "Second prompt”, and before that “First prompt”") {
				t.Errorf("%+v", a)
			}
			list, err := c.s.List(t.Context(), core.Channel{ID: "to", SessionID: id})
			if err != nil || len(list) != 1 || list[0].Messages != 4 || list[0].Title != "First prompt" || list[0].Dir != there {
				t.Errorf("%+v, %v", list, err)
			}
			if m, err := c.s.Messages(t.Context(), from, id); err != nil || len(m) != 2 {
				t.Errorf("the original went on: %+v, %v", m, err)
			}
		})
	}
}

// TestForks checks --fork-session and --resume-session-at: a fork may end at each
// message that is listed.
func TestForks(t *testing.T) {
	c := newClaude(t)
	ch, dir := core.Channel{ID: "c"}, c.dir("p")
	one := c.say(ch, dir, "One")
	id := one.SessionID
	two := c.say(ch, dir, "Two", "--resume", id)
	if two.SessionID != id {
		t.Fatalf("resuming gave it another id: %+v", two)
	}
	messages, err := c.s.Messages(t.Context(), ch, core.SessionID(id))
	if err != nil || len(messages) != 4 || messages[1].UUID != one.said || messages[3].UUID != two.said {
		t.Fatalf("the stream's uuids %s and %s are not the transcript's: %+v, %v", one.said, two.said, messages, err)
	}

	fork := c.say(ch, dir, "Three", "--resume", id, "--fork-session")
	if fork.SessionID == id || !strings.Contains(fork.Result, "before that “Two”") {
		t.Errorf("fork: %+v", fork)
	}
	for i, m := range messages {
		a := c.say(ch, dir, "Branch", "--resume", id, "--fork-session", "--resume-session-at", m.UUID)
		before := []string{"One", "One", "Two", "Two"}[i] // by message: a prompt and its answer have the same prompt before them
		if a.IsError || a.SessionID == id || !strings.Contains(a.Result, "before that “"+before+"”") && m.Role == "assistant" {
			t.Errorf("at %+v: %+v", m, a)
		}
	}
	if after, err := c.s.Messages(t.Context(), ch, core.SessionID(id)); err != nil || len(after) != 4 {
		t.Errorf("forks changed the original: %+v, %v", after, err)
	}
	for name, args := range map[string][]string{
		"a message of nowhere": {"--resume", id, "--fork-session", "--resume-session-at", "00000000-0000-4000-8000-000000000000"},
		"a pruned session":     {"--resume", "00000000-0000-4000-8000-000000000000"},
	} {
		if a := c.say(ch, dir, "Nope", args...); !a.IsError {
			t.Errorf("%s: %+v", name, a)
		}
	}
	list, err := c.s.List(t.Context(), ch)
	if err != nil || len(list) != 6 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// TestMessagesAfterCompacting: a fork may end at each message that is listed after
// compacting.
func TestMessagesAfterCompacting(t *testing.T) {
	c := newClaude(t)
	ch, dir := core.Channel{ID: "c"}, c.dir("p")
	one := c.say(ch, dir, "One")
	c.say(ch, dir, "More", "--resume", one.SessionID) // with less text there is nothing to compact
	if a := c.say(ch, dir, "/compact", "--resume", one.SessionID); a.IsError {
		t.Fatalf("%+v", a)
	}
	two := c.say(ch, dir, "Two", "--resume", one.SessionID)
	messages, err := c.s.Messages(t.Context(), ch, core.SessionID(one.SessionID))
	if n := len(messages); err != nil || n < 2 || messages[n-2].Text != "Two" || messages[n-1].UUID != two.said {
		t.Fatalf("%+v, %v", messages, err)
	}
	for _, m := range messages {
		if m.UUID == one.said {
			t.Errorf("listed although it is from before: %+v", m)
		}
		if a := c.say(ch, dir, "Branch", "--resume", one.SessionID, "--fork-session", "--resume-session-at", m.UUID); a.IsError {
			t.Errorf("at %+v: %+v", m, a)
		}
	}
	if a := c.say(ch, dir, "Nope", "--resume", one.SessionID, "--fork-session", "--resume-session-at", one.said); !a.IsError {
		t.Errorf("a message before the compaction can be forked at after all: %+v", a)
	}
}

// TestCut: the CLI takes up a session that was cut before a prompt, also before one after
// which the conversation was compacted.
func TestCut(t *testing.T) {
	c := newClaude(t)
	ch, dir := core.Channel{ID: "c", Dir: ""}, c.dir("p")
	ch.Dir = dir
	one := c.say(ch, dir, "One")
	id := core.SessionID(one.SessionID)
	length, known := c.s.Length(ch, id)
	if !known || length == 0 {
		t.Fatalf("%d %v", length, known)
	}
	if same, err := c.s.Cut(t.Context(), ch, id, length); err != nil || same != id {
		t.Errorf("nothing to cut: %s %v", same, err)
	}
	c.say(ch, dir, "Two", "--resume", string(id))
	c.say(ch, dir, "/compact", "--resume", string(id))
	cut, err := c.s.Cut(t.Context(), ch, id, length)
	if err != nil || cut == id {
		t.Fatalf("%s %v", cut, err)
	}
	a := c.say(ch, dir, "Three", "--resume", string(cut))
	if a.IsError || a.SessionID != string(cut) || !strings.Contains(a.Result, "Three”, and before that “One”") {
		t.Errorf("%+v", a)
	}
	if m, err := c.s.Messages(t.Context(), ch, cut); err != nil || len(m) != 4 {
		t.Errorf("%+v %v", m, err)
	}
}
