package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const fishConfig = "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nset -g fish_color_command normal\n"

func TestFishMarks(t *testing.T) {
	dir := home(t, map[string]string{".config/fish/config.fish": fishConfig + "function fish_prompt; echo \"[$status|$pipestatus] here> \"; end\n"})
	if err := os.Mkdir(filepath.Join(dir, "a bü"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := begin(t, dir, []string{"fish", "-l"}, true).run("\x1b]133;B\x07",
		"echo one; echo two", "false", "", " echo secret", `printf '%s\n' "a;b\\c"`, "cd 'a bü'", "sh -c 'exit 7' | true", "sh -c 'exit 7'")
	want := []string{
		`E;echo one\x3b echo two C D;0`, "E;false C D;1", " C D;0", `E;printf '%s\\n' "a\x3bb\\\\c" C D;0`, "E;cd 'a bü' C D;0", "E;sh -c 'exit 7' C D;7", "E;exit C",
	}
	got := commands(out)
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %s in %s", w, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Error(got)
	}
	for _, w := range []string{"[1|1] here> ", "[0|7 0] here> ", "[7|7] here> "} {
		if !strings.Contains(out, w) {
			t.Errorf("no prompt %s in %q", w, out)
		}
	}
	// The line editor restores colours and modes before the output.
	if got := between(out, 1); !strings.HasSuffix(got, "one\r\ntwo\r\n") {
		t.Errorf("%q", got)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if all := marks(out); !slices.Contains(all, "7;file://"+host+dir) || !slices.Contains(all, "7;file://"+host+dir+"/a%20b%C3%BC") {
		t.Errorf("%q", all)
	}
}

var sequence = regexp.MustCompile("\x1b(\\[[0-9;?>=]*[a-zA-Z]|\\][^\x07]*\x07|[=>]|\\(B)|\x0f|⏎")

func TestFishIsOtherwiseUnchanged(t *testing.T) {
	dir := home(t, map[string]string{
		".config/fish/config.fish": fishConfig + `function fish_prompt; echo 'here> '; end
function on_pre --on-event fish_preexec; echo "[pre $argv]"; end
function on_post --on-event fish_postexec; echo "[post $argv]"; end
if status is-login; echo '[login]'; end
`})
	lines := []string{"true", "false", "echo $status", "history", "functions -n | string match -v '*__loop*'", "set -S PWD", "jobs"}
	said := func(marks bool) string {
		out := begin(t, dir, []string{"fish", "-l"}, marks).run("here> ", slices.Clone(lines)...)
		// fish draws its line again while it is typed, depending on timing. Only the
		// printed text counts.
		var list []string
		for line := range strings.Lines(sequence.ReplaceAllString(out, "")) {
			line = strings.TrimSpace(line[strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r')+1:])
			if line != "" && !strings.Contains(line, "here>") {
				list = append(list, line)
			}
		}
		return strings.Join(list, "\n")
	}
	plain := said(false)
	if err := os.RemoveAll(filepath.Join(dir, ".local")); err != nil {
		t.Fatal(err)
	}
	if with := said(true); with != plain {
		t.Error(differ(plain, with))
	}
	if !strings.Contains(plain, "[pre false]") {
		t.Errorf("%q", plain)
	}
}
