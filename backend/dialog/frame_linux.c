//go:build linux && cgo && desktop

#include "frame_linux.h"

#include <gtk/gtk.h>

static gint in_front = 0, on_wayland = 0;

// mark is called by GTK's loop. The native dialog asks for attention by itself, and is not
// the window: who answers in it does not see that.
static gboolean mark(gpointer waits) {
	GList *all = gtk_window_list_toplevels();
	gboolean front = FALSE, dialog = FALSE;
	for (GList *l = all; l; l = l->next) {
		gboolean active = gtk_window_is_active(GTK_WINDOW(l->data));
		if (GTK_IS_DIALOG(l->data))
			dialog = dialog || active;
		else
			front = front || active;
	}
	for (GList *l = all; l; l = l->next)
		if (!GTK_IS_DIALOG(l->data) && gtk_widget_get_visible(GTK_WIDGET(l->data)))
			gtk_window_set_urgency_hint(GTK_WINDOW(l->data), waits && !front && !dialog);
	g_list_free(all);
	g_atomic_int_set(&in_front, front);
	g_atomic_int_set(&on_wayland, g_str_has_prefix(G_OBJECT_TYPE_NAME(gdk_display_get_default()), "GdkWayland"));
	return G_SOURCE_REMOVE;
}

void loop_frame_mark(int waits) { g_idle_add_full(G_PRIORITY_DEFAULT, mark, waits ? (gpointer)1 : NULL, NULL); }

int loop_frame_in_front(void) { return g_atomic_int_get(&in_front); }
int loop_frame_on_wayland(void) { return g_atomic_int_get(&on_wayland); }
