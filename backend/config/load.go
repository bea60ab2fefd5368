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
	"syscall"

	"github.com/tailscale/hujson"
)

// MaxSize bounds config.json. It is hundreds of times what a person writes;
// something larger is the wrong file.
const MaxSize = 4 << 20

// maxBrackets bounds nesting before the recursive parser sees the file, which takes
// some hundred bytes of stack for each. What a person writes has some hundred.
const maxBrackets = 100_000

var bom = []byte("\xef\xbb\xbf")

func load(path string) *document {
	data, mode, err := readFile(path)
	if err != nil {
		doc := &document{path: path, config: locate(Defaults(), path)}
		if !errors.Is(err, fs.ErrNotExist) {
			doc.problems = []Problem{fileProblem(path, err)}
		}
		return doc
	}
	doc := decode(path, data)
	doc.config = locate(doc.config, path)
	doc.onlyProject()
	if kind, _ := doc.config.Credential(); kind != "" && runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 {
		doc.add(place{}, kind, true,
			fmt.Sprintf("Other users of this computer can read the file (mode %04o), and it holds a credential.", mode.Perm()),
			"Run chmod 600 on it.")
	}
	return doc
}

// warn adds a warning for each field of the file that it has no power over there.
func (doc *document) warn(which func(Field) bool, what, remedy string) {
	for _, f := range leaves() {
		if at, set := doc.set[f.Name]; set && which(f) {
			doc.add(at, f.Name, true, "“"+f.Name+"” "+what, remedy)
		}
	}
}

// onlyProject names the fields that mean something in a project's file only.
func (doc *document) onlyProject() {
	doc.warn(func(f Field) bool { return f.only }, "does nothing here; it is for a project's own settings.",
		"Remove it, or move it to the project's .loop/config.json.")
}

var (
	errTooLarge   = errors.New("file is too large")
	errNotRegular = errors.New("not a regular file")
	errIsDir      = errors.New("is a directory")
	errDangling   = errors.New("is a link that leads nowhere")
)

// readFile reads a file by any way that leads to it.
func readFile(path string) ([]byte, fs.FileMode, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if errors.Is(err, fs.ErrNotExist) {
		// A link that leads nowhere stands for a file: of a disk that is not mounted,
		// for one. Without it more would be allowed than it says.
		if _, lerr := os.Lstat(path); lerr == nil {
			err = errDangling
		}
	}
	if err != nil {
		return nil, 0, err
	}
	data, info, err := readOpened(f, MaxSize)
	if err != nil {
		return nil, 0, err
	}
	return data, info.Mode(), nil
}

// noWait has an open of a named pipe not wait for somebody who writes.
const noWait = syscall.O_NONBLOCK

// readOpened reads an ordinary file of most bytes at most, and closes it.
func readOpened(f *os.File, most int64) ([]byte, fs.FileInfo, error) {
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return nil, nil, errIsDir
	case !info.Mode().IsRegular():
		return nil, nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, info, err
}

func fileProblem(path string, err error) Problem {
	p := Problem{Path: path}
	switch {
	case errors.Is(err, errIsDir):
		p.Message, p.Remedy = "There is a folder where the settings file should be.", "Move the folder away."
	case errors.Is(err, errDangling):
		p.Message, p.Remedy = "The settings file is a link that leads nowhere.", "Put the file back to where it leads, or remove the link."
	case errors.Is(err, errNotRegular):
		p.Message, p.Remedy = "The settings file is not an ordinary file.", "Replace it by an ordinary file."
	case errors.Is(err, errTooLarge):
		p.Message, p.Remedy = fmt.Sprintf("The settings file is larger than %d MiB.", MaxSize>>20), "Check that it is the right file."
	case errors.Is(err, fs.ErrPermission):
		p.Message = "The settings file cannot be read by this user."
		p.Remedy = "Make it readable for yourself (chmod 600, and chown if it belongs to somebody else)."
	default:
		p.Message, p.Remedy = "The settings file cannot be read: "+err.Error()+".", "Check the disk and the path."
	}
	return p
}

// parse gives the syntax tree of data, or the problem that stops it. The text
// it parsed comes back too, since offsets count in it.
func parse(path string, data []byte) (root hujson.Value, text []byte, bad *Problem) {
	text = bytes.TrimPrefix(data, bom)
	at := func(offset int, msg, remedy string) (hujson.Value, []byte, *Problem) {
		p := (&places{text: text}).of(offset)
		return root, text, &Problem{Path: path, Line: p.line, Col: p.col, Message: msg, Remedy: remedy}
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
