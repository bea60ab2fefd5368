package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBashMarks(t *testing.T) {
	dir := home(t, map[string]string{".bashrc": "PS1='here> '\nHISTCONTROL=ignorespace\nHISTFILE=~/h\n"})
	if err := os.Mkdir(filepath.Join(dir, "a bü"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := begin(t, dir, []string{"bash"}, true).run("here> ",
		"echo one; echo two", "false", "", " echo secret", `printf '%s\n' "a;b\c"`, "cd 'a bü'", "(exit 7)", "sleep 100 & kill -9 $!; wait $!")
	want := strings.Join([]string{
		"A B",
		`E;echo one\x3b echo two C D;0 A B`,
		"E;false C D;1 A B",
		"A B",       // an empty line ran nothing
		"C D;0 A B", // a command that history ignores has no text
		`E;printf '%s\\n' "a\x3bb\\c" C D;0 A B`,
		"E;cd 'a bü' C D;0 A B",
		"E;(exit 7) C D;7 A B",
		`E;sleep 100 & kill -9 $!\x3b wait $! C D;137 A B`,
		"E;exit C",
	}, " ")
	if got := commands(out); got != want {
		t.Errorf("got  %s\nwant %s\nout %q", got, want, out)
	}
	if got := between(out, 1); got != "one\r\ntwo\r\n" {
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

// TestBashIsOtherwiseUnchanged: without its marks, the output is that of a plain shell:
// the prompt, the output of the person's own commands and traps, and the shell's own
// state.
func TestBashIsOtherwiseUnchanged(t *testing.T) {
	for name, rc := range map[string]string{
		"bare":    "",
		"list":    "PROMPT_COMMAND=('echo \"[first $?]\"' 'echo \"[second $?]\"')\n",
		"string":  "PROMPT_COMMAND='echo \"[before $?]\"; true;'\n",
		"comment": "PROMPT_COMMAND='echo \"[before $?]\" # why'\n",
		"traps":   "trap 'echo \"[err $?]\"' ERR\ntrap 'echo \"[bye]\"' EXIT\ntrap 'echo \"[usr1]\"' USR1\n",
		"ps0":     "PS0='[\\#]'\n",
		"strict":  "set -u\nset -o pipefail\nshopt -s extglob nullglob\n",
		"theme":   "n=0; theme() { n=$((n+1)); PS1=\"$n here> \"; }; PROMPT_COMMAND=theme\n",
		"utf8":    "PS1='❯ here> '\n",
		"returns": "case $- in *i*) ;; *) return ;; esac\nreturn 3\n",
		"aliases": "alias printf='echo wrong' local='echo wrong' history='echo wrong' return='echo wrong'\nprintf() { echo wrong; }\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := home(t, map[string]string{".bashrc": "PS1='here> '\nHISTFILE=~/h\n" + rc, "x": ""})
			lines := []string{
				"true", "false", "echo $?", "echo last arg", `echo "$_"`, `[ -z "$(trap -p USR1)" ] || kill -USR1 $$`, "trap", "history", "shopt", "set -o", "alias",
				"(exit 9) | true", `echo "${PIPESTATUS[@]}"`, "for i in 1 2; do\recho $i\rdone", "echo *", "jobs", "declare -F | grep -v __loop", "echo $-",
			}
			// None of these lines shows the name of Loop's start-up file.
			plain := begin(t, dir, []string{"bash"}, false).run("here> ", slices.Clone(lines)...)
			if err := os.Remove(filepath.Join(dir, "h")); err != nil {
				t.Fatal(err)
			}
			with := begin(t, dir, []string{"bash"}, true).run("here> ", slices.Clone(lines)...)
			if !strings.Contains(with, "\x1b]133;D;0") {
				t.Error("there are no marks")
			}
			if with = ours.ReplaceAllString(with, ""); with != plain {
				t.Error(differ(plain, with))
			}
		})
	}
}

// TestBashWithAStringOfPromptCommands: before bash 5.1, PROMPT_COMMAND is a single
// string.
func TestBashWithAStringOfPromptCommands(t *testing.T) {
	was := bashFile
	defer func() { bashFile = was }()
	bashFile = strings.Replace(was, ">= 501", ">= 9901", 1)
	if bashFile == was {
		t.Fatal("the version is not asked for")
	}
	dir := home(t, map[string]string{".bashrc": "PS1='here> '\ntrap 'echo \"[err]\"' ERR\nPROMPT_COMMAND='echo \"[$?]\" # why'\n"})
	out := begin(t, dir, []string{"bash"}, true).run("here> ", "true", "(exit 6)")
	if got, want := commands(out), "A B E;true C D;0 A B E;(exit 6) C D;6 A B E;exit C"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Count(out, "[err]") != 1 || !strings.Contains(out, "[6]") || !strings.Contains(out, "[0]") {
		t.Errorf("%q", out)
	}
}

func TestBashReadsLoginFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"profile":      {map[string]string{".profile": "echo [profile]"}, "[profile]"},
		"bash_login":   {map[string]string{".profile": "echo [profile]", ".bash_login": "echo [login]"}, "[login]"},
		"bash_profile": {map[string]string{".profile": "echo [profile]", ".bash_login": "echo [login]", ".bash_profile": ". ~/.bashrc; echo [bash_profile]"}, "[rc]\r\n[bash_profile]"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files[".bashrc"] = "echo [rc]"
			for _, f := range []string{".profile", ".bash_login", ".bash_profile"} {
				if c.files[f] != "" {
					c.files[f] += "\nPS1='here> '"
				}
			}
			dir := home(t, c.files)
			plain := begin(t, dir, []string{"bash", "-l"}, false).run("here> ", "echo $PATH")
			with := begin(t, dir, []string{"bash", "-l"}, true).run("here> ", "echo $PATH")
			if !strings.Contains(with, c.want) || !strings.Contains(with, "133;A") {
				t.Errorf("%q", with)
			}
			// A login shell prints “logout” when it ends.
			plain = strings.Replace(plain, "logout\r\n", "exit\r\n", 1)
			if with = ours.ReplaceAllString(with, ""); with != plain {
				t.Error(differ(plain, with))
			}
		})
	}
}

func TestNoMarksWhereTheyAreNotWanted(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		for _, env := range []string{"LOOP_SHELL_INTEGRATION=0", "TMUX=/tmp/x,1,0", "STY=1.x", "TERM=screen-256color", "TERM=tmux", "TERM=dumb"} {
			t.Run(shell+" "+env, func(t *testing.T) {
				dir := home(t, map[string]string{
					".bashrc": "PS1='here> '\n", ".zshrc": "PS1='here> '\n",
					".config/fish/config.fish": "function fish_prompt; echo 'here> '; end\nset -g fish_greeting\n",
				})
				out := begin(t, dir, []string{shell}, true, env).run("here> ", "echo on")
				if got := marks(out); len(got) > 0 || !strings.Contains(out, "on\r\n") {
					t.Errorf("%q in %q", got, out)
				}
			})
		}
	}
}
