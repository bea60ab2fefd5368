package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestZshMarks(t *testing.T) {
	dir := home(t, map[string]string{".zshrc": "PS1='here> '\nunsetopt prompt_sp\n"})
	if err := os.Mkdir(filepath.Join(dir, "a bü"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := begin(t, dir, []string{"zsh"}, true).run("\x1b]133;B\x07",
		"echo one; echo two", "false", "", " echo secret", `printf '%s\n' "a;b\c"`, "cd 'a bü'", "(exit 7)")
	want := strings.Join([]string{
		"A B",
		`E;echo one\x3b echo two C D;0 A B`,
		"E;false C D;1 A B",
		"A B",
		"C D;0 A B",
		`E;printf '%s\\n' "a\x3bb\\c" C D;0 A B`,
		"E;cd 'a bü' C D;0 A B",
		"E;(exit 7) C D;7 A B",
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

func TestZshIsOtherwiseUnchanged(t *testing.T) {
	const marker = "here> "
	for name, rc := range map[string]string{
		"bare":    "",
		"hooks":   "precmd() { print \"[precmd $?]\" }\npreexec() { print \"[preexec $1]\" }\nprecmd_functions+=(one)\none() { print \"[one $?]\" }\n",
		"widget":  "zle-line-init() { print -n '[init]' }\nzle -N zle-line-init\n",
		"traps":   "TRAPUSR1() { print '[usr1]' }\nTRAPZERR() { print '[err]' }\nTRAPEXIT() { print '[bye]' }\n",
		"strict":  "setopt nounset ksh_arrays sh_word_split no_glob\n",
		"theme":   "precmd() { PS1=\"$((++n)) here> \" }\n",
		"aliases": "alias print='echo wrong' local='echo wrong' typeset='echo wrong'\nprint() { echo wrong }\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := home(t, map[string]string{
				".zshenv": "echo '[zshenv]'\n", ".zprofile": "echo '[zprofile]'\n", ".zlogin": "echo '[zlogin]'\n", ".zlogout": "echo '[zlogout]'\n",
				".zshrc": "PS1='here> '\nunsetopt prompt_sp\nHISTFILE=~/h HISTSIZE=100 SAVEHIST=100\n" + rc,
			})
			lines := []string{
				"true", "false", "echo $?", "echo last arg", `echo "$_"`, "true | (exit 9) | true", `echo "${pipestatus[*]}"`,
				"alias", "fc -l 1", "echo ${ZDOTDIR-none} ${LOOP_ZDOTDIR-none}", "setopt", "jobs", "echo $- $0", "zle -l | grep -v -e _loop -e azhw -e line-init",
				"functions +  | grep -v -e _loop -e azhw -e add-zle",
			}
			plain := begin(t, dir, []string{"zsh", "-l"}, false).run(marker, slices.Clone(lines)...)
			if err := os.Remove(filepath.Join(dir, "h")); err != nil {
				t.Fatal(err)
			}
			with := begin(t, dir, []string{"zsh", "-l"}, true).run(marker, slices.Clone(lines)...)
			if !strings.Contains(with, "\x1b]133;D;0") || !strings.Contains(with, "\x1b]133;B") {
				t.Error("there are no marks")
			}
			// Without a line-init widget of the person's own, the line editor marks its
			// beginning.
			if with = ours.ReplaceAllString(with, ""); with != plain {
				t.Error(differ(plain, with))
			}
		})
	}
}

func TestZshKeepsItsDirectory(t *testing.T) {
	dir := home(t, map[string]string{"z/.zshenv": "echo '[mine]'\n", "z/.zshrc": "PS1='here> '\n", ".zshenv": "echo '[wrong]'\n"})
	out := begin(t, dir, []string{"zsh"}, true, "ZDOTDIR="+filepath.Join(dir, "z")).run("here> ", "echo $ZDOTDIR")
	if !strings.Contains(out, "[mine]") || strings.Contains(out, "[wrong]") || !strings.Contains(out, dir+"/z\r\n") || !strings.Contains(out, "133;C") {
		t.Errorf("%q", out)
	}
	// The person's own .zshenv sets it, then to an empty value.
	dir = home(t, map[string]string{".zshenv": "ZDOTDIR=~/z\n", "z/.zshrc": "PS1='here> '\n"})
	out = begin(t, dir, []string{"zsh"}, true).run("here> ", "echo $ZDOTDIR")
	if !strings.Contains(out, dir+"/z\r\n") || !strings.Contains(out, "133;C") {
		t.Errorf("%q", out)
	}
}
