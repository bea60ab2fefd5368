package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// MaxSize bounds config.json, in bytes. A file that a person writes is hundreds of
// times smaller; a larger one is the wrong file.
const MaxSize = 4 << 20

// maxBrackets bounds nesting before the recursive parser sees the file, which takes
// some hundred bytes of stack for each. A file that a person writes has some hundred
// brackets.
const maxBrackets = 100_000

var bom = []byte("\xef\xbb\xbf")

func load(path string) *document {
	data, info, err := readFile(path)
	if err != nil {
		doc := &document{path: path, config: locate(Defaults(), path)}
		if !errors.Is(err, fs.ErrNotExist) {
			doc.problems = []core.SettingsProblem{fileProblem(path, MaxSize, err)}
		}
		return doc
	}
	doc := decode(path, data)
	doc.config = locate(doc.config, path)
	doc.misplaced(false)
	if kind, _ := doc.config.Credential(); kind != "" && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		doc.add(place{}, kind, true,
			fmt.Sprintf("Other users of this computer can read the file (mode %04o), and it holds a credential.", info.Mode().Perm()),
			"Run chmod 600 on it.")
	}
	return doc
}

// misplaced warns of each field that has no power over there: in a project's file, or
// in Loop's own.
func (doc *document) misplaced(project bool) {
	for _, f := range leaves() {
		at, set := doc.set[f.Name]
		switch {
		case !set:
		case project && f.Project == ProjectNever:
			doc.add(at, f.Name, true, "“"+f.Name+"” is a setting of Loop itself; a project's file does not change it.",
				"Remove it here and set it in Loop's own settings file.")
		case !project && f.only:
			doc.add(at, f.Name, true, "“"+f.Name+"” does nothing here; it is for a project's own settings.",
				"Remove it, or move it to the project's .loop/config.json.")
		}
	}
}

var errDangling = errors.New("is a link that leads nowhere")

// readFile reads a file by any way that leads to it.
func readFile(path string) ([]byte, fs.FileInfo, error) {
	data, info, err := atomicfile.Read(path, MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		// A link that leads nowhere stands for a file: of a disk that is not mounted,
		// for one. Without it more would be allowed than it says.
		if _, lerr := os.Lstat(path); lerr == nil {
			err = errDangling
		}
	}
	return data, info, err
}

// reasons are why a settings file cannot be read, in words.
var reasons = []struct {
	err          error
	what, remedy string
}{
	{errLink, "The settings file of the project, or its .loop folder, is a link.", "Replace it by an ordinary file in an ordinary folder."},
	{errTreeLink, "The worktree, or a folder between it and its project, is a link.",
		"Look at what stands there, an agent may have made it; then remove the link."},
	{errSwapped, "The settings file changed while it was read.", "Try again."},
	{errDangling, "The settings file is a link that leads nowhere.", "Put the file back to where it leads, or remove the link."},
	{atomicfile.ErrFolder, "There is a folder where the settings file should be.", "Move the folder away."},
	{atomicfile.ErrNotRegular, "The settings file is not an ordinary file.", "Replace it by an ordinary file."},
	{fs.ErrPermission, "The settings file cannot be read by this user.",
		"Make it readable for yourself (chmod 600, and chown if it belongs to somebody else)."},
}

func fileProblem(path string, most int, err error) core.SettingsProblem {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return core.SettingsProblem{Path: path, Message: r.what, Remedy: r.remedy}
		}
	}
	what, remedy := "The settings file cannot be read: "+err.Error()+".", "Check the disk and the path."
	if errors.Is(err, atomicfile.ErrTooLarge) {
		what, remedy = fmt.Sprintf("The settings file is larger than %d MiB.", most>>20), "Check that it is the right file."
	}
	return core.SettingsProblem{Path: path, Message: what, Remedy: remedy}
}

// parse gives the syntax tree of data, or the problem that stops it. The text
// it parsed comes back too, since offsets count in it.
func parse(path string, data []byte) (root hujson.Value, text []byte, bad *core.SettingsProblem) {
	text = bytes.TrimPrefix(data, bom)
	at := func(offset int, msg, remedy string) (hujson.Value, []byte, *core.SettingsProblem) {
		p := (&places{text: text}).of(offset)
		return root, text, &core.SettingsProblem{Path: path, Line: p.line, Col: p.col, Message: msg, Remedy: remedy}
	}
	if whole := bytes.ToValidUTF8(text, nil); len(whole) < len(text) {
		same := 0
		for same < len(whole) && whole[same] == text[same] {
			same++
		}
		return at(same, "The text is not valid UTF-8 here.", "Save the file as UTF-8.")
	}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return at(0, fmt.Sprintf("There are more than %d brackets in the file.", maxBrackets), "Check that it is the right file.")
	}
	// A last line that is a comment without a line end is fine for a person,
	// but not for the parser.
	root, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		offset, msg := syntaxError(text, err)
		return at(offset, msg, "Correct it; until then the settings from before stay in force.")
	}
	return root, text, nil
}

var parserPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

// syntaxError puts the parser's error into words. The parser may quote the
// text it stumbled over; that is left out, since it can be a credential.
func syntaxError(data []byte, err error) (offset int, msg string) {
	text := err.Error()
	if m := parserPlace.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		col, _ := strconv.Atoi(m[2])
		lines := bytes.SplitAfter(data, []byte("\n"))
		for _, l := range lines[:min(line-1, len(lines))] {
			offset += len(l)
		}
		offset += col - 1
		text = text[len(m[0]):]
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && len(bytes.TrimSpace(data)) == 0:
		return 0, "The file is empty; even without settings it needs { }."
	case errors.Is(err, io.ErrUnexpectedEOF):
		if at, what := unclosed(data); what != "" {
			return at, what
		}
		// Where the last text ends, rather than on an empty line after it.
		return min(offset, len(bytes.TrimRight(data, " \t\r\n"))), "The file ends too early: a bracket, a quote or a comment is not closed."
	case strings.HasPrefix(text, "invalid literal"):
		return offset, "This is neither a text in double quotes, a number, true, false nor null, " +
			"or a text has a line break or an unknown \\ in it."
	case strings.HasPrefix(text, "invalid character"):
		return offset, "Syntax error: " + text + "."
	}
	return offset, "Syntax error."
}

// locate makes the paths in c absolute: ~ is the home directory, anything
// relative starts in the folder of the settings file.
func locate(c Config, path string) Config {
	dir := filepath.Dir(path)
	c.ExtraCAFiles = slices.Clone(c.ExtraCAFiles)
	c.DBPath = absolute(c.DBPath, dir, "loop.db")
	c.LogFile = absolute(c.LogFile, dir, "loop.log")
	c.Browser.HostProfile = absolute(c.Browser.HostProfile, dir, "")
	for i, f := range c.ExtraCAFiles {
		c.ExtraCAFiles[i] = absolute(f, dir, "")
	}
	return c
}

func absolute(p, dir, def string) string {
	if p == "" {
		p = def
	}
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(p) || p == "" {
		return p
	}
	return filepath.Join(dir, p)
}
