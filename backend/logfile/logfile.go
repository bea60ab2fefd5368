// Package logfile is Loop's log: a file that is renamed to “.old” when it is long. daemon
// and tests may import it.
package logfile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"loop/backend/core"
)

// maxLogBytes is the length at which the log is set aside. One old file is kept, so
// that the folder holds little more than two of this size: an agent can fill a log,
// by requests that are refused.
const maxLogBytes = 16 << 20

// Options of a log.
type Options struct {
	Path   string
	Level  string // debug, info, warn, error; anything else is info
	Format string // json, or text
}

// File is a log that is set aside when it is long. Its methods may be called from
// any goroutine.
type File struct {
	path  string
	level slog.LevelVar

	mu   sync.Mutex
	f    *os.File
	size int64
}

// Open opens the log for appending, 0600, and sets a long one aside, at once and
// whenever it has become one. The caller closes the File when nothing logs any
// more.
func Open(o Options) (*slog.Logger, *File, error) {
	fail := func(err error) (*slog.Logger, *File, error) {
		return nil, nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("The log file %s cannot be written.", o.Path),
			"Correct log_file in the configuration, or check who owns the folder.")
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return fail(err)
	}
	if info, err := os.Stat(o.Path); err == nil && !info.Mode().IsRegular() && info.Mode()&os.ModeCharDevice == 0 {
		return fail(errors.New("it is neither a file nor a terminal")) // opening a named pipe would wait for a reader
	}
	f := &File{path: o.Path}
	if err := f.open(); err != nil {
		return fail(err)
	}
	f.SetLevel(o.Level)
	opts := &slog.HandlerOptions{Level: &f.level}
	var h slog.Handler = slog.NewTextHandler(f, opts)
	if o.Format == "json" {
		h = slog.NewJSONHandler(f, opts)
	}
	return slog.New(h), f, nil
}

// SetLevel says what is logged from now on, in the words of Options.
func (l *File) SetLevel(level string) {
	var v slog.Level
	if err := v.UnmarshalText([]byte(level)); err != nil {
		v = slog.LevelInfo // the configuration's check has named the bad value already
	}
	l.level.Set(v)
}

// open opens what is at the path, setting it aside when it is long. A log that cannot
// be set aside goes on where it is rather than be silent, and is tried again as much
// later.
func (l *File) open() (err error) {
	l.size = 0
	if info, err := os.Stat(l.path); err == nil && info.Mode().IsRegular() {
		if l.size = info.Size(); l.size > maxLogBytes {
			_ = os.Rename(l.path, l.path+".old")
			l.size = 0
		}
	}
	l.f, err = os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return err
}

// Write appends one record.
func (l *File) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > maxLogBytes {
		_ = l.f.Close() // before it is renamed: Windows does not rename what is open
		if err := l.open(); err != nil {
			l.size = maxLogBytes + 1 // the next record tries again
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// Close ends the log.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}
