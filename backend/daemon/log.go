package daemon

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"loop/backend/core"
)

// maxLogBytes is when the log of an earlier launch is set aside: one file of
// the past is kept, so the folder never holds more than two of this size.
const maxLogBytes = 16 << 20

// openLog opens the log for appending, 0600, and sets a long one aside first.
func openLog(path, level, format string) (*slog.Logger, io.Closer, error) {
	fail := func(err error) (*slog.Logger, io.Closer, error) {
		return nil, nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("The log file %s cannot be written.", path), "Correct log_file in the configuration, or check who owns the folder.")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > maxLogBytes {
		if err := os.Rename(path, path+".old"); err != nil {
			return fail(err)
		}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && info.Mode()&os.ModeCharDevice == 0 {
		return fail(errors.New("it is neither a file nor a terminal")) // opening a named pipe would wait for a reader
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fail(err)
	}
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo // the configuration's check has named the bad value already
	}
	opts := &slog.HandlerOptions{Level: l}
	var h slog.Handler = slog.NewTextHandler(f, opts)
	if format == "json" {
		h = slog.NewJSONHandler(f, opts)
	}
	return slog.New(h), f, nil
}
