//go:build claude

package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// These tests run the real Claude Code: LOOP_CLAUDE_BIN, else “claude” on PATH.

// cli is a Claude Code with a home and a work directory of its own.
type cli struct {
	t         *testing.T
	bin       string
	home, dir string
	sent      string // the MCP tool writes its message to this file
	url       string
	env       []string
	mu        sync.Mutex
	seen      []Observation
}

func claudeBin(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("LOOP_CLAUDE_BIN"); bin != "" {
		return bin
	}
	bin, err := exec.LookPath("claude")
	if err != nil {
		t.Fatal("there is no claude: set LOOP_CLAUDE_BIN, or leave out the build tag claude")
	}
	return bin
}

func newCLI(t *testing.T, opts Options) *cli {
	t.Helper()
	bin := claudeBin(t)
	c := &cli{t: t, bin: bin, home: t.TempDir(), dir: filepath.Join(t.TempDir(), "my project")}
	c.sent = filepath.Join(c.home, "sent")
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if opts.Pace == 0 {
		opts.Pace = Instant
	}
	opts.Observe = func(o Observation) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, o)
	}
	srv := httptest.NewServer(New(opts))
	t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

// outcome is what one run of the CLI printed and how it ended.
type outcome struct {
	code   int
	events []map[string]any
	result map[string]any // the last result event
	stderr string
	took   time.Duration
}

func (o outcome) text() string { s, _ := o.result["result"].(string); return s }

func (o outcome) of(kind, subtype string) (out []map[string]any) {
	for _, e := range o.events {
		if e["type"] == kind && (subtype == "" || e["subtype"] == subtype) {
			out = append(out, e)
		}
	}
	return out
}

func (c *cli) run(prompt string, args ...string) outcome {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 8*time.Minute)
	defer cancel()
	return c.runCtx(ctx, prompt, args...)
}

func (c *cli) runCtx(ctx context.Context, prompt string, args ...string) outcome {
	c.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"loop": map[string]any{
		"command": self, "args": []string{}, "env": map[string]string{"LOOP_DEMO_TEST_CHILD": "mcp", "LOOP_DEMO_TEST_SENT": c.sent},
	}}})
	if err != nil {
		c.t.Fatal(err)
	}
	mcpFile := filepath.Join(c.home, "mcp.json")
	if err := os.WriteFile(mcpFile, config, 0o600); err != nil {
		c.t.Fatal(err)
	}
	all := append([]string{"--mcp-config", mcpFile, "--dangerously-skip-permissions"}, args...)
	all = append(all, "--print", "--verbose", "--include-partial-messages", "--output-format", "stream-json", prompt)
	cmd := exec.CommandContext(ctx, c.bin, all...)
	cmd.Dir = c.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "IS_SANDBOX=1", "ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=" + c.url,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=2",
	}, c.env...)
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	runErr := cmd.Run()
	o := outcome{stderr: errs.String(), took: time.Since(began)}
	if e, ok := errors.AsType[*exec.ExitError](runErr); ok {
		o.code = e.ExitCode()
	} else if runErr != nil {
		c.t.Fatal(runErr)
	}
	if d := os.Getenv("LOOP_DEMO_TEST_KEEP"); d != "" {
		name := strings.ReplaceAll(c.t.Name(), "/", "_") + ".jsonl"
		if err := os.WriteFile(filepath.Join(d, name), out.Bytes(), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	sc := bufio.NewScanner(&out)
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		var e map[string]any
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			c.t.Fatalf("line %q: %v", sc.Text(), err)
		}
		o.events = append(o.events, e)
		if e["type"] == "result" {
			o.result = e
		}
	}
	c.t.Logf("exit %d after %v, %d events, stderr %q", o.code, o.took.Round(time.Millisecond), len(o.events), o.stderr)
	return o
}

func TestClaudeTour(t *testing.T) {
	c := newCLI(t, Options{})
	first := c.run("Show me the pear tree")
	if first.code != 0 || first.result["is_error"] != false {
		t.Fatalf("exit %d: %v %s", first.code, first.result, first.stderr)
	}
	if got := first.text(); !strings.Contains(got, "Show me the pear tree") {
		t.Errorf("the result does not quote the prompt: %q", got)
	}
	note, err := os.ReadFile(filepath.Join(c.dir, "hello-from-loop.md"))
	if err != nil || !strings.Contains(string(note), "#") || !strings.Contains(string(note), "     1  sh       #") {
		t.Errorf("the note does not hold what the edited program printed: %v\n%s", err, note)
	}
	if msg, err := os.ReadFile(c.sent); err != nil || !strings.Contains(string(msg), c.dir) {
		t.Errorf("message through MCP: %q %v", msg, err)
	}
	c.noToolErrors(first, 0)

	// The second prompt uses the same session and folder, so the files exist already.
	session, _ := first.result["session_id"].(string)
	second := c.run("demo:tour\nAnd the apple tree", "--resume", session)
	if second.code != 0 {
		t.Fatalf("exit %d: %v %s", second.code, second.result, second.stderr)
	}
	if got := second.text(); !strings.Contains(got, "And the apple tree") || !strings.Contains(got, "Show me the pear tree") {
		t.Errorf("the second result does not quote both prompts: %q", got)
	}
	c.noToolErrors(second, 0)

	// A new session does not know of the files.
	c.noToolErrors(c.run("Once more"), 0)
	for _, o := range c.seen {
		// HEAD opens the connection; a background request makes a title.
		if o.Purpose != "turn" && o.Purpose != "background" && (o.Method != "HEAD" || (o.Path != "/" && o.Path != "/api/hello")) {
			t.Errorf("the CLI asked for something new: %+v", o)
		}
	}
}

