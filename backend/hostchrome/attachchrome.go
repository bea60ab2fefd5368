package hostchrome

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"time"

	"loop/backend/browser"
	"loop/backend/chrome"
	"loop/backend/core"
)

const notice = "This is your own Chrome, with what you are signed in to. The agent sees and drives only the tabs that are shown here. " +
	"localhost is this computer, and nothing keeps pages from private addresses; what a page downloads goes where Chrome puts it."

// Attach takes part in a Chrome that the person started, as the browser of a channel. To
// close it closes its tabs; Chrome goes on. profile is that of Connect. Errors are
// *core.Failure.
func Attach(ctx context.Context, profile string, h browser.Hooks, log *slog.Logger) (run browser.Running, err error) {
	c, err := Connect(ctx, profile, Folders(runtime.GOOS, os.Getenv))
	if err != nil {
		return run, err
	}
	files := newGivenFiles(c.Folder, time.Now())
	b, err := chrome.Open(ctx, c.Out, c.In, chrome.Options{
		Frame: h.Frame, Changed: h.Changed, Opens: h.Opens, Given: files.given, DevToolsPort: c.Port, Log: log,
	})
	if err != nil {
		return run, core.Fail(core.CodeNotFound, err, "Your Chrome takes the connection, but does not do what Loop asks.", how)
	}
	log.Info("attached to the person's Chrome", "folder", c.Folder)
	return browser.Running{
		Driver: b, Page: b, Prompts: b, Mode: core.BrowserOnHost, Notices: []string{notice}, PutFile: files.put,
		Close:   func() error { return errors.Join(b.Close(), files.close()) },
		Watched: func(context.Context, bool) error { return nil }, // it has all that this computer has
		Lost: core.Fail(core.CodeNotFound, nil,
			"The connection to your Chrome has ended: Chrome was closed, or remote debugging switched off.", how),
	}, nil
}
