package enginetest

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"loop/backend/core"
)

// playShell plays a shell for the few scripts that the suite uses.
func playShell(ctx context.Context, script string, out, errw io.Writer) int {
	for _, st := range strings.Split(script, ";") {
		st = strings.TrimSpace(st)
		switch {
		case strings.HasPrefix(st, "trap"), st == "true":
		case strings.HasPrefix(st, "sleep"):
			<-ctx.Done()
			return 143
		case strings.HasPrefix(st, "echo "):
			w, text := out, strings.TrimPrefix(st, "echo ")
			if t, ok := strings.CutSuffix(text, " >&2"); ok {
				w, text = errw, t
			}
			_, _ = fmt.Fprintln(w, text)
		case strings.HasPrefix(st, "exit "):
			var n int
			_, _ = fmt.Sscanf(st, "exit %d", &n)
			return n
		}
	}
	return 0
}

func TestFakeConformance(t *testing.T) {
	f := NewFake()
	defer func() { _ = f.Close() }()
	f.AddImage("test:latest", "sha256:1", nil)
	f.SourceExists = func(p string) bool { _, err := os.Stat(p); return err == nil }
	f.Main = func(ctx context.Context, s core.Spec, log io.Writer) int {
		return playShell(ctx, s.Entrypoint[2], log, log)
	}
	f.Exec = func(ctx context.Context, c FakeExec, stdio io.ReadWriter, stderr io.Writer) {
		if c.Argv[0] == "cat" {
			_, _ = io.Copy(stdio, stdio)
			return
		}
		playShell(ctx, c.Argv[2], stdio, stderr)
	}
	Run(t, f, "test:latest")
}
