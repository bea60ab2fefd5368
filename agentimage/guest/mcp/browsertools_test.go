//go:build linux

package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// browserTools are the nineteen tools as agents know them: each with its parameters and
// their types, a star behind those that have to be given.
var browserTools = map[string]string{
	"navigate":              "url:string*",
	"new_tab":               "url:string*",
	"switch_tab":            "target_id:string*",
	"close_tab":             "target_id:string*",
	"evaluate":              "expression:string*",
	"find":                  "query:string*",
	"form_input":            "ref:integer* value:string*",
	"read_console_messages": "clear:boolean limit:integer onlyErrors:boolean pattern:string",
	"read_network_requests": "clear:boolean limit:integer pattern:string",
	"resize_window":         "height:integer* width:integer*",
	"computer": "action:string* button:string delta_x:number delta_y:number duration:number ref:integer start_x:number start_y:number " +
		"text:string x:number y:number",
	"read_page": "", "screenshot": "", "go_back": "", "go_forward": "", "reload": "", "list_tabs": "", "page_info": "", "get_page_text": "",
}

// connectBrowser is a client of loop-browser, whose actions go to api.
func connectBrowser(t *testing.T, api http.HandlerFunc) *sdk.ClientSession {
	t.Helper()
	srv := httptest.NewServer(api)
	t.Cleanup(srv.Close)
	ours, theirs := sdk.NewInMemoryTransports()
	ss, err := newBrowserServer(options{channel: "mine", url: srv.URL + "/"}, "1").Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close(); _ = ss.Wait() })
	return cs
}

// TestBrowserToolsAreTheNineteen: what is advertised is exactly what agents were taught.
func TestBrowserToolsAreTheNineteen(t *testing.T) {
	cs := connectBrowser(t, func(http.ResponseWriter, *http.Request) { t.Error("a list asked Loop") })
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range list.Tools {
		raw, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct{ Type any }
			Required   []string
			Additional json.RawMessage `json:"additionalProperties"`
		}
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		var params []string
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			kind := fmt.Sprint(schema.Properties[name].Type)
			if both, ok := schema.Properties[name].Type.([]any); ok { // a number that may be missing
				kind = fmt.Sprint(both[len(both)-1])
			}
			star := ""
			if slices.Contains(schema.Required, name) {
				star = "*"
			}
			params = append(params, name+":"+kind+star)
		}
		got[tool.Name] = strings.Join(params, " ")
		if tool.Description == "" {
			t.Errorf("%s has no description", tool.Name)
		}
	}
	for name, want := range browserTools {
		if have, ok := got[name]; !ok || have != want {
			t.Errorf("%s has %q (%v); want %q", name, have, ok, want)
		}
	}
	for name := range got {
		if _, ok := browserTools[name]; !ok {
			t.Errorf("%s is no tool that agents know", name)
		}
	}
}

// TestBrowserAnswers: whatever Loop answers, the model reads a sentence.
func TestBrowserAnswers(t *testing.T) {
	for _, c := range []struct {
		status    int
		answer    string
		said      string
		isRefusal bool
	}{
		{200, `{"result":"Opened it."}`, "Opened it.", false},
		{200, `{}`, "Done.", false},
		{200, `{"error":"Nothing answers there."}`, "Nothing answers there.", true},
		{200, `{"result":"A picture.","screenshot_path":"/loop/browser/1.png"}`, "A picture.\nThe picture is in /loop/browser/1.png.", false},
		{200, `{"tabs":[{"target_id":"A","title":"T","url":"http://x/","active":true}]}`, "* A  http://x/  T", false},
		{503, `{"error":"The browser is switched off. Switch it on."}`, "The browser is switched off. Switch it on.", true},
		{400, `{"error":"The action is missing."}`, "The action is missing.", true},
		{500, `<html>`, `Loop answered 500: "<html>"`, true},
		{502, `{}`, "Loop answered 502", true},
	} {
		cs := connectBrowser(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.answer))
		})
		if said, bad := call(t, cs, "page_info", map[string]any{}); said != c.said || bad != c.isRefusal {
			t.Errorf("%d %s: %q, %v", c.status, c.answer, said, bad)
		}
	}
}

// TestBrowserArgumentsAreChecked: what no tool takes never reaches Loop.
func TestBrowserArgumentsAreChecked(t *testing.T) {
	cs := connectBrowser(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked for") })
	for _, c := range []struct {
		tool string
		args map[string]any
		part string
	}{
		{"navigate", map[string]any{}, "url"},
		{"navigate", map[string]any{"url": 7}, "url"},
		{"form_input", map[string]any{"ref": "x", "value": "y"}, "ref"},
		{"computer", map[string]any{"action": "click", "nope": 1}, "nope"},
		{"resize_window", map[string]any{"width": 10}, "height"},
		{"read_page", map[string]any{"nope": 1}, "nope"},
	} {
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		said := fmt.Sprint(err)
		if err == nil {
			if len(res.Content) != 1 || !res.IsError {
				t.Errorf("%s %v was taken: %+v", c.tool, c.args, res.Content)
				continue
			}
			if text, ok := res.Content[0].(*sdk.TextContent); ok {
				said = text.Text
			}
		}
		if !strings.Contains(said, c.part) {
			t.Errorf("%s %v: %q does not name %q", c.tool, c.args, said, c.part)
		}
	}
}
