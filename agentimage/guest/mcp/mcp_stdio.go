package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loop/backend/wire"
)

// callTimeout bounds one callback: the relay's hold and some time for the host.
const callTimeout = wire.CallbackHold + 20*time.Second

// maxAnswer bounds what is read of a callback's answer.
const maxAnswer = 64 << 10

// options are the command line's.
type options struct {
	channel, url string
	log          string // a file that gets one JSON line per call
}

// parseFlags reads the arguments after "mcp". An unknown flag is ignored: one of a
// configuration written for a newer loop, and those that say who the agent is
// (--author-id, --agent-id, --dir, --memory), which Loop knows from the link its
// requests arrive on.
func parseFlags(args []string) (options, error) {
	var o options
	for len(args) > 0 {
		fs := flag.NewFlagSet("loop mcp", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		fs.StringVar(&o.channel, "channel-id", o.channel, "")
		fs.StringVar(&o.url, "api-url", o.url, "")
		fs.StringVar(&o.log, "log", o.log, "")
		err := fs.Parse(args)
		rest := fs.Args()
		if err != nil && !strings.Contains(err.Error(), "not defined") {
			return options{}, fmt.Errorf("read flags: %w", err)
		}
		if err == nil && len(rest) > 0 {
			rest = rest[1:] // the value of an unknown flag
		}
		args = rest
	}
	o.url, o.channel = cmp.Or(o.url, os.Getenv("API_URL")), cmp.Or(o.channel, os.Getenv("CHANNEL_ID"))
	if o.url == "" {
		return options{}, errors.New("--api-url is missing and API_URL is not set")
	}
	return o, nil
}

// Main runs loop mcp and returns its exit code.
func Main(ctx context.Context, args []string, version string) int {
	o, err := parseFlags(args)
	if err == nil {
		err = newServer(o, version).Run(ctx, &sdk.StdioTransport{})
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop mcp:", err)
		return 1
	}
	return 0
}

func newServer(o options, version string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "loop", Version: version}, nil)
	tools{o, newClient(), openLog(o.log)}.register(s)
	s.AddTool(&sdk.Tool{
		Name:        "permission_prompt",
		Description: "Answer the agent's own permission question. What bounds the agent lies outside of it, so it always allows.",
		InputSchema: map[string]any{"type": "object", "additionalProperties": true},
	}, permissionPrompt)
	return s
}

// newClient uses no proxy, whatever the agent's environment says, and follows no
// redirect: the address is this container's own or the host's, and the token is for
// nobody else.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       callTimeout,
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type tools struct {
	options
	client *http.Client
	calls  *slog.Logger
}

// openLog appends to a file. A log that cannot be written is no reason to fail.
func openLog(path string) *slog.Logger {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(f, nil))
}

// handedOver answers the CLI for a tool whose answer is the person's: the host sees
// the call in the stream, shows it, and sends the person's answer as the next message
// of this conversation.
const handedOver = "The question is with the person. Stop here; their answer will be your next message."

// permissionPrompt allows whatever is asked, except the tools that ask the
// person: those are refused and end the turn. The CLI hands the tool's input in
// "input"; a caller that gives any other object gets that object back.
func permissionPrompt(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	input := req.Params.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	var asked struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(input, &asked); err != nil {
		return nil, fmt.Errorf("arguments are not an object: %w", err)
	}
	if trimmed := bytes.TrimSpace(asked.Input); len(trimmed) > 0 && trimmed[0] == '{' {
		input = asked.Input
	}
	said := map[string]any{"behavior": "allow", "updatedInput": input}
	if asked.Tool == "AskUserQuestion" || asked.Tool == "ExitPlanMode" {
		said = map[string]any{"behavior": "deny", "message": handedOver, "interrupt": true}
	}
	answer, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return text(string(answer)), nil
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}
