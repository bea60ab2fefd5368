//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestEditorCommand: the environment names a shell command with arguments.
func TestEditorCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a 'b' c")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, from := filepath.Join(dir, "prompt $HOME.md"), filepath.Join(t.TempDir(), "from")
	for path, text := range map[string]string{file: "old", from: "new"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"VISUAL": " ", "EDITOR": "cp '" + from + "'"}
	look := func(n string) (string, bool) { v, ok := env[n]; return v, ok }
	if err := editFile(t.Context(), Stdio{In: strings.NewReader("")}, look, file); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "new" {
		t.Errorf("%q %v", text, err)
	}
	env["VISUAL"] = "false"
	if err := editFile(t.Context(), Stdio{In: strings.NewReader("")}, look, file); core.AsFailure(err).Code != core.CodeInvalid {
		t.Error(err)
	}
	clear(env)
	if argv := editorCommand(look, file); argv[2] != `vi "$@"` || argv[4] != file {
		t.Errorf("%q", argv)
	}
}
