package runner

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// TestWhereTheBuiltInServerCalls: it calls the relay, or the address in the launch.
func TestWhereTheBuiltInServerCalls(t *testing.T) {
	for launch, want := range map[string]string{"": `"--api-url","http://127.0.0.1:8222"`, "http://host.docker.internal:9": `"--api-url","http://host.docker.internal:9"`} {
		b, err := mcpConfig(Launch{APIURL: launch}, core.Run{ChannelID: "c"}, "/repo")
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%q: %s %v", launch, b, err)
		}
	}
}
