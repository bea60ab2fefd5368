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

// Options are the command line's. Author, Log, Memory, Agent and Dir are taken
// because configurations name them; nothing depends on them yet.
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
		o.Client = &http.Client{Timeout: callTimeout}
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "loop", Version: o.Version}, nil)
	t := tools{o}
	sdk.AddTool(s, &sdk.Tool{
		Name:        "send_message",
		Description: "Send a message to the person, in the channel this agent works in.",
	}, t.sendMessage)
	s.AddTool(&sdk.Tool{
		Name:        "permission_prompt",
		Description: "Answer the agent's own permission question. The container is the boundary, so it always allows.",
		InputSchema: map[string]any{"type": "object", "additionalProperties": true},
	}, permissionPrompt)
	return s
}

type tools struct{ o Options }

type sendMessageIn struct {
	Channel string `json:"channel_id,omitempty" jsonschema:"the channel; leave out for this agent's own, the only one it may use"`
	Content string `json:"content" jsonschema:"the text of the message, Markdown"`
}

func (t tools) sendMessage(ctx context.Context, _ *sdk.CallToolRequest, in sendMessageIn) (*sdk.CallToolResult, any, error) {
	if strings.TrimSpace(in.Content) == "" {
		return nil, nil, errors.New("content is empty")
	}
	if in.Channel == "" {
		in.Channel = t.o.Channel
	}
	if err := t.post(ctx, "/api/messages", in); err != nil {
		return nil, nil, err
	}
	return text("The message was sent."), nil, nil
}

// permissionPrompt allows whatever is asked. The CLI hands the tool's input in
// "input"; a caller that gives any other object gets that object back.
func permissionPrompt(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	input := req.Params.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	var asked struct {
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(input, &asked); err != nil {
		return nil, fmt.Errorf("arguments are not an object: %w", err)
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

// post makes one callback. The error is what the model reads.
func (t tools) post(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode callback: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(t.o.URL, "/")+path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("make callback: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := t.o.Client.Do(req)
	if err != nil {
		return fmt.Errorf("reach Loop: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 == 2 {
		return nil
	}
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(answer, &e) != nil || e.Error == "" {
		e.Error = strings.ToValidUTF8(string(answer), "\uFFFD")
	}
	return fmt.Errorf("Loop answered %d: %s", resp.StatusCode, e.Error)
}
