// Package themes reads colour themes of other programs, makes looks of Loop's page of them
// that can be read, and keeps those that a person wants. What gets out of a file is colours
// by the page's own names, and the theme's name. daemon and tests may import it.
package themes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// Folder is where themes are, below Loop's folder.
const Folder = "themes"

const (
	maxThemes = 50
	maxFile   = 64 << 10
	maxName   = 60
)

// Store keeps themes, each in a file of its own. Methods may be called from any goroutine.
type Store struct {
	dir string
	mu  sync.Mutex
}

// In keeps themes below Loop's folder, which need not have any.
func In(home string) *Store { return &Store{dir: filepath.Join(home, Folder)} }

// Name is a name that a theme can have: what can be seen of a text, on one line.
func Name(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxName {
		s = strings.TrimSpace(string(runes[:maxName]))
	}
	return s
}

func (s *Store) file(name string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:8])+".json")
}

// Read says what a text is as a theme. name is the person's; without one the text's own counts.
func (s *Store) Read(name string, text []byte) (core.ReadTheme, error) {
	src, err := read(text)
	if err != nil {
		return core.ReadTheme{}, err
	}
	l, changes := lookOf(src)
	out := core.ReadTheme{Name: Name(name), Format: src.format, Look: l, Changes: changes}
	if out.Name == "" {
		out.Name = Name(src.name)
	}
	if have, ok := s.Get(out.Name); ok {
		out.Kept = "other"
		if slices.ContainsFunc(have.Looks, func(x core.ThemeLook) bool { return x.Dark == l.Dark }) {
			out.Kept = "same"
		}
	}
	return out, nil
}

// Keep reads a text and keeps it as a look of the theme of that name, besides the one of the
// other kind.
func (s *Store) Keep(name string, text []byte, reserved func(string) bool) (core.Theme, error) {
	r, err := s.Read(name, text)
	if err != nil {
		return core.Theme{}, err
	}
	switch {
	case r.Name == "":
		return core.Theme{}, core.Fail(core.CodeInvalid, nil, "The theme has no name.", "Give it one.")
	case reserved(r.Name):
		return core.Theme{}, core.Fail(core.CodeInvalid, nil, "“"+r.Name+"” is the name of one of Loop's own themes.",
			"Give it another name.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.get(r.Name)
	if !ok && len(s.names()) >= maxThemes {
		return core.Theme{}, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("There are %d themes already.", maxThemes),
			"Remove one that you do not use.")
	}
	t.Name = r.Name
	t.Looks = append(slices.DeleteFunc(t.Looks, func(x core.ThemeLook) bool { return x.Dark == r.Look.Dark }), r.Look)
	slices.SortFunc(t.Looks, func(a, b core.ThemeLook) int {
		return map[bool]int{true: 0, false: 1}[a.Dark] - map[bool]int{true: 0, false: 1}[b.Dark]
	})
	data, err := json.Marshal(t, json.Deterministic(true))
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err == nil {
		err = atomicfile.Replace(s.file(t.Name), data)
	}
	if err != nil {
		return core.Theme{}, core.Fail(core.CodeInternal, err, "Loop could not write into its folder.", "Check that the disk is not full.")
	}
	return t, nil
}

// Remove forgets a theme.
func (s *Store) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Remove(s.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return core.Fail(core.CodeInternal, err, "Loop could not remove the theme.", "Look who owns the files in "+s.dir+".")
	}
	return nil
}

// Get is the theme of a name.
func (s *Store) Get(name string) (core.Theme, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(name)
}

func (s *Store) get(name string) (core.Theme, bool) {
	if name == "" {
		return core.Theme{}, false
	}
	t, ok := s.open(s.file(name))
	return t, ok && strings.EqualFold(t.Name, name)
}

// List has all themes by name. A file that is none is left out.
func (s *Store) List() []core.Theme {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []core.Theme{}
	for _, f := range s.names() {
		if t, ok := s.open(f); ok && s.file(t.Name) == f {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b core.Theme) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return out
}

// names are the files of themes, as many as there can be.
func (s *Store) names() []string {
	all, _ := filepath.Glob(filepath.Join(s.dir, "*.json")) // the pattern is whole
	return all[:min(len(all), maxThemes)]
}

// open reads a file. Only tokens of the page and their colours get through: somebody may
// have put something else there.
func (s *Store) open(file string) (core.Theme, bool) {
	data, _, err := atomicfile.Read(file, maxFile)
	if err != nil {
		return core.Theme{}, false
	}
	var t core.Theme
	if json.Unmarshal(data, &t) != nil || t.Name == "" || Name(t.Name) != t.Name || len(t.Looks) == 0 || len(t.Looks) > 2 {
		return core.Theme{}, false
	}
	if len(t.Looks) == 2 && t.Looks[0].Dark == t.Looks[1].Dark {
		return core.Theme{}, false
	}
	for _, l := range t.Looks {
		if len(l.Colors) != len(Tokens()) {
			return core.Theme{}, false
		}
		for _, token := range Tokens() {
			if c, ok := hexOnly(l.Colors[token]); !ok || c.String() != l.Colors[token] {
				return core.Theme{}, false
			}
		}
	}
	return t, true
}

func hexOnly(s string) (rgb, bool) {
	if len(s) != 7 {
		return rgb{}, false
	}
	return hexColour(s, black)
}

// Tokens are the names of the page's colours that a theme sets.
var Tokens = sync.OnceValue(func() []string {
	any := &source{colours: map[string]rgb{background: black, foreground: white}, called: map[string]string{}}
	l, _ := lookOf(any)
	return slices.Sorted(maps.Keys(l.Colors))
})
