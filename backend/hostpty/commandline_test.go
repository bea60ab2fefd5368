package hostpty

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"loop/backend/core"
)

func TestBatchFilesGetNothingTheyWouldActOn(t *testing.T) {
	for _, arg := range []string{"a&calc", `"`, "%PATH%", "a\nb", "x|y", `dir\`} {
		for _, program := range []string{`C:\tools\NPM.CMD`, "run.bat"} {
			if err := checkCommand(program, []string{"npm", arg}); core.AsFailure(err).Code != core.CodeInvalid {
				t.Errorf("%s got %q", program, arg)
			}
		}
	}
	if err := checkCommand("npm.cmd", []string{"npm", "run", "build --all"}); err != nil {
		t.Error(err)
	}
	if err := checkCommand("x.exe", []string{`a"b`}); core.AsFailure(err).Code != core.CodeInvalid {
		t.Error("a quote in the name was taken")
	}
}

func TestEnvironmentBlock(t *testing.T) {
	got := string(utf16.Decode(envBlock([]string{"b=1", "Path=old", "PATH=new", "=C:=C:\\x", "bad", "A=ü"})))
	if want := "=C:=C:\\x\x00A=ü\x00b=1\x00PATH=new\x00\x00"; got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	if got := envBlock(nil); len(got) != 2 {
		t.Fatal(got)
	}
}

func FuzzEnvironmentBlock(f *testing.F) {
	f.Add("A=1", "a=2")
	f.Add("=C:=x", "=")
	f.Fuzz(func(t *testing.T, one, two string) {
		block := envBlock([]string{one, two})
		if len(block) < 2 || block[len(block)-1] != 0 || block[len(block)-2] != 0 {
			t.Fatal("not ended by two zeros")
		}
		if s := string(utf16.Decode(block)); utf8.ValidString(one) && strings.Count(s, "\x00") > 3 {
			t.Fatalf("%q", s)
		}
	})
}

func TestDefaultShell(t *testing.T) {
	have := func(names ...string) func(string) bool {
		return func(n string) bool { return slices.Contains(names, n) }
	}
	env := func(name, value string) func(string) string {
		return func(n string) string {
			if n == name {
				return value
			}
			return ""
		}
	}
	for _, c := range []struct {
		system string
		getenv func(string) string
		there  func(string) bool
		want   string
	}{
		{"linux", env("SHELL", "/usr/bin/fish"), have("/usr/bin/fish", "/bin/zsh"), "/usr/bin/fish -l"},
		{"linux", env("SHELL", "/gone/fish"), have("/bin/zsh"), "/bin/zsh -l"},
		{"linux", env("SHELL", "fish"), have("fish"), "/bin/sh -l"},
		{"darwin", env("", ""), have("/bin/zsh"), "/bin/zsh -l"},
		{"linux", env("", ""), have(), "/bin/sh -l"},
		{"windows", env("COMSPEC", `C:\cmd.exe`), have(`C:\cmd.exe`), `C:\cmd.exe`},
		{"windows", env("COMSPEC", `C:\gone.exe`), have("powershell.exe"), "powershell.exe"},
		{"windows", env("SHELL", "/bin/bash"), have(), "cmd.exe"},
	} {
		if got := strings.Join(defaultShell(c.system, c.getenv, c.there), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.system, got, c.want)
		}
	}
}
