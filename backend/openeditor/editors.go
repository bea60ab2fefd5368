package openeditor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loop/backend/core"
)

// Place is where in which file. Numbers below 1 count as 1.
type Place struct {
	File         string // absolute
	Line, Column int
}

// Computer is what the choice of an editor depends on.
type Computer struct {
	OS       string // as GOOS
	LookPath func(string) (string, error)
	Getenv   func(string) string
}

// Command is how an editor is started.
type Command struct {
	Argv     []string // the first is a path
	Terminal bool     // it wants a terminal
}

// known are editors with the arguments that lead to a place.
type known struct {
	names    []string
	args     []string
	terminal bool
}

var (
	gotoPlace = []string{"--goto", "{file}:{line}:{column}"}
	onePlace  = []string{"{file}:{line}:{column}"}
	lineFirst = []string{"--line", "{line}", "{file}"}
)

// editors are in the order in which they are looked for; those for a terminal come last.
var editors = []known{
	{names: []string{"code", "cursor"}, args: gotoPlace},
	{names: []string{"zed", "zeditor"}, args: onePlace},
	{names: []string{"windsurf", "codium", "code-insiders"}, args: gotoPlace},
	{names: []string{"subl"}, args: onePlace},
	{names: []string{"idea", "goland", "webstorm", "pycharm", "clion", "rustrover", "phpstorm", "rubymine", "rider"}, args: lineFirst},
	{names: []string{"mate"}, args: []string{"--line", "{line}:{column}", "{file}"}},
	{names: []string{"kate"}, args: []string{"--line", "{line}", "--column", "{column}", "{file}"}},
	{names: []string{"gedit", "gnome-text-editor"}, args: []string{"+{line}:{column}", "{file}"}},
	{names: []string{"emacsclient"}, args: []string{"-n", "+{line}:{column}", "{file}"}},
	{names: []string{"emacs"}, args: []string{"+{line}:{column}", "{file}"}},
	{names: []string{"nvim", "vim", "vi"}, args: []string{"+{line}", "{file}"}, terminal: true},
	{names: []string{"hx", "helix", "micro"}, args: onePlace, terminal: true},
	{names: []string{"kak"}, args: []string{"+{line}:{column}", "{file}"}, terminal: true},
	{names: []string{"nano"}, args: []string{"+{line},{column}", "{file}"}, terminal: true},
}

// editorNamed is what is known of a program.
func editorNamed(program string) (known, bool) {
	name := filepath.Base(strings.ReplaceAll(program, `\`, "/"))
	name = strings.TrimSuffix(strings.ToLower(name), filepath.Ext(name))
	i := slices.IndexFunc(editors, func(k known) bool { return slices.Contains(k.names, name) })
	if i < 0 {
		return known{}, false
	}
	return editors[i], true
}

// Choose says how to open a place: by the settings' words, else by $VISUAL, by an editor that
// is found, or by $EDITOR.
func (c Computer) Choose(settings []string, at Place) (Command, error) {
	if len(settings) > 0 {
		return c.command(settings, "The setting “editor” names", at)
	}
	if words := strings.Fields(c.Getenv("VISUAL")); len(words) > 0 {
		return c.ofPerson(words, "$VISUAL names", at)
	}
	for _, terminal := range []bool{false, true} {
		if !terminal && !c.graphical() {
			continue
		}
		if words := strings.Fields(c.Getenv("EDITOR")); terminal && len(words) > 0 {
			return c.ofPerson(words, "$EDITOR names", at)
		}
		for _, k := range editors {
			for _, name := range k.names {
				if k.terminal != terminal {
					continue
				}
				if _, err := c.find(name); err == nil {
					return c.command([]string{name}, "Loop found", at)
				}
			}
		}
	}
	return Command{}, core.Fail(core.CodeNotFound, nil, "Loop found no editor on this computer.",
		"Name yours in the setting “editor”, for example [\"code\", \"--goto\", \"{file}:{line}:{column}\"].")
}

// ofPerson is command for a variable. A program that nothing is known of gets a terminal, where
// both kinds work.
func (c Computer) ofPerson(words []string, who string, at Place) (Command, error) {
	out, err := c.command(words, who, at)
	if _, isKnown := editorNamed(words[0]); !isKnown {
		out.Terminal = true
	}
	return out, err
}

// graphical reports whether programs can show windows.
func (c Computer) graphical() bool {
	return c.OS == "darwin" || c.OS == "windows" || cmp.Or(c.Getenv("DISPLAY"), c.Getenv("WAYLAND_DISPLAY")) != ""
}

// command fills a place into words. Words without a placeholder get what is known of the
// program, or the file at the end.
func (c Computer) command(words []string, who string, at Place) (Command, error) {
	k, isKnown := editorNamed(words[0])
	args := words[1:]
	if !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "{file}") }) {
		more := []string{"{file}"}
		if isKnown {
			more = k.args
		}
		args = slices.Concat(args, more)
	}
	if c.relative(words[0]) {
		return Command{}, core.Fail(core.CodeInvalid, nil, who+" "+core.CleanTitle(words[0])+", which is neither a full path nor a name alone.",
			"Write its full path there or in the setting “editor”, or its name alone if it is in PATH.")
	}
	program, err := c.find(words[0])
	if err != nil {
		return Command{}, core.Fail(core.CodeNotFound, err, who+" "+core.CleanTitle(words[0])+", which is not on this computer.",
			"Install it, or name another program in the setting “editor”, by its full path if it is not in PATH.")
	}
	if c.OS == "windows" && batch(program) && strings.ContainsAny(at.File, "\"%!&|<>^()") {
		return Command{}, core.Fail(core.CodeInvalid, nil, "The file's name has letters that a batch file would take for commands.",
			"Open it from the editor itself.")
	}
	fill := strings.NewReplacer("{file}", at.File, "{line}", number(at.Line), "{column}", number(at.Column))
	out := Command{Argv: []string{program}, Terminal: k.terminal}
	for _, a := range args {
		out.Argv = append(out.Argv, fill.Replace(a))
	}
	return out, nil
}

// relative reports whether a name is a path from somewhere. It would lead to a program of the
// folder that Loop was started in, or of one that agents write in.
func (c Computer) relative(name string) bool {
	return strings.ContainsAny(name, c.separators()) && !c.absolute(name)
}

func (c Computer) separators() string {
	if c.OS == "windows" {
		return `/\:`
	}
	return "/"
}

// find is the full path of a program.
func (c Computer) find(name string) (string, error) {
	found, err := c.LookPath(name)
	if err == nil && !c.absolute(found) {
		return "", fmt.Errorf("it is at %s, which is no full path", found)
	}
	return found, err
}

// absolute is filepath.IsAbs for the system.
func (c Computer) absolute(path string) bool {
	if c.OS != "windows" {
		return strings.HasPrefix(path, "/")
	}
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return drive || strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//")
}

func batch(program string) bool {
	ext := strings.ToLower(filepath.Ext(program))
	return ext == ".cmd" || ext == ".bat"
}

func number(n int) string { return strconv.Itoa(max(1, n)) }
