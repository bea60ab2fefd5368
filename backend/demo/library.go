package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// DefaultScript is what a run without a directive gets.
const DefaultScript = "tour"

//go:embed scripts/*.json
var embedded embed.FS

// Library is a set of scripts by name. It does not change once made and may be
// used from any goroutine.
type Library struct{ scripts map[string]*Script }

var builtin = sync.OnceValues(func() (*Library, error) {
	sub, err := fs.Sub(embedded, "scripts")
	if err != nil {
		return nil, fmt.Errorf("open embedded demo scripts: %w", err)
	}
	return LoadDir(sub)
})

// Builtin returns the scripts that ship with Loop.
func Builtin() (*Library, error) { return builtin() }

// LoadDir reads every *.json file at the top of dir. Each file that is wrong
// adds a *ScriptError to the joined error.
func LoadDir(dir fs.FS) (*Library, error) {
	files, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, fmt.Errorf("list demo scripts: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("list demo scripts: there is no .json file")
	}
	l := &Library{scripts: make(map[string]*Script, len(files))}
	var bad []error
	for _, f := range files {
		data, err := fs.ReadFile(dir, f)
		if err != nil {
			bad = append(bad, fmt.Errorf("read demo script: %w", err))
			continue
		}
		s, err := ParseScript(strings.TrimSuffix(path.Base(f), ".json"), data)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		l.scripts[s.Name] = s
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	return l, nil
}

// With returns the scripts of l and over; over wins where a name is in both.
func (l *Library) With(over *Library) *Library {
	out := &Library{scripts: make(map[string]*Script, len(l.scripts)+len(over.scripts))}
	for _, from := range []*Library{l, over} {
		for name, s := range from.scripts {
			out.scripts[name] = s
		}
	}
	return out
}

// Names lists the scripts in alphabetical order.
func (l *Library) Names() []string {
	names := make([]string, 0, len(l.scripts))
	for n := range l.scripts {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Script returns one by name.
func (l *Library) Script(name string) (*Script, bool) {
	s, ok := l.scripts[name]
	return s, ok
}
