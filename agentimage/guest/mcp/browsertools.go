package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loop/backend/wire"
)

const (
	// browserTimeout bounds one act: the first may have to build an image, and one may wait
	// for the person to give the browser back.
	browserTimeout = 10 * time.Minute
	// maxPicture bounds what is read of an answer: a screenshot of 4 MiB is 5.4 in base64.
	maxPicture = 12 << 20
)

// What the nineteen tools take. Coordinates and sizes are in CSS pixels of the page.
type (
	urlIn struct {
		URL string `json:"url" jsonschema:"an http or https address; localhost is this container"`
	}
	tabIn struct {
		ID string `json:"target_id" jsonschema:"from list_tabs"`
	}
	expressionIn struct {
		Expression string `json:"expression" jsonschema:"JavaScript; a promise is waited for"`
	}
	findIn struct {
		Query string `json:"query" jsonschema:"part of a role, name or description"`
	}
	formIn struct {
		Ref   int    `json:"ref" jsonschema:"from read_page or find"`
		Value string `json:"value" jsonschema:"text; of a list the option's label or value; of a box true or false; of a file its path"`
	}
	consoleIn struct {
		Pattern    string `json:"pattern,omitempty" jsonschema:"a regular expression that the text matches"`
		OnlyErrors bool   `json:"onlyErrors,omitempty"`
		Clear      bool   `json:"clear,omitempty" jsonschema:"forget what was read"`
		Limit      int    `json:"limit,omitempty" jsonschema:"of the newest; 100 unless told"`
	}
	networkIn struct {
		Pattern string `json:"pattern,omitempty" jsonschema:"a regular expression that the address matches"`
		Clear   bool   `json:"clear,omitempty" jsonschema:"forget what was read"`
		Limit   int    `json:"limit,omitempty" jsonschema:"of the newest; 50 unless told"`
	}
	sizeIn struct {
		Width  int `json:"width"`
		Height int `json:"height"`
	}
	computerIn struct {
		Action   string   `json:"action" jsonschema:"what to do"`
		Ref      int      `json:"ref,omitempty" jsonschema:"an element from read_page or find, instead of x and y"`
		X        *float64 `json:"x,omitempty"`
		Y        *float64 `json:"y,omitempty"`
		Text     string   `json:"text,omitempty" jsonschema:"type: what to type; key: names such as Enter, Escape or ctrl+a"`
		DeltaX   float64  `json:"delta_x,omitempty" jsonschema:"scroll: to the right"`
		DeltaY   float64  `json:"delta_y,omitempty" jsonschema:"scroll: down"`
		Button   string   `json:"button,omitempty" jsonschema:"left, middle or right"`
		Duration float64  `json:"duration,omitempty" jsonschema:"wait: seconds, at most 20"`
		StartX   *float64 `json:"start_x,omitempty" jsonschema:"left_click_drag: where it begins"`
		StartY   *float64 `json:"start_y,omitempty"`
	}
)

// BrowserMain runs loop mcp-browser and returns its exit code.
func BrowserMain(ctx context.Context, args []string, version string) int {
	o, err := parseFlags(args)
	if err == nil {
		err = newBrowserServer(o, version).Run(ctx, &sdk.StdioTransport{})
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop mcp-browser:", err)
		return 1
	}
	return 0
}

func newBrowserServer(o options, version string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "loop-browser", Version: version}, nil)
	client := newClient()
	client.Timeout = browserTimeout
	registerBrowser(s, tools{o, client, openLog(o.log)})
	return s
}

