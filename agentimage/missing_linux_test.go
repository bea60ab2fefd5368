package agentimage

import (
	"os/exec"
	"strings"
	"testing"
)

// TestMissingProgramSaysHowToAddIt: bash calls the function for a program that it
// cannot find.
func TestMissingProgramSaysHowToAddIt(t *testing.T) {
	for name, want := range map[string]string{"g++": "image_tools.compiler", "rg": "image_tools.ripgrep", "mvn": "container_image"} {
		cmd := exec.Command("bash", "--norc", "-c", string(Agent.Files()[MissingProgram])+"\nPATH=/nowhere\n"+name)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); err == nil || code != 127 || !strings.Contains(string(out), want) {
			t.Errorf("%s: status %d, %s", name, code, out)
		}
	}
}
