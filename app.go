//go:build desktop

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/menu/keys"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/daemon"
	"loop/backend/dialog"
)

// App owns the native window: its life, its folder dialog and opening links.
// Everything else is in daemon.
type App struct {
	daemon *daemon.Daemon

	mu     sync.Mutex      // guards ctx, cancel and hidden
	ctx    context.Context // Wails' own, valid between OnStartup and OnShutdown
	cancel func()          // ends the window's events
	hidden bool            // put away by Hide or Quit, and not shown since

	events sync.WaitGroup
	failed error // why startup gave up
}

var openWindow = runWindow

// runWindow blocks until the window is gone and everything is closed.
func runWindow(ctx context.Context, opts daemon.Options) error {
	if goruntime.GOOS == "linux" && os.Getenv("WEBKIT_DISABLE_DMABUF_RENDERER") == "" {
		// WebKitGTK's DMA-BUF renderer shows an empty window on several drivers.
		_ = os.Setenv("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
	}
	app := &App{}
	opts.Window, opts.Saves, opts.Dialogs, opts.Frame = app, app, dialog.New(), dialog.NewFrame()
	opts.Notices = dialog.NewNotifier(systemNotices{app}, app.Show)
	d, err := daemon.NewOrShow(ctx, opts)
	if d == nil {
		return err
	}
	app.daemon = d
	defer d.Close()
	stop := context.AfterFunc(ctx, app.Quit)
	defer stop()
	err = run(&options.App{
		Title: "Loop", Width: 1280, Height: 820, MinWidth: 900, MinHeight: 400,
		AssetServer:        &assetserver.Options{Assets: opts.Frontend, Middleware: withPolicy(d.ContentPolicy())},
		BackgroundColour:   options.NewRGB(20, 23, 27), // --bg-1 of the dark theme: no white flash
		OnStartup:          app.startup,
		OnShutdown:         app.shutdown,
		OnBeforeClose:      app.beforeClose,
		Menu:               app.menu(),
		Bind:               d.Bound(),
		ErrorFormatter:     formatError,
		LogLevelProduction: logger.ERROR,
		// Files dropped on a terminal or the prompt box come as paths. The page keeps
		// the window from navigating to one that is dropped elsewhere
		// (shell/drops.ts); to refuse drops here would also end dragging within the
		// page on GTK.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: true},
		Linux:       &linux.Options{ProgramName: "loop", WebviewGpuPolicy: linux.WebviewGpuPolicyOnDemand},
	})
	if err != nil {
		return fmt.Errorf("open window: %w", err)
	}
	return app.failed
}

// run is wails.Run, which panics when GTK finds no display that lets it in.
func run(o *options.App) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if !strings.Contains(fmt.Sprint(r), "GTK") {
				panic(r)
			}
			err = core.Fail("no_display", fmt.Errorf("%v", r),
				fmt.Sprintf("No window can be opened: the display %q does not let Loop in.", os.Getenv("DISPLAY")),
				"Check DISPLAY and WAYLAND_DISPLAY, or use “loop serve”, which shows the same page in a browser.")
		}
	}()
	return wails.Run(o)
}

// withPolicy gives the window's page a content policy.
func withPolicy(policy string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			next.ServeHTTP(w, r)
		})
	}
}

func (a *App) startup(ctx context.Context) {
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	if err := a.daemon.Start(); err != nil {
		// Nothing can work without the folder; say so where it will be seen.
		_, _ = runtime.MessageDialog(ctx, runtime.MessageDialogOptions{Type: runtime.ErrorDialog, Title: "Loop cannot start",
			Message: "Loop could not write into its folder. Check that the disk is not full and who owns the folder."})
		a.failed = err
		a.Quit()
		return
	}
	if a.daemon.Closing() { // asked to end before there was a window to close
		runtime.Quit(ctx)
		return
	}
	following, cancel := context.WithCancel(ctx)
	batches, _ := a.daemon.Events(following) // it never fails in this process
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx == nil { // shut down meanwhile
		cancel()
		return
	}
	a.cancel = cancel
	a.events.Go(func() {
		for batch := range batches {
			runtime.EventsEmit(ctx, "loop:events", batch)
		}
	})
}