// noToolErrors checks that exactly want tool results were errors.
func (c *cli) noToolErrors(o outcome, want int) {
	c.t.Helper()
	n := 0
	for _, e := range o.of("user", "") {
		msg, _ := e["message"].(map[string]any)
		blocks, _ := msg["content"].([]any)
		for _, b := range blocks {
			if m, _ := b.(map[string]any); m["type"] == "tool_result" && m["is_error"] == true {
				n++
				if n > want {
					c.t.Errorf("tool result %v", m["content"])
				}
			}
		}
	}
	if n < want {
		c.t.Errorf("%d tool results were errors, want %d", n, want)
	}
}

func TestClaudeTools(t *testing.T) {
	c := newCLI(t, Options{})
	for _, model := range []string{"claude-opus-4-8", "demo-tools"} {
		o := c.run("demo:tools\ngo", "--model", model)
		if o.code != 0 || !strings.HasPrefix(o.text(), "All tools were called.") {
			t.Fatalf("exit %d: %v", o.code, o.result)
		}
		c.noToolErrors(o, 1) // the command that fails on purpose
		var names []string
		for _, e := range o.of("assistant", "") {
			msg, _ := e["message"].(map[string]any)
			blocks, _ := msg["content"].([]any)
			for _, b := range blocks {
				if m, _ := b.(map[string]any); m["type"] == "tool_use" {
					names = append(names, m["name"].(string))
				}
			}
		}
		for _, want := range []string{"Bash", "Write", "Edit", "mcp__loop__send_message"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s was not called: %v", want, names)
			}
		}
	}
}

func TestClaudeModelName(t *testing.T) {
	c := newCLI(t, Options{})
	if o := c.run("hello", "--model", "demo-quick"); o.code != 0 || !strings.HasPrefix(o.text(), "You said “hello”.") {
		t.Errorf("exit %d: %v", o.code, o.result)
	}
	if o := c.run("hello", "--model", "demo-nope"); o.code != 1 || !strings.Contains(o.text(), `no script \"nope\"`) && !strings.Contains(o.text(), `no script "nope"`) {
		t.Errorf("exit %d: %v", o.code, o.result)
	}
}

func TestClaudeCompact(t *testing.T) {
	c := newCLI(t, Options{})
	first := c.run("Remember the pear", "--model", "demo-quick")
	session, _ := first.result["session_id"].(string)
	if o := c.run("/compact", "--model", "demo-quick", "--resume", session); o.code != 0 {
		t.Fatalf("exit %d: %v", o.code, o.result)
	}
	if o := c.run("What was it?", "--model", "demo-quick", "--resume", session); o.code != 0 || !strings.Contains(o.text(), "Remember the pear") {
		t.Errorf("exit %d: %v", o.code, o.result)
	}
}

func TestClaudeErrors(t *testing.T) {
	for script, says := range map[string]string{
		"error-401": "API", "error-403": "API", "error-429": "API", "error-500": "500", "error-529": "529",
		"error-credit": "Credit balance", "error-too-long": "Prompt is too long",
		"error-cut": "", "error-malformed": "", "error-event": "", "error-late": "529",
	} {
		t.Run(script, func(t *testing.T) {
			c := newCLI(t, Options{})
			o := c.run("demo:"+script+"\ngo", "--model", "claude-opus-4-8")
			if o.code != 1 || o.result["is_error"] != true || !strings.Contains(o.text(), says) {
				t.Errorf("exit %d: %v", o.code, o.result)
			}
		})
	}
}

func TestClaudeRetries(t *testing.T) {
	c := newCLI(t, Options{})
	o := c.run("demo:error-retry\ngo")
	if o.code != 0 || !strings.HasPrefix(o.text(), "The first two tries") || len(o.of("system", "api_retry")) != 2 {
		t.Errorf("exit %d: %v", o.code, o.result)
	}
}

func TestClaudeHang(t *testing.T) {
	c := newCLI(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // ends with ctx
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			c.mu.Lock()
			reached := slices.ContainsFunc(c.seen, func(o Observation) bool { return o.Purpose == "turn" })
			c.mu.Unlock()
			if reached {
				cancel()
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	if o := c.runCtx(ctx, "demo:error-hang\ngo"); o.result != nil {
		t.Errorf("a silent model gave a result: %v", o.result)
	}
}
