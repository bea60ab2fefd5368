//go:build linux

package mcp

import (
	"log/slog"
	"os"
	"sync"
	"time"
)

// maxLog bounds one log file in bytes; the one before is kept beside it, so the
// disk a log takes is at most twice that.
const maxLog = 1 << 20

// callLog writes a line per call; nil writes none. A log that cannot be written
// is no reason to fail a call.
type callLog struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	out  *slog.Logger
}

func openLog(path string) *callLog {
	if path == "" {
		return nil
	}
	return &callLog{path: path}
}

func (l *callLog) call(tool string, took time.Duration, err error) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil && !l.open() {
		return
	}
	if err != nil {
		l.out.Warn(tool, "ms", took.Milliseconds(), "err", err.Error())
	} else {
		l.out.Info(tool, "ms", took.Milliseconds())
	}
	if l.size > maxLog {
		_ = l.file.Close()
		_ = os.Rename(l.path, l.path+".1")
		l.out = nil
	}
}

func (l *callLog) open() bool {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
	l.file, l.out = f, slog.New(slog.NewJSONHandler(l, nil))
	return true
}

// Write counts what goes into the file; slog calls it with the lock held by call.
func (l *callLog) Write(p []byte) (int, error) {
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}
