//go:build linux

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
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

// Options are the command line's. Author, Memory, Agent and Dir are taken
// because configurations name them: who this agent is, Loop knows from the link
// its requests arrive on. Log names a file for one JSON line per call.
type Options struct {
	Channel, URL            string
	Author, Log, Agent, Dir string
	Memory                  bool
	Version                 string
	Client                  *http.Client
}

// ParseFlags reads the arguments after "mcp". An unknown flag is ignored, so
// that a configuration written for a newer loop still works.
func ParseFlags(args []string) (Options, error) {
	var o Options
	for len(args) > 0 {
		fs := flag.NewFlagSet("loop mcp", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		fs.StringVar(&o.Channel, "channel-id", o.Channel, "")
		fs.StringVar(&o.URL, "api-url", o.URL, "")
		fs.StringVar(&o.Author, "author-id", o.Author, "")
		fs.StringVar(&o.Log, "log", o.Log, "")
		fs.StringVar(&o.Agent, "agent-id", o.Agent, "")
		fs.StringVar(&o.Dir, "dir", o.Dir, "")
		fs.BoolVar(&o.Memory, "memory", o.Memory, "")
		err := fs.Parse(args)
		rest := fs.Args()
		if err != nil && !strings.Contains(err.Error(), "not defined") {
			return Options{}, fmt.Errorf("read flags: %w", err)
		}
		if err == nil && len(rest) > 0 {
			rest = rest[1:] // the value of an unknown flag
		}
		args = rest
	}
	if o.URL == "" {
		o.URL = os.Getenv("API_URL")
	}
	if o.Channel == "" {
		o.Channel = os.Getenv("CHANNEL_ID")
	}
	if o.URL == "" {
		return Options{}, errors.New("--api-url is missing and API_URL is not set")
	}
	return o, nil
}

// Main runs loop mcp and returns its exit code.
func Main(ctx context.Context, args []string, version string) int {
	o, err := ParseFlags(args)
	if err == nil {
		o.Version = version
		err = New(o).Run(ctx, &sdk.StdioTransport{})
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop mcp:", err)
		return 1
	}
	return 0
}

// New makes the server with its tools.
func New(o Options) *sdk.Server {
	if o.Client == nil {
		o.Client = newClient()
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "loop", Version: o.Version}, nil)
	t := tools{o, openLog(o.Log)}
	t.register(s)
	s.AddTool(&sdk.Tool{
		Name:        "permission_prompt",
		Description: "Answer the agent's own permission question. The container is the boundary, so it always allows.",
		InputSchema: map[string]any{"type": "object", "additionalProperties": true},
	}, permissionPrompt)
	return s
}

// newClient goes without a proxy, whatever the agent's environment says, and
// where it was told only: the address is this container's own or the host's, and
// the token is for nobody else.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       callTimeout,
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type tools struct {
	o   Options
	log *callLog
}

// handedOver is what the CLI is told of a tool whose answer is the person's: the
// host sees the call in the stream, shows it, and sends the answer as the next
// message of this conversation.
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
	if asked.Tool == "AskUserQuestion" || asked.Tool == "ExitPlanMode" {
		answer, err := json.Marshal(map[string]any{"behavior": "deny", "message": handedOver, "interrupt": true})
		if err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
		return text(string(answer)), nil
	}
	if trimmed := bytes.TrimSpace(asked.Input); len(trimmed) > 0 && trimmed[0] == '{' {
		input = asked.Input
	}
	answer, err := json.Marshal(map[string]any{"behavior": "allow", "updatedInput": input})
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return text(string(answer)), nil
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}
