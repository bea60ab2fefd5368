package runner

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// TestBrowserToolsOfTheCLI: the CLI knows of the tools where the browser is on, and hears
// nothing of them where it is off, except of a server that the person calls so.
func TestBrowserToolsOfTheCLI(t *testing.T) {
	for _, c := range []struct {
		launch Launch
		want   string // how the server is started; "" is not
	}{
		{Launch{Browser: true}, `"loop-browser":{"command":"/opt/loop/bin/loop","args":["mcp-browser",`},
		{Launch{}, ""},
		{Launch{MCPServers: map[string]MCPServer{"loop-browser": {Command: "mine"}}}, `"loop-browser":{"command":"mine"`},
	} {
		b, err := mcpConfig(c.launch, core.Run{ChannelID: "c"}, "/repo")
		if got := strings.Contains(string(b), "browser"); err != nil || got != (c.want != "") || !strings.Contains(string(b), c.want) || !strings.Contains(string(b), `"loop":{`) {
			t.Errorf("%+v: %s %v", c.launch, b, err)
		}
	}
}

// TestWhereTheBuiltInServerCalls: it calls the relay, or the address in the launch.
func TestWhereTheBuiltInServerCalls(t *testing.T) {
	for launch, want := range map[string]string{"": `"--api-url","http://127.0.0.1:8222"`, "http://host.docker.internal:9": `"--api-url","http://host.docker.internal:9"`} {
		b, err := mcpConfig(Launch{APIURL: launch}, core.Run{ChannelID: "c"}, "/repo")
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%q: %s %v", launch, b, err)
		}
	}
}
