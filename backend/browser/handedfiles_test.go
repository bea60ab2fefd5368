package browser

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

func (f *fakeChrome) putFile(_ context.Context, name string, r io.Reader) (string, error) {
	data, err := io.ReadAll(r)
	return "/inside/" + name + "/" + string(data), err
}

// TestScreenshotsOfAgents: a picture is kept where the agent finds it, and by the settings
// comes as a path alone. A pane's is its own.
func TestScreenshotsOfAgents(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n and so on"
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		shot := func() core.BrowserResult {
			t.Helper()
			res, err := s.Agent(t.Context(), agent, act("screenshot"))
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		shot()
		picture := func(data string) {
			s.chrome(t, 1).do = func(context.Context, core.BrowserAction) core.BrowserResult {
				return core.BrowserResult{Result: "A picture.", Image: []byte(data)}
			}
		}
		picture(png)
		res := shot()
		name := strings.TrimPrefix(res.Path, "/shared/c/")
		if string(res.Image) != png || !strings.HasPrefix(name, "screenshot-") || !strings.HasSuffix(name, ".png") || string(s.saved[name]) != png {
			t.Errorf("%+v, saved %v", res, s.saved)
		}
		s.byPath = true
		<-time.After(time.Nanosecond)
		if res := shot(); res.Image != nil || res.Path == "" || res.Path == "/shared/c/"+name {
			t.Errorf("%+v", res)
		}
		picture("\xff\xd8\xff a large one")
		if res := shot(); !strings.HasSuffix(res.Path, ".jpg") {
			t.Errorf("%+v", res)
		}
		s.unsaved = core.Fail(core.CodeMount, errors.New("none"), "There is no folder.", "Make one.")
		if res := shot(); res.Image != nil || res.Error != "There is no folder. Make one." {
			t.Errorf("%+v", res)
		}
		s.byPath = false
		if res := shot(); res.Image == nil || res.Error != "" || res.Path != "" {
			t.Errorf("%+v", res)
		}
		n := len(s.saved)
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		v.Handle(core.BrowserCommand{Type: "act", ID: 7, Action: "screenshot"})
		_ = v.Close()
		if len(s.saved) != n {
			t.Error("the pane's screenshot was kept for the agent")
		}
	})
}

func TestPersonsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage()
		defer func() { _ = s.Close() }()
		put := func() (string, error) { return s.PutFile(t.Context(), "c", "a.txt", strings.NewReader("text")) }
		if _, err := put(); core.AsFailure(err).Code != core.CodeConflict {
			t.Errorf("no browser runs: %v", err)
		}
		if _, err := s.Agent(t.Context(), agent, act("navigate")); err != nil {
			t.Fatal(err)
		}
		if at, err := put(); err != nil || at != "/inside/a.txt/text" {
			t.Errorf("%s %v", at, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := put(); core.AsFailure(err).Code != core.CodeConflict {
			t.Errorf("the browser has ended: %v", err)
		}
	})
}
