package shell

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"loop/backend/core"
)

var (
	//go:embed loop.bash
	bashFile string
	//go:embed loop.zsh
	zshFile string
	//go:embed loop.fish
	fishFile string
)

// zshStart hands zsh our .zshenv and remembers where the person's own files are:
// only a process in the shell's environment knows. $1 is our directory.
const zshStart = `if [ -n "${ZDOTDIR+set}" ]; then export LOOP_ZDOTDIR="$ZDOTDIR"; fi; export ZDOTDIR="$1"; shift; exec "$@"`

// Integrate changes the command of an interactive bash, zsh or fish so that the
// shell prints marks. dir is an absolute path, on the system the shell runs on,
// of the directory that files will be in, readable for the shell's user until its
// first prompt. A command that is anything else, or has flags other than those
// for login and interactive shells, is returned as it is, without files.
//
// A bash that was to be a login shell reads the same files as one, but is none
// to “shopt login_shell”: bash lets no login shell have a start-up file of ours.
// So ~/.bash_logout is not read and “logout” says to use exit.
func Integrate(argv []string, dir string) (newArgv []string, env []core.EnvVar, files []core.SpawnFile) {
	if len(argv) == 0 || !path.IsAbs(dir) {
		return argv, nil, nil
	}
	login, plain := flags(argv[1:])
	if !plain {
		return argv, nil, nil
	}
	switch path.Base(argv[0]) {
	case "bash":
		text := bashFile
		if login {
			text = "__loop_login=1\n" + text
		}
		return []string{argv[0], "--rcfile", path.Join(dir, "loop.bash"), "-i"}, nil,
			[]core.SpawnFile{{Name: "loop.bash", Data: []byte(text)}}
	case "zsh":
		return append([]string{"/bin/sh", "-c", zshStart, "loop-zsh", path.Clean(dir)}, argv...), nil,
			[]core.SpawnFile{{Name: ".zshenv", Data: []byte(zshFile)}}
	case "fish":
		quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(path.Join(dir, "loop.fish"))
		return append(slices.Clone(argv), "--init-command", "source '"+quoted+"'"), nil,
			[]core.SpawnFile{{Name: "loop.fish", Data: []byte(fishFile)}}
	}
	return argv, nil, nil
}

// flags says whether a shell is to be a login shell, and that there are no other
// flags than these.
func flags(args []string) (login, plain bool) {
	for _, a := range args {
		switch a {
		case "-l", "--login", "-il", "-li":
			login = true
		case "-i", "--interactive":
		default:
			return false, false
		}
	}
	return login, true
}
