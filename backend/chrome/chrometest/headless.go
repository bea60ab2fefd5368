// Package chrometest starts a real Chromium for tests, and serves pages to look at. It
// knows nothing of backend/chrome, whose own tests use it. Tests of any package may
// import it; nothing else may.
package chrometest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Chromium is a browser of one test, with its debugging pipe.
type Chromium struct {
	Out io.ReadCloser  // what it writes
	In  io.WriteCloser // what it reads; it ends when this is closed
	Cmd *exec.Cmd
}

// endPatience is how long a Chromium may take to end by itself, after its pipe was closed.
const endPatience = 5 * time.Second

// Start starts a Chromium with an empty profile. It has ended when the test has: the test
// closes Out and In.
func Start(tb testing.TB, args ...string) *Chromium {
	tb.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "loop-chromium-")
	if err != nil {
		tb.Fatal(err)
	}
	words, err := os.Create(filepath.Join(tb.TempDir(), "words"))
	if err != nil {
		tb.Fatal(err)
	}
	// Root, as which CI runs, has no sandbox of Chromium's; the pages are our own.
	args = append([]string{"--remote-debugging-pipe", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-dev-shm-usage", "--user-data-dir=" + profile}, args...)
	c := &Chromium{Out: outR, In: inW, Cmd: exec.CommandContext(context.Background(), program(tb), append(args, "about:blank")...)}
	c.Cmd.ExtraFiles, c.Cmd.Stderr = []*os.File{inR, outW}, words
	if err := c.Cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	_ = inR.Close()
	_ = outW.Close()
	tb.Cleanup(func() {
		late := time.AfterFunc(endPatience, func() { _ = c.Cmd.Process.Kill() })
		_ = c.Cmd.Wait()
		late.Stop()
		if tb.Failed() {
			tb.Logf("Chromium: %v. It said last:\n%s", c.Cmd.ProcessState, tail(words))
		}
		_ = words.Close()
		// Its other processes end a moment later, and write until then.
		for range 600 {
			if err = os.RemoveAll(profile); err == nil {
				return
			}
			<-time.After(100 * time.Millisecond)
		}
		tb.Error(err)
	})
	return c
}

// maxWords bounds what is shown of Chromium's words, in bytes.
const maxWords = 4 << 10

// tail is the end of a file.
func tail(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil {
		return []byte(err.Error())
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxWords), maxWords))
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// program is the Chromium of this computer; build/setup.sh sees to it that there is one.
func program(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Fatal("no Chromium is installed: make test installs one")
	return ""
}

// Pages serves the files of a folder, what more serves below a path, and answers of its own: /spa/… is one page,
// /slow never an end. It is reached by 127.0.0.1, and by localhost as another site.
func Pages(tb testing.TB, dir string, more map[string]http.HandlerFunc) (url string) {
	tb.Helper()
	files := http.FileServer(http.Dir(dir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for below, serve := range more {
			if strings.HasPrefix(r.URL.Path, below) {
				serve(w, r)
				return
			}
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/spa/"):
			http.ServeFile(w, r, dir+"/spa.html")
		case r.URL.Path == "/data.json":
			_, _ = w.Write([]byte(`{"ok":true}`))
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		default:
			files.ServeHTTP(w, r)
		}
	}))
	tb.Cleanup(s.Close)
	tb.Cleanup(s.CloseClientConnections)
	return s.URL
}
