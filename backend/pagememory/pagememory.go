// Package pagememory keeps notes of the page in a file of Loop's folder. A browser
// would keep them by address, and the port is another one after each start. daemon and
// tests may import it.
package pagememory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"sync"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const fileName = "page.json"

// Bounds of the page's memory. A layout of 24 groups is some 5 KiB.
const (
	maxMemoryKeys  = 2048
	maxMemoryValue = 64 << 10
	maxMemoryFile  = 16 << 20
)

var memoryKey = regexp.MustCompile(`^[a-z][a-z0-9.]{0,79}$`)

// File holds names and short texts that mean nothing to Loop. Methods may be called
// from any goroutine.
type File struct {
	name string

	mu   sync.Mutex
	kept map[string]string
}

// Open reads the file. One that cannot be read is no reason not to
// start: the page begins as on the first day.
func Open(home string) (*File, error) {
	m := &File{name: filepath.Join(home, fileName), kept: map[string]string{}}
	data, _, err := atomicfile.Read(m.name, maxMemoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	read := map[string]string{}
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		return m, fmt.Errorf("read the page's memory: %w", err)
	}
	for k, v := range read {
		if len(m.kept) < maxMemoryKeys && memoryKey.MatchString(k) && len(v) <= maxMemoryValue {
			m.kept[k] = v
		}
	}
	return m, nil
}

// All is everything kept.
func (m *File) All() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.kept)
}

// Keep stores a value, or forgets it when it is empty.
func (m *File) Keep(key, value string) error {
	if !memoryKey.MatchString(key) || len(value) > maxMemoryValue {
		return core.Fail(core.CodeInvalid, nil, "That cannot be kept.", "Names are small letters, digits and dots; values have 64 KiB at most.")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := maps.Clone(m.kept)
	if next[key] = value; value == "" {
		delete(next, key)
	}
	switch {
	case maps.Equal(next, m.kept):
		return nil
	case len(next) > maxMemoryKeys:
		return core.Fail(core.CodeTooMany, nil, "The page keeps too much already.", "Remove channels that are not needed.")
	}
	b, err := json.Marshal(next)
	if err == nil {
		err = atomicfile.Replace(m.name, b)
	}
	if err != nil {
		return core.Fail(core.CodeInternal, err, "Loop could not write into its folder.", "Check that the disk is not full.")
	}
	m.kept = next
	return nil
}
