package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

func TestRunHuman(t *testing.T) {
	r := newRig(t)
	if code := r.run("run", "--dir", r.dir, "Say", "hello"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	want := "Hello there.\n→ Bash  ls -la\n  one (2 more lines)\n  create /w/a.md (+3 −0)\n  failed: exit 3\n"
	if r.out.String() != want {
		t.Errorf("printed %q, want %q", r.out.String(), want)
	}
	r.wantIn("err", "Starting the container")
	r.wantIn("err", "A mount was skipped.")
	r.wantIn("err", "Done in 1.5 s, 2 turns, $0.01, 4.0 k tokens in (90 % from cache), 50 out, context 42 % full, m.")
	if r.fake.request.Prompt != "Say hello" || r.fake.request.ChannelID != "ch1" || len(r.fake.request.ClientID) != 32 {
		t.Errorf("request %+v", r.fake.request)
	}
	if r.fake.closed != 1 {
		t.Errorf("closed %d times", r.fake.closed)
	}
}

func TestRunJSON(t *testing.T) {
	r := newRig(t)
	if code := r.run("run", "--json", "--demo", "--script", "quick", "--dir", r.dir, "hello"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	lines := r.lines()
	for _, l := range lines[:len(lines)-1] {
		if l["run_id"] != r.fake.request.ClientID || l["seq"] == nil {
			t.Errorf("line of another run, or without a number: %v", l)
		}
	}
	last := lines[len(lines)-1]
	outcome, _ := last["outcome"].(map[string]any)
	if last["type"] != "result" || last["state"] != "done" || outcome["text"] != "Hello there." || outcome["session_id"] != "s1" || last["ended_at"] == nil {
		t.Errorf("last line %v", last)
	}
	if !r.fake.request.Demo || r.fake.request.Script != "quick" {
		t.Errorf("request %+v", r.fake.request)
	}
	if r.err.String() != "" {
		t.Errorf("said %q on standard error", r.err.String())
	}
}

func TestRunFails(t *testing.T) {
	r := newRig(t)
	fail := core.Fail(core.CodeModelAuth, nil, "The model refused the key.", "Set another key.")
	fail.Detail = "line one\x1b[2J\nline two"
	r.fake.prompt = ends(core.RunFailed, fail)
	if code := r.run("run", "--json", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "The model refused the key.\nSet another key.\nDetail: line one␛[2J\n        line two\n")
	lines := r.lines()
	if last := lines[len(lines)-1]; last["type"] != "result" || last["state"] != "failed" {
		t.Errorf("last line %v", last)
	}
	r.fake.prompt = ends(core.RunInterrupted, nil)
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Errorf("interrupted: exit %d", code)
	}
	r.wantIn("err", "The run was interrupted.")
}

func TestRunInput(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		name string
		in   string
		args []string
		code int
		says string
	}{
		{"no such flag", "", []string{"run", "--nope", "x"}, 2, "unknown flag: --nope"},
		{"help of nothing", "", []string{"help", "bogus"}, 2, `there is no command "bogus"`},
		{"help of nothing below a command", "", []string{"help", "auth", "bogus"}, 2, `there is no command "auth bogus"`},
		{"flag without value", "", []string{"run", "--dir"}, 2, "needs an argument"},
		{"no such command", "", []string{"rnu", "x"}, 2, `there is no “loop rnu”`},
		{"both places", "", []string{"run", "--dir", r.dir, "--channel", "a", "x"}, 2, "--channel and --dir do not go together"},
		{"empty prompt", "", []string{"run", "--dir", r.dir, " \n "}, 2, "prompt is empty"},
		{"empty input", "", []string{"run", "--dir", r.dir, "-"}, 2, "prompt is empty"},
		{"no prompt, empty pipe", "", []string{"run", "--dir", r.dir}, 2, "prompt is empty"},
		{"huge prompt", strings.Repeat("x", maxPromptBytes+1), []string{"run", "--dir", r.dir, "-"}, 2, "the limit is 1024 KiB"},
		{"binary prompt", "a\xff\xfe", []string{"run", "--dir", r.dir, "-"}, 2, "not plain text"},
		{"NUL in prompt", "a\x00b", []string{"run", "--dir", r.dir, "-"}, 2, "not plain text"},
		{"empty dir", "", []string{"run", "--dir", "", "x"}, 2, "--dir is empty"},
		{"empty channel", "", []string{"run", "--channel", "", "x"}, 2, "--channel is empty"},
		{"script without demo", "", []string{"run", "--script", "tour", "--dir", r.dir, "x"}, 2, "--script needs --demo"},
		{"no such script", "", []string{"run", "--demo", "--script", "nope", "--dir", r.dir, "x"}, 2, "there are ask, background, browser, error-401"},
		{"no such channel", "", []string{"run", "--channel", "nope", "x"}, 2, `no channel "nope"`},
		{"arguments for serve", "", []string{"serve", "x"}, 2, "too many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.t, r.in = t, c.in
			if code := r.run(c.args...); code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			r.wantIn("err", c.says)
			if r.out.Len() > 0 {
				t.Errorf("printed %q", r.out.String())
			}
			if r.fake.called("Runs.Prompt") {
				t.Error("a prompt was sent")
			}
		})
	}
}