// registerBrowser adds the nineteen tools. Each is one request, and nothing is remembered
// here between two.
func registerBrowser(s *sdk.Server, t tools) {
	act[urlIn](s, t, "navigate", "Open an address in the current tab of the browser, which the person sees too. "+
		"Servers in this container are at http://localhost:PORT.")
	act[noneIn](s, t, "read_page", "Read what the page shows as indented lines of roles, names and values. "+
		"What can be acted on has a ref, which stays valid until the page changes. Prefer this to a screenshot.")
	act[findIn](s, t, "find", "Find elements of the page by part of their role, name or description; at most 20, with refs.")
	act[noneIn](s, t, "get_page_text", "Read the text of the page.")
	act[noneIn](s, t, "page_info", "Say the page's address, title, size and how far it is scrolled.")
	act[formIn](s, t, "form_input", "Put a value into a field, list, box or file input.")
	act[computerIn](s, t, "computer", "Use mouse and keyboard on the page. The actions: click, right_click, double_click, triple_click, "+
		"type, key, scroll, scroll_to, move, hover, screenshot, wait, left_click_drag.")
	act[noneIn](s, t, "screenshot", "Take a picture of what the page shows.")
	act[expressionIn](s, t, "evaluate", "Run JavaScript in the page and read its value.")
	act[consoleIn](s, t, "read_console_messages", "Read the page's console.")
	act[networkIn](s, t, "read_network_requests", "Read which requests the page made, and what came of them.")
	act[noneIn](s, t, "go_back", "Go back in the tab's history.")
	act[noneIn](s, t, "go_forward", "Go forward in the tab's history.")
	act[noneIn](s, t, "reload", "Load the page again.")
	act[sizeIn](s, t, "resize_window", "Give the page another size.")
	act[noneIn](s, t, "list_tabs", "List the open tabs.")
	act[urlIn](s, t, "new_tab", "Open an address in a new tab and change to it.")
	act[tabIn](s, t, "switch_tab", "Change to another tab.")
	act[tabIn](s, t, "close_tab", "Close a tab.")
}

// act registers one tool, whose name is the action's.
func act[In any](s *sdk.Server, t tools, name, description string) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: description},
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			began := time.Now()
			res, err := t.browse(ctx, name, in)
			took := time.Since(began).Milliseconds()
			if err != nil {
				t.calls.Warn(name, "ms", took, "err", err)
				return nil, nil, err
			}
			t.calls.Info(name, "ms", took)
			return res, nil, nil
		})
}

// browserAnswer is what the host says of an action.
type browserAnswer struct {
	Result string `json:"result"`
	Error  string `json:"error"`
	Image  []byte `json:"image"`
	Path   string `json:"screenshot_path"`
	Tabs   []struct {
		ID     string `json:"target_id"`
		Title  string `json:"title"`
		URL    string `json:"url"`
		Active bool   `json:"active"`
	} `json:"tabs"`
	Page json.RawMessage `json:"page_info"`
}

// browse does one action. The error is what the model reads.
func (t tools) browse(ctx context.Context, action string, params any) (*sdk.CallToolResult, error) {
	body, err := json.Marshal(map[string]any{"channel_id": t.options.channel, "action": action, "params": params})
	if err != nil {
		return nil, fmt.Errorf("encode the action: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(t.url, "/")+"/api/browser/action", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token := os.Getenv(wire.TokenEnv); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reach Loop: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxPicture+1))
	if err != nil {
		return nil, fmt.Errorf("read Loop's answer: %w", err)
	}
	var a browserAnswer
	switch err := json.Unmarshal(raw, &a); {
	case len(raw) > maxPicture:
		return nil, fmt.Errorf("Loop's answer is longer than %d MiB", maxPicture>>20)
	case err != nil:
		return nil, fmt.Errorf("Loop answered %d: %.200q", resp.StatusCode, raw)
	case a.Error != "":
		return nil, errors.New(a.Error)
	case resp.StatusCode/100 != 2:
		return nil, fmt.Errorf("Loop answered %d", resp.StatusCode)
	}
	return a.said(), nil
}

// said is the answer as the model reads it.
func (a browserAnswer) said() *sdk.CallToolResult {
	lines := []string{}
	if a.Result != "" {
		lines = append(lines, a.Result)
	}
	if a.Path != "" {
		lines = append(lines, "The picture is in "+a.Path+".")
	}
	if a.Result == "" {
		for _, tab := range a.Tabs {
			mark := " "
			if tab.Active {
				mark = "*"
			}
			lines = append(lines, fmt.Sprintf("%s %s  %s  %s", mark, tab.ID, tab.URL, tab.Title))
		}
		if len(a.Page) > 0 && string(a.Page) != "null" {
			lines = append(lines, string(a.Page))
		}
	}
	out := &sdk.CallToolResult{}
	if len(a.Image) > 0 {
		out.Content = append(out.Content, &sdk.ImageContent{Data: a.Image, MIMEType: http.DetectContentType(a.Image)})
	}
	if said := strings.Join(lines, "\n"); said != "" || len(out.Content) == 0 {
		out.Content = append(out.Content, &sdk.TextContent{Text: cmp.Or(said, "Done.")})
	}
	return out
}
