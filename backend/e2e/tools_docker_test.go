//go:build docker

package e2e

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed testdata/tools.sh
var toolsScript []byte

// TestToolsOfTheImage: the image has the tools that work needs, and the agent can use
// them.
func TestToolsOfTheImage(t *testing.T) {
	t.Parallel()
	_, s, ch, dir := terminalServer(t)
	if err := os.WriteFile(filepath.Join(dir, "tools.sh"), toolsScript, 0o644); err != nil {
		t.Fatal(err)
	}
	c := s.termClient(t)
	c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"rows":60,"cols":160`, ch))
	c.typeIn("sh tools.sh\r")
	c.shown(" over")
	if out := c.text(); !strings.Contains(out, "tools: all work over") {
		t.Errorf("shown: %q", out)
	}
	// For a missing program, both the shell and Loop's error say how to get it.
	c.typeIn("mvn --version\r")
	c.shown("has no program of this name")
	c.shown("container_image")
	other := s.termClient(t)
	other.say(`{"type":"create","channel_id":%q,"cmd":["mvn"]}`, ch)
	if a := other.status("error"); !strings.Contains(a.Message, "no program called mvn") || !strings.Contains(a.Remedy, "image_tools") {
		t.Errorf("%+v", a)
	}
}
