//go:build linux && cgo && desktop

package dialogtest

/*
#cgo pkg-config: gtk+-3.0
#include <gtk/gtk.h>

static gboolean quit(gpointer data) { gtk_main_quit(); return G_SOURCE_REMOVE; }
static gboolean dark(gpointer on) {
	g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", on != NULL, NULL);
	return G_SOURCE_REMOVE;
}
static gboolean window(gpointer title) {
	GtkWidget *w = gtk_window_new(GTK_WINDOW_TOPLEVEL);
	gtk_window_set_title(GTK_WINDOW(w), title);
	gtk_widget_show_all(w);
	g_free(title);
	return G_SOURCE_REMOVE;
}
static void open_window(char *title) { g_idle_add(window, title); }
static void end_loop(void) { g_idle_add(quit, NULL); }
static void prefer_dark(int on) { g_idle_add_full(G_PRIORITY_HIGH, dark, on ? (gpointer)1 : NULL, NULL); }
*/
import "C"

import (
	"errors"
	"runtime"
)

// Run runs GTK's loop on the display that DISPLAY names, until End. It works once in a
// process. ready is closed when the loop is about to begin.
func Run(ready chan<- struct{}) error {
	runtime.LockOSThread()
	if C.gtk_init_check(nil, nil) == 0 {
		return errors.New("GTK found no display")
	}
	close(ready)
	C.gtk_main()
	return nil
}

// End has Run return. Any goroutine may call it.
func End() { C.end_loop() }

// Window opens an empty window, which stays.
func Window(title string) { C.open_window(C.CString(title)) }

// PreferDark chooses the variant of the theme for dialogs that are shown from now on.
func PreferDark(dark bool) {
	on := C.int(0)
	if dark {
		on = 1
	}
	C.prefer_dark(on)
}
