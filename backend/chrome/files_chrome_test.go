//go:build chrome

package chrome

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// shelf is where the files of a test's downloads go.
type shelf struct {
	dir string
	t   *testing.T

	mu      sync.Mutex
	kept    map[string]string // contents by name
	dropped []string
	fail    error
}

func newShelf(t *testing.T) *shelf { return &shelf{dir: t.TempDir(), t: t, kept: map[string]string{}} }

func (s *shelf) Dir() string { return s.dir }

func (s *shelf) Keep(_ context.Context, id, name string, size int64) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return "", s.fail
	}
	data, err := os.ReadFile(filepath.Join(s.dir, id))
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("%d bytes are there, and %d were said", len(data), size)
	}
	s.kept[name] = string(data)
	return "/shared/" + name, err
}

func (s *shelf) Drop(_ context.Context, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = append(s.dropped, ids...)
	for _, id := range ids {
		if err := os.Remove(filepath.Join(s.dir, id)); err != nil {
			return err
		}
	}
	return nil
}

// serveDownload answers below /download/.
func serveDownload(w http.ResponseWriter, r *http.Request) {
	as := func(name string) { w.Header().Set("Content-Disposition", "attachment; filename="+name) }
	switch strings.TrimPrefix(r.URL.Path, "/download/") {
	case "plain":
		as("plain.txt")
		_, _ = w.Write([]byte("twelve bytes"))
	case "hostile":
		as(`"..\\..\\../../e\u202evil` + strings.Repeat("x", 300) + `.pdf"`)
		_, _ = w.Write(make([]byte, 2000))
	case "program":
		as("setup.exe")
		_, _ = w.Write([]byte("MZ and so on"))
	case "huge":
		as("huge.bin")
		w.Header().Set("Content-Length", fmt.Sprint(maxDownload+1))
		_, _ = w.Write(make([]byte, 1<<20))
		<-r.Context().Done()
	case "slow":
		as("slow.bin")
		_, _ = w.Write(make([]byte, 1<<10))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// waitFor waits until what the browser knows fits.
func (r *rig) waitFor(what string, ok func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	for !ok() {
		r.mu.Lock()
		moved := r.moved
		r.mu.Unlock()
		if ok() {
			return
		}
		tick := time.NewTimer(50 * time.Millisecond) // not every change is a tab's
		select {
		case <-moved:
		case <-tick.C:
		case <-ctx.Done():
			r.t.Fatalf("waited in vain for %s: %+v", what, r.Downloads())
		}
		tick.Stop()
	}
}

func TestDownloads(t *testing.T) {
	s := newShelf(t)
	r := start(t, Options{Downloads: s})
	r.open("files.html")
	// A navigation that is a download succeeds, and the page stays.
	res := r.must("navigate", obj{"url": r.url + "/download/plain"})
	if res.Result != "Downloaded “plain.txt”, 12 bytes, to /shared/plain.txt." || s.kept["plain.txt"] != "twelve bytes" {
		t.Errorf("%q, kept %v", res.Result, s.kept)
	}
	if p := r.must("page_info", nil); p.Page.Title != "Files" || strings.Contains(p.Result, "Downloaded") {
		t.Errorf("%+v", p)
	}
	// Nobody is there to be asked whether a program may be kept.
	r.has(r.must("navigate", obj{"url": r.url + "/download/program"}).Result, "Downloaded “setup.exe”")
	// A click says it, too, whatever the page names the file.
	r.has(r.click("Hostile file").Result, "x.pdf”, 2 KB, to /shared/e")
	r.has(r.click("Blob").Result, "to /shared/blob .txt")
	if s.kept["blob .txt"] != "from the page" {
		t.Errorf("kept %v", s.kept)
	}
	for name := range s.kept {
		if core.PlainFileName(name) != name {
			t.Errorf("kept under the name %q", name)
		}
	}
	// Too large by its own word.
	r.has(r.click("Huge file").Result, "The download of “huge.bin” was refused. It is larger than 256 MiB.")
	// Four at a time; the others are refused, and leave nothing.
	many := r.click("Many").Result
	r.waitFor("four downloads", func() bool { return len(r.Downloads()) == 13 })
	states := map[string]int{}
	for _, d := range r.Downloads() {
		if states[d.State]++; d.State == core.DownloadDone && d.Path == "" || d.State == core.DownloadRefused && d.Why == "" || d.At == 0 || len(d.ID) < 8 {
			t.Errorf("%+v", d)
		}
	}
	if states["done"] != 4 || states["running"] != 4 || states["refused"] != 5 {
		t.Errorf("%v: %+v", states, r.Downloads())
	}
	r.has(many+r.must("page_info", nil).Result, "4 downloads run already.")
	// A tool says of one that lasts that it lasts.
	begun := time.Now()
	for _, d := range r.Downloads()[5:9] {
		if d.State == core.DownloadRunning {
			r.conn.start("", "Browser.cancelDownload", obj{"guid": d.ID}, nil)
		}
	}
	r.waitFor("the end of four downloads", func() bool {
		return !slices.ContainsFunc(r.Downloads(), func(d core.BrowserDownload) bool { return d.State == core.DownloadRunning })
	})
	r.has(r.must("navigate", obj{"url": r.url + "/download/slow"}).Result, "“slow.bin” is still being downloaded")
	if d := time.Since(begun); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestDownloadsThatFail(t *testing.T) {
	s := newShelf(t)
	s.fail = core.Fail(core.CodeDir, errors.New("full"), "The file could not be kept.", "Check that the disk is not full.")
	r := start(t, Options{Downloads: s})
	r.open("files.html")
	r.fails("was refused. The file could not be kept. Check that the disk", "navigate", obj{"url": r.url + "/download/plain"})
	r.waitFor("the file to go", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.dropped) == 1
	})
	if left, err := os.ReadDir(s.dir); err != nil || len(left) > 0 {
		t.Errorf("left %v %v", left, err)
	}
	// All together reach the bound.
	r.mu.Lock()
	r.files.ended = maxDownloadsInAll
	r.mu.Unlock()
	r.fails("have reached 1 GiB", "navigate", obj{"url": r.url + "/download/plain"})

	none := start(t, Options{})
	none.open("files.html")
	none.fails("Fetch the file with a command", "navigate", obj{"url": none.url + "/download/plain"})
	if d := none.Downloads(); len(d) != 1 || d[0].State != core.DownloadRefused {
		t.Errorf("%+v", d)
	}
}

func TestFileChooser(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 2 {
		at := filepath.Join(dir, fmt.Sprintf("mine%d.txt", i))
		if err := os.WriteFile(at, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, at)
	}
	r := start(t, Options{
		Given:   func(at string) bool { return slices.Contains(files, at) },
		PutFile: func(context.Context, string) (string, error) { return files[0], nil },
	})
	asks := func(want core.BrowserChooser) {
		t.Helper()
		r.waitFor("the chooser", func() bool {
			c, open := r.Chooser()
			return open && c == want
		})
	}
	gone := func() {
		t.Helper()
		if c, open := r.Chooser(); open {
			t.Errorf("the page still waits: %+v", c)
		}
	}
	r.open("files.html")
	r.fails("waits for no file", "choose_files", obj{"paths": files})
	r.has(r.click("One").Result, "The page asked for a file.")
	asks(core.BrowserChooser{Accept: ".txt,image/*"})
	r.fails("takes one file", "choose_files", obj{"paths": files})
	r.fails("not there any more", "choose_files", obj{"paths": []string{"/etc/passwd"}})
	r.fails("missing", "choose_files", obj{})
	r.must("choose_files", obj{"paths": files[:1]})
	gone()
	r.has(r.eval(`events.join("; ")`), "one change mine0.txt:4")

	r.click("Attach")
	asks(core.BrowserChooser{Multiple: true})
	r.must("choose_files", obj{"paths": files})
	gone()
	r.has(r.eval(`events.join("; ")`), "several change mine0.txt:4,mine1.txt:4")
	r.click("Attach")
	asks(core.BrowserChooser{Multiple: true})
	r.must("choose_files", obj{"paths": []string{}})
	gone()
	r.has(r.eval(`events.join("; ")`), "several cancel mine0.txt:4,mine1.txt:4")

	// The agent may answer instead, and a page that is left asks no more.
	r.click("One")
	asks(core.BrowserChooser{Accept: ".txt,image/*"})
	r.must("form_input", obj{"ref": r.ref("One"), "value": "x"})
	gone()
	r.click("One")
	asks(core.BrowserChooser{Accept: ".txt,image/*"})
	r.open("long.html")
	gone()

	// A frame of another site has a process of its own.
	r.open("files.html")
	r.click("Inside")
	asks(core.BrowserChooser{})
	r.must("choose_files", obj{"paths": files[:1]})
	gone()
	r.has(r.must("read_page", nil).Result, "mine0.txt")
	r.click("Inside")
	asks(core.BrowserChooser{})
	r.eval(`document.getElementById("cross").remove()`)
	r.waitFor("the frame to go", func() bool { _, open := r.Chooser(); return !open })
}