func (a *App) shutdown(context.Context) {
	a.mu.Lock()
	a.ctx = nil
	cancel := a.cancel
	a.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	a.events.Wait()
}

// beforeClose must not wait: on Windows it is called on the thread that the page
// answers on.
func (a *App) beforeClose(context.Context) (prevent bool) {
	if a.daemon.Closing() {
		return false
	}
	go a.closeRequested(bind.AskClose)
	return true
}

func (a *App) closeRequested(what string) {
	if a.daemon.CloseRequested(what) {
		a.Quit()
	}
}

// menu gives macOS its menu bar; its own Quit item would look like a closed window.
// Elsewhere there is none, and the page has the keys.
func (a *App) menu() *menu.Menu {
	if goruntime.GOOS != "darwin" {
		return nil
	}
	quit := menu.Text("Quit Loop", keys.CmdOrCtrl("q"), func(*menu.CallbackData) { go a.closeRequested(bind.AskQuit) })
	hide := menu.Text("Hide Loop", keys.CmdOrCtrl("h"), func(*menu.CallbackData) { a.inWindow(runtime.Hide) })
	return menu.NewMenuFromItems(menu.SubMenu("Loop", menu.NewMenuFromItems(hide, menu.Separator(), quit)), menu.EditMenu(), menu.WindowMenu())
}

// Show brings the window to the front, also when it is hidden.
func (a *App) Show() {
	a.putAway(false)
	a.inWindow(runtime.WindowUnminimise)
	a.inWindow(runtime.WindowShow)
}

// Hide puts the window away; what runs in it goes on.
func (a *App) Hide() {
	a.putAway(true)
	a.inWindow(runtime.WindowHide)
}

func (a *App) putAway(hidden bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hidden = hidden
}

// Visible reports that the window is neither hidden nor minimised. Loop itself knows what
// it has hidden: no system tells. A Wayland compositor does not tell what it has
// minimised either; such a window counts as visible here (dialog.Watched).
func (a *App) Visible() bool {
	a.mu.Lock()
	ctx, hidden := a.ctx, a.hidden
	a.mu.Unlock()
	return ctx != nil && !hidden && !runtime.WindowIsMinimised(ctx)
}

// Ask has the page of the window ask the person; it calls System.Answered.
func (a *App) Ask(what string) {
	a.inWindow(func(ctx context.Context) { runtime.EventsEmit(ctx, "loop:ask", what) })
}

// Quit ends the window, whatever is under way. It is out of sight at once:
// ending programs takes seconds.
func (a *App) Quit() {
	a.daemon.BeginClose()
	a.Hide()
	a.inWindow(runtime.Quit)
}

func (a *App) window() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ctx
}

// inWindow does something with the window, if it is open.
func (a *App) inWindow(do func(ctx context.Context)) {
	if ctx := a.window(); ctx != nil {
		do(ctx)
	}
}

var errNoWindow = errors.New("the window is not open")

// PickFolder opens the system's folder dialog; empty means it was closed.
func (a *App) PickFolder() (string, error) {
	ctx := a.window()
	if ctx == nil {
		return "", errNoWindow
	}
	// The title is ours; text from a container never reaches a native dialog here.
	dir, err := runtime.OpenDirectoryDialog(ctx, runtime.OpenDialogOptions{Title: "Choose a project folder", CanCreateDirectories: true})
	if err != nil {
		return "", fmt.Errorf("open folder dialog: %w", err)
	}
	return dir, nil
}

// SaveFile opens the system's dialog for saving; empty means it was closed.
func (a *App) SaveFile(title, name string) (string, error) {
	ctx := a.window()
	if ctx == nil {
		return "", errNoWindow
	}
	to, err := runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{Title: title, DefaultFilename: name, CanCreateDirectories: true})
	if err != nil {
		return "", fmt.Errorf("open save dialog: %w", err)
	}
	return to, nil
}

// OpenURL hands an already checked web address to the system's browser.
func (a *App) OpenURL(url string) error {
	ctx := a.window()
	if ctx == nil {
		return errNoWindow
	}
	runtime.BrowserOpenURL(ctx, url)
	return nil
}

// formatError gives the page the same JSON a headless page gets.
func formatError(err error) any {
	b, jerr := json.Marshal(core.AsFailure(err))
	if jerr != nil {
		return err.Error()
	}
	return string(b)
}