func TestRunPromptFromInput(t *testing.T) {
	r := newRig(t)
	r.in = "  first line\nsecond line\n"
	for _, args := range [][]string{{"run", "--dir", r.dir, "-"}, {"run", "--dir", r.dir}} {
		if code := r.run(args...); code != exitOK || r.fake.request.Prompt != "first line\nsecond line" {
			t.Errorf("%v: exit %d, prompt %q", args, code, r.fake.request.Prompt)
		}
	}
	// A prompt in the arguments wins, and standard input is not read.
	if code := r.run("run", "--dir", r.dir, "argument"); code != exitOK || r.fake.request.Prompt != "argument" {
		t.Errorf("exit %d, prompt %q", code, r.fake.request.Prompt)
	}
	if code := r.run("run", "--dir", r.dir, "--", "--json"); code != exitOK || r.fake.request.Prompt != "--json" {
		t.Errorf("exit %d, prompt %q", code, r.fake.request.Prompt)
	}
}

func TestRunWithPictures(t *testing.T) {
	r := newRig(t)
	one, large := filepath.Join(r.dir, "one.png"), filepath.Join(r.dir, "large.png")
	if err := errors.Join(os.WriteFile(one, []byte("bytes"), 0o600), os.WriteFile(large, make([]byte, core.MaxAttachmentBytes+5), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"run", "queue"} {
		args := []string{command, "--dir", r.dir, "--image", one, "--image", one, "what is this"}
		if command == "queue" {
			args = append([]string{"queue", "add"}, args[1:]...)
		}
		if code := r.run(args...); code != exitOK || len(r.fake.request.Attachments) != 2 ||
			!strings.HasSuffix(r.fake.request.Attachments[0].ID, "/bytes") || r.fake.request.Attachments[1].Name != "one.png" {
			t.Errorf("%s: exit %d, %+v", command, code, r.fake.request.Attachments)
		}
		r.fake.request.Attachments = nil
	}
	for name, says := range map[string]string{filepath.Join(r.dir, "none.png"): "cannot be attached", r.dir: "cannot be attached", large: "too large"} {
		if code := r.run("run", "--dir", r.dir, "--image", name, "x"); code == exitOK {
			t.Errorf("%s: exit %d", name, code)
		}
		r.wantIn("err", says)
	}
}

func TestRunDirectories(t *testing.T) {
	r := newRig(t)
	var added string
	r.fake.add = func(dir string) (core.Channel, error) { added = dir; return core.Channel{ID: "ch1"}, nil }
	odd := filepath.Join(r.dir, "it's a “test”\n🌳")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	if code := r.run("run", "--dir", odd, "x"); code != exitOK || added != odd {
		t.Errorf("exit %d, added %q", code, added)
	}
	t.Chdir(r.dir)
	if code := r.run("run", "x"); code != exitOK || !sameFile(t, added, r.dir) {
		t.Errorf("exit %d, added %q, want the current folder", code, added)
	}
	// The demo may use a folder of its own instead. Any other refusal stays a refusal.
	r.fake.add = func(string) (core.Channel, error) {
		return core.Channel{}, core.Fail(core.CodeDir, nil, "The home folder is too much.", "Choose a project.")
	}
	if code := r.run("run", "--demo", "x"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "the demo works in /loop/demo")
	if code := r.run("run", "--demo", "--dir", r.dir, "x"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	if code := r.run("run", "--json", "x"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	if l := r.lines(); len(l) != 1 || l[0]["type"] != "result" || l[0]["state"] != "failed" {
		t.Errorf("lines %v", l)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func TestRunChannel(t *testing.T) {
	r := newRig(t)
	r.fake.channels = []map[string]any{{"channel_id": "ch1", "name": "one"}, {"channel_id": "ch2", "name": "two"}, {"channel_id": "ch3", "name": "two"}}
	for want, id := range map[string]core.ChannelID{"one": "ch1", "ch3": "ch3"} {
		if code := r.run("run", "--channel", want, "x"); code != exitOK || r.fake.request.ChannelID != string(id) {
			t.Errorf("%s: exit %d, channel %s", want, code, r.fake.request.ChannelID)
		}
	}
	if code := r.run("run", "--channel", "two", "x"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "2 channels are called")
}

func TestCannotStart(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = func(*fake, bind.PromptRequest) error {
		return core.Fail(core.CodeNoEngine, nil, "No engine answers.", "Start Docker.")
	}
	if code := r.run("run", "--json", "--dir", r.dir, "x"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "No engine answers.\nStart Docker.")
	if l := r.lines(); len(l) != 1 || l[0]["state"] != "failed" {
		t.Errorf("lines %v", l)
	}
	r.deps.Open = func(context.Context) (Core, error) { return nil, errFake }
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
}

// TestEscapeInjection: output of a container reaches a terminal without control
// sequences.
func TestEscapeInjection(t *testing.T) {
	const evil = "a\x1b]52;c;ZXZpbA==\x07b\u009b31mc\rd\u202ee\x7f\xff"
	r := newRig(t)
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		id := core.RunID(req.ClientID)
		f.publish(core.EventMessageStreaming, id, false, core.MessageStreaming{MsgID: "m", Kind: "text", Delta: evil})
		f.publish(core.EventToolUse, id, true, core.ToolUse{Name: evil, Input: []byte(`{"command":"x\u001b[1my"}`)})
		f.publish(core.EventToolResult, id, true, core.ToolResult{Output: evil})
		f.publish(core.EventThinking, id, true, core.Thinking{Text: evil})
		f.publish(core.EventNotice, id, true, core.Notice{Text: evil})
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunFailed, Failure: &core.Failure{Cause: evil, Remedy: evil, Detail: evil}})
		return nil
	}
	for _, args := range [][]string{{"run", "--dir", r.dir, "x"}, {"run", "--json", "--dir", r.dir, "x"}} {
		r.run(args...)
		for _, s := range []string{r.out.String(), r.err.String()} {
			for i, c := range s {
				if c == utf8Bad || dangerous(c) {
					if c == utf8Bad {
						continue // the replacement for a byte that is not text
					}
					t.Fatalf("%v: %U at %d of %q", args, c, i, s)
				}
			}
		}
	}
	for _, l := range r.lines() {
		if l["type"] == "run.notice" && !strings.Contains(l["data"].(map[string]any)["text"].(string), "\u202e") {
			t.Error("JSON lost a character")
		}
	}
}

const utf8Bad = '\uFFFD'

// TestRunShowsRetries: a person sees why nothing happens while the model cannot be
// reached.
func TestRunShowsRetries(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		f.publish(core.EventActivity, core.RunID(req.ClientID), true, core.Activity{Activity: "api_retry", Description: "The model answered with an error (502)."})
		f.publish(core.EventActivity, core.RunID(req.ClientID), true, core.Activity{Activity: "requesting"})
		return ends(core.RunDone, nil)(f, req)
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "The model answered with an error (502).\n")
}
