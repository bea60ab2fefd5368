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
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxSize bounds config.json. It is hundreds of times what a person writes;
// something larger is the wrong file.
const MaxSize = 4 << 20

// maxDepth bounds nesting before the recursive parser sees the file. The
// deepest thing that means something (a value in envs) needs far less.
const maxDepth = 64

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
		doc.problems = append(doc.problems, Problem{
			Path: path, Field: kind, Warning: true,
			Message: fmt.Sprintf("Other users of this computer can read the file (mode %04o), and it holds a credential.", mode.Perm()),
			Remedy:  "Run chmod 600 on it.",
		})
	}
	return doc
}

// onlyProject names the fields that mean something in a project's file only.
func (doc *document) onlyProject() {
	for _, f := range leaves() {
		if offset, set := doc.set[f.Name]; set && f.only {
			line, col := position(doc.text, offset)
			doc.problems = append(doc.problems, Problem{
				Path: doc.path, Line: line, Col: col, Field: f.Name, Warning: true,
				Message: fmt.Sprintf("“%s” does nothing here; it is for a project's own settings.",
					f.Name), Remedy: "Remove it, or move it to the project's .loop/config.json.",
			})
		}
	}
}

var (
	errTooLarge   = errors.New("file is too large")
	errNotRegular = errors.New("not a regular file")
	errIsDir      = errors.New("is a directory")
	errDangling   = errors.New("is a link that leads nowhere")
)

func readFile(path string) ([]byte, fs.FileMode, error) {
	// Looked at before it is opened: opening a named pipe would wait for ever.
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A link that leads nowhere stands for a file: of a disk that is not mounted,
		// for one. Without it more would be allowed than it says.
		if _, lerr := os.Lstat(path); lerr == nil {
			return nil, 0, errDangling
		}
	}
	if err != nil {
		return nil, 0, err
	}
	switch {
	case info.IsDir():
		return nil, 0, errIsDir
	case !info.Mode().IsRegular():
		return nil, 0, errNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, 0, err
	}
	if len(data) > MaxSize {
		return nil, 0, errTooLarge
	}
	return data, info.Mode(), nil
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
func parse(path string, data []byte) (hujson.Value, []byte, *Problem) {
	data = bytes.TrimPrefix(data, bom)
	at := func(offset int, msg, remedy string) *Problem {
		line, col := position(data, offset)
		return &Problem{Path: path, Line: line, Col: col, Message: msg, Remedy: remedy}
	}
	if bad := invalidUTF8(data); bad >= 0 {
		return hujson.Value{}, data, at(bad, "The text is not valid UTF-8 here.", "Save the file as UTF-8.")
	}
	if deep := tooDeep(data); deep >= 0 {
		return hujson.Value{}, data, at(deep, fmt.Sprintf("Brackets are nested deeper than %d.", maxDepth), "Remove the inner ones.")
	}
	// A last line that is a comment without a line end is fine for a person,
	// but not for the parser.
	v, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		offset, msg := syntaxError(data, err)
		return hujson.Value{}, data, at(offset, msg, "Correct it; until then the settings from before stay in force.")
	}
	return v, data, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns where nesting passes maxDepth, or -1. It knows strings and
// comments just well enough not to count brackets in them; a text that is
// malformed so as to confuse it is malformed for the parser too.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			rest := data[i:]
			if bytes.HasPrefix(rest, []byte("//")) {
				n := bytes.IndexByte(rest, '\n')
				if n < 0 {
					return -1
				}
				i += n
			} else if bytes.HasPrefix(rest, []byte("/*")) {
				n := bytes.Index(rest[2:], []byte("*/"))
				if n < 0 {
					return -1
				}
				i += n + 3
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

var parserPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

// syntaxError puts the parser's error into words. The parser may quote the
// text it stumbled over; that is left out, since it can be a credential.
func syntaxError(data []byte, err error) (offset int, msg string) {
	text := err.Error()
	if m := parserPlace.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		col, _ := strconv.Atoi(m[2])
		whole := append(bytes.Clone(data), '\n') // as parse gave it to the parser
		for ; line > 1; line-- {
			offset += bytes.IndexByte(whole[min(offset, len(whole)):], '\n') + 1
		}
		offset += col - 1
		text = text[len(m[0]):]
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		if len(bytes.TrimSpace(data)) == 0 {
			return 0, "The file is empty; even without settings it needs { }."
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
