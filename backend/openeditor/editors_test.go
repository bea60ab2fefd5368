package openeditor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// computer has some programs and variables, “NAME=value”.
func computer(system, programs string, env ...string) Computer {
	return Computer{
		OS: system,
		LookPath: func(name string) (string, error) {
			if slices.Contains(strings.Fields(programs), name) {
				return "/bin/" + name, nil
			}
			return "", errors.New("not in PATH")
		},
		Getenv: func(name string) string {
			for _, kv := range env {
				if k, v, _ := strings.Cut(kv, "="); k == name {
					return v
				}
			}
			return ""
		},
	}
}

func TestChoiceOfAnEditor(t *testing.T) {
	const x = "DISPLAY=:0"
	for name, c := range map[string]struct {
		computer Computer
		settings []string
		want     string // the words; empty is a failure
		terminal bool
	}{
		"settings":              {computer("linux", "myedit code", x), []string{"myedit", "-l", "{line}", "--at={file}:{column}"}, "/bin/myedit -l 7 --at=/p/a b.go:1", false},
		"settings, known":       {computer("linux", "code", x), []string{"code", "-r"}, "/bin/code -r --goto /p/a b.go:7:1", false},
		"settings, terminal":    {computer("linux", "nvim", x), []string{"nvim"}, "/bin/nvim +7 /p/a b.go", true},
		"settings, unknown":     {computer("linux", "ed2", x), []string{"ed2"}, "/bin/ed2 /p/a b.go", false},
		"settings, not there":   {computer("linux", "code", x), []string{"gone"}, "", false},
		"visual before found":   {computer("linux", "code subl", x, "VISUAL=subl -n"), nil, "/bin/subl -n /p/a b.go:7:1", false},
		"visual, unknown":       {computer("linux", "mg code", x, "VISUAL=mg"), nil, "/bin/mg /p/a b.go", true},
		"found":                 {computer("linux", "nano zed", x, "EDITOR=nano"), nil, "/bin/zed /p/a b.go:7:1", false},
		"found, JetBrains":      {computer("linux", "vim goland", "WAYLAND_DISPLAY=w"), nil, "/bin/goland --line 7 /p/a b.go", false},
		"no screen":             {computer("linux", "code nano nvim"), nil, "/bin/nvim +7 /p/a b.go", true},
		"no screen, EDITOR":     {computer("linux", "code nano nvim", "EDITOR=nano"), nil, "/bin/nano +7,1 /p/a b.go", true},
		"macOS needs no screen": {computer("darwin", "code"), nil, "/bin/code --goto /p/a b.go:7:1", false},
		"nothing":               {computer("linux", "", x), nil, "", false},
	} {
		got, err := c.computer.Choose(c.settings, Place{"/p/a b.go", 7, 0})
		if c.want == "" {
			if f, ok := errors.AsType[*core.Failure](err); !ok || !strings.Contains(f.Remedy, "“editor”") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || strings.Join(got.Argv, " ") != c.want || got.Terminal != c.terminal {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// A name is one argument whatever is in it, and no shell or batch file sees it as words.
func TestHostileNames(t *testing.T) {
	name := "/p/$(touch x); `id` {line} & \"q\".go"
	got, err := computer("linux", "code", "DISPLAY=:0").Choose(nil, Place{name, 3, 4})
	if err != nil || len(got.Argv) != 3 || got.Argv[2] != name+":3:4" {
		t.Errorf("%q %v", got.Argv, err)
	}
	windows := computer("windows", "")
	windows.LookPath = func(string) (string, error) { return `C:\Code\bin\code.cmd`, nil }
	if _, err := windows.Choose(nil, Place{`C:\p\a&calc.go`, 1, 1}); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("a batch file got it: %v", err)
	}
	if got, err := windows.Choose([]string{`C:\Code\bin\code.cmd`}, Place{`C:\p\a b.go`, 1, 1}); err != nil || got.Argv[1] != "--goto" {
		t.Errorf("%q %v", got.Argv, err)
	}
}

// A path from somewhere would lead to what an agent wrote beside the file.
func TestProgramsAreNotTakenFromAFolderOfAnAgent(t *testing.T) {
	at := Place{"/p/a.go", 1, 1}
	for _, words := range [][]string{{"./code"}, {"bin/code"}, {"../code"}, {"node_modules/.bin/code", "{file}"}} {
		c := computer("linux", "./code bin/code ../code node_modules/.bin/code", "DISPLAY=:0", "VISUAL="+words[0])
		for _, settings := range [][]string{words, nil} {
			got, err := c.Choose(settings, at)
			if f := core.AsFailure(err); f == nil || f.Code != core.CodeInvalid || !strings.Contains(f.Remedy, "full path") {
				t.Errorf("%q: %+v %v", words, got, err)
			}
		}
	}
	for _, name := range []string{`bin\code.exe`, `C:code.exe`, `.\code`} {
		c := computer("windows", name)
		if got, err := c.Choose([]string{name}, at); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %+v %v", name, got, err)
		}
	}
	c := computer("linux", "")
	c.LookPath = func(name string) (string, error) { return name, nil } // “.” is in PATH
	if got, err := c.Choose([]string{"code"}, at); err == nil {
		t.Errorf("%+v", got)
	}
	if got, err := c.Choose([]string{"/opt/code"}, at); err != nil || got.Argv[0] != "/opt/code" {
		t.Errorf("%+v %v", got, err)
	}
}
