package policy

import (
	"slices"
	"strings"
)

// wrapper says how to read past the options of a program that runs another one.
type wrapper struct {
	short  string   // letters of options that take an argument
	long   []string // options that take an argument, without the dashes
	before int      // arguments that stand before the program
	assign bool     // NAME=value may stand before it
	script string   // the letter of the option whose argument is a command line
}

// maxWrappers bounds how far unwrap goes.
const maxWrappers = 8

// wrapperOf knows the usual wrappers. The reading is a guess, as each version of each
// of them has its own options: unwrap is advice.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "env":
		return wrapper{short: "uCSP", long: []string{"unset", "chdir", "split-string"}, assign: true, script: "S"}, true
	case "nice":
		return wrapper{short: "n", long: []string{"adjustment"}}, true
	case "nohup", "setsid", "busybox", "toybox", "exec", "command", "builtin", "eval":
		return wrapper{}, true
	case "timeout":
		return wrapper{short: "sk", long: []string{"signal", "kill-after"}, before: 1}, true
	case "stdbuf":
		return wrapper{short: "ioe", long: []string{"input", "output", "error"}}, true
	case "ionice":
		return wrapper{short: "cnpPu", long: []string{"class", "classdata"}}, true
	case "chrt":
		return wrapper{short: "TPDp", long: []string{"sched-runtime", "sched-deadline", "sched-period"}, before: 1}, true
	case "taskset":
		return wrapper{before: 1}, true
	case "time":
		return wrapper{short: "fo", long: []string{"format", "output"}}, true
	case "xargs":
		return wrapper{short: "adEILnPs", long: []string{
			"arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "process-slot-var",
		}}, true
	case "sudo", "doas":
		return wrapper{short: "ugphCrtTRDU", long: []string{"user", "group", "prompt", "host", "chdir", "chroot"}, assign: true}, true
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh":
		return wrapper{short: "oO", long: []string{"rcfile", "init-file"}, script: "c"}, true
	}
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		return wrapper{long: []string{"library-path", "preload", "argv0", "audit", "inhibit-rpath", "glibc-hwcaps-prepend"}}, true
	}
	return wrapper{}, false
}

// unwrap is the command, what it runs, what that runs, and so on, as far as the
// arguments say so plainly.
func unwrap(c Command) []Command {
	chain := []Command{c}
	for len(chain) <= maxWrappers {
		inner, ok := unwrapOne(chain[len(chain)-1])
		if !ok {
			break
		}
		chain = append(chain, Command{Argv: inner})
	}
	return chain
}

func unwrapOne(c Command) ([]string, bool) {
	if len(c.Argv) == 0 {
		return nil, false
	}
	w, ok := wrapperOf(strings.TrimPrefix(baseName(c.Argv[0]), "-"))
	if !ok && c.Path != "" {
		w, ok = wrapperOf(baseName(c.Path))
	}
	if !ok {
		return nil, false
	}
	args, script, ok := w.options(c.Argv[1:])
	if !ok {
		return nil, false
	}
	if script != "" {
		return simpleCommand(script)
	}
	if w.script == "c" {
		return nil, false // a script in a file, or a shell for a person
	}
	if w.assign {
		args = afterAssignments(args)
	}
	if len(args) <= w.before {
		return nil, false
	}
	return args[w.before:], true
}

// options reads past the options; script is the command line that one of them has.
func (w wrapper) options(args []string) (rest []string, script string, ok bool) {
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			return args[1:], "", true
		case len(arg) < 2 || arg[0] != '-' && (arg[0] != '+' || w.script != "c"):
			return args, "", true
		}
		args = args[1:]
		if long, is := strings.CutPrefix(arg, "--"); is {
			name, value, has := strings.Cut(long, "=")
			if !slices.Contains(w.long, name) {
				continue
			}
			if !has {
				if len(args) == 0 {
					return nil, "", false
				}
				value, args = args[0], args[1:]
			}
			if name == "split-string" {
				return nil, value, true
			}
			continue
		}
		for i := 1; i < len(arg); i++ {
			letter := arg[i : i+1]
			if w.script == "c" && letter == "c" {
				// bash -ec 'command line'; what stands after it are its arguments.
				if rest, _, ok := w.options(args); ok && len(rest) > 0 {
					return nil, rest[0], true
				}
				return nil, "", false
			}
			if !strings.Contains(w.short, letter) {
				continue
			}
			value := arg[i+1:]
			if value == "" || w.script == "c" {
				if len(args) == 0 {
					return nil, "", false
				}
				value, args = args[0], args[1:]
			}
			if w.script == letter {
				return nil, value, true
			}
			break
		}
	}
	return nil, "", true
}

func afterAssignments(args []string) []string {
	for len(args) > 0 {
		if name, _, is := strings.Cut(args[0], "="); !is || name == "" || strings.ContainsAny(name, "/ ") {
			break
		}
		args = args[1:]
	}
	return args
}

// simpleCommand splits a shell's command line into words, if it is one command whose
// words stand there as they are.
func simpleCommand(line string) ([]string, bool) {
	var words []string
	var word strings.Builder
	in := false // a word has begun
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			if in {
				words, in = append(words, word.String()), false
				word.Reset()
			}
		case '\'', '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, false
			}
			quoted := line[i+1 : i+1+end]
			if c == '"' && strings.ContainsAny(quoted, "$`\\!") {
				return nil, false
			}
			word.WriteString(quoted)
			in, i = true, i+1+end
		default:
			if strings.IndexByte(";|&<>()$`\\\n\r*?[]{}~#!", c) >= 0 {
				return nil, false
			}
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	words = afterAssignments(words)
	return words, len(words) > 0
}
