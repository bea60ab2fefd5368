//go:build linux && cgo && desktop

#include "gtk_linux.h"
#include "_cgo_export.h"

#include <gtk/gtk.h>

// The answers, as Choice counts them.
enum { DENY, ALLOW_ONCE, REVIEW, ANSWERS };

struct LoopDialog {
	uintptr_t handle;
	LoopDialogTexts texts;
	int facts, no_allow;
	char **labels, **values;
	unsigned inert_ms;

	GtkWidget *window, *buttons[ANSWERS];
	guint timer; // runs while the dialog is inert
	gboolean armed, chosen;
};

LoopDialog *loop_dialog_new(uintptr_t handle, LoopDialogTexts texts, int facts, int no_allow, unsigned inert_ms) {
	LoopDialog *d = g_new0(LoopDialog, 1);
	d->handle = handle;
	d->texts = texts;
	d->facts = facts;
	d->labels = g_new0(char *, facts + 1);
	d->values = g_new0(char *, facts + 1);
	d->no_allow = no_allow;
	d->inert_ms = inert_ms;
	return d;
}

void loop_dialog_fact(LoopDialog *d, int i, char *label, char *text) {
	d->labels[i] = label;
	d->values[i] = text;
}

// choose is every way out. The first answer counts, and a permission that was not offered
// never does.
static void choose(LoopDialog *d, int answer) {
	if (d->chosen || (answer == ALLOW_ONCE && d->no_allow))
		return;
	d->chosen = TRUE;
	gtk_widget_hide(d->window);
	loopDialogChose(d->handle, answer);
}

static void set_armed(LoopDialog *d, gboolean armed) {
	d->armed = armed;
	for (int i = 0; i < ANSWERS; i++)
		gtk_widget_set_sensitive(d->buttons[i], armed && !(i == ALLOW_ONCE && d->no_allow));
}

static gboolean arm(gpointer data) {
	LoopDialog *d = data;
	d->timer = 0;
	set_armed(d, TRUE);
	return G_SOURCE_REMOVE;
}

// disarm begins the time in which no key and no click is an answer; tests may have none.
static void disarm(LoopDialog *d) {
	set_armed(d, !d->inert_ms);
	if (!d->inert_ms)
		return;
	if (d->timer)
		g_source_remove(d->timer);
	d->timer = g_timeout_add(d->inert_ms, arm, d);
}

static gboolean on_map(GtkWidget *w, GdkEvent *e, gpointer data) {
	disarm(data);
	return FALSE;
}

static gboolean on_focus_in(GtkWidget *w, GdkEvent *e, gpointer data) {
	gtk_window_set_urgency_hint(GTK_WINDOW(w), FALSE);
	disarm(data);
	return FALSE;
}

static void on_expanded(GObject *o, GParamSpec *p, gpointer data) { disarm(data); }

static void on_clicked(GtkButton *b, gpointer data) {
	LoopDialog *d = data;
	if (!d->armed)
		return;
	for (int i = 0; i < ANSWERS; i++)
		if (GTK_WIDGET(b) == d->buttons[i])
			choose(d, i);
}

// Enter never presses a button, wherever the focus is: it denies, like Esc. With Ctrl or
// Alt it was meant for another window, and does nothing.
static gboolean on_key(GtkWidget *w, GdkEventKey *e, gpointer data) {
	LoopDialog *d = data;
	switch (e->keyval) {
	case GDK_KEY_Return:
	case GDK_KEY_KP_Enter:
	case GDK_KEY_ISO_Enter:
	case GDK_KEY_3270_Enter:
	case GDK_KEY_Escape:
		if (d->armed && !(e->state & gtk_accelerator_get_default_mod_mask()))
			choose(d, DENY);
		return TRUE;
	}
	return FALSE;
}

// Closing denies, also before the time is over: nobody closes a window by mistake for
// another. The window itself is destroyed by close_it alone.
static gboolean on_delete(GtkWidget *w, GdkEvent *e, gpointer data) {
	choose(data, DENY);
	return TRUE;
}

static GtkWidget *plain(const char *text, const char *class, int chars, PangoWrapMode wrap) {
	GtkWidget *label = gtk_label_new(NULL);
	gtk_label_set_text(GTK_LABEL(label), text); // never markup, never a mnemonic
	gtk_label_set_line_wrap(GTK_LABEL(label), TRUE);
	gtk_label_set_line_wrap_mode(GTK_LABEL(label), wrap);
	gtk_label_set_max_width_chars(GTK_LABEL(label), chars);
	PangoAttrList *attributes = pango_attr_list_new();
	pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE)); // a path has no hyphen but its own
	gtk_label_set_attributes(GTK_LABEL(label), attributes);
	pango_attr_list_unref(attributes);
	gtk_label_set_xalign(GTK_LABEL(label), 0);
	gtk_style_context_add_class(gtk_widget_get_style_context(label), class);
	return label;
}

static GtkWidget *scrolled(GtkWidget *child, int most) {
	GtkWidget *s = gtk_scrolled_window_new(NULL, NULL);
	gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(s), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(s), TRUE);
	gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(s), most);
	gtk_scrolled_window_set_overlay_scrolling(GTK_SCROLLED_WINDOW(s), FALSE); // that there is more must be seen
	gtk_container_add(GTK_CONTAINER(s), child);
	return s;
}

static GtkWidget *facts_of(LoopDialog *d) {
	GtkWidget *grid = gtk_grid_new();
	gtk_grid_set_row_spacing(GTK_GRID(grid), 5);
	gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
	for (int i = 0; i < d->facts; i++) {
		GtkWidget *label = plain(d->labels[i], "dim-label", -1, PANGO_WRAP_WORD);
		gtk_label_set_line_wrap(GTK_LABEL(label), FALSE); // ours, and short
		gtk_label_set_xalign(GTK_LABEL(label), 1);
		gtk_label_set_yalign(GTK_LABEL(label), 0);
		GtkWidget *value = plain(d->values[i], "value", 56, PANGO_WRAP_WORD_CHAR);
		gtk_label_set_width_chars(GTK_LABEL(value), 56); // else the list asks for the height of narrow lines
		gtk_widget_set_hexpand(value, TRUE);
		gtk_grid_attach(GTK_GRID(grid), label, 0, i, 1, 1);
		gtk_grid_attach(GTK_GRID(grid), value, 1, i, 1, 1);
	}
	return scrolled(grid, 300);
}

static GtkWidget *full_of(LoopDialog *d) {
	GtkWidget *all = scrolled(plain(d->texts.full, "target", 60, PANGO_WRAP_CHAR), 140);
	gtk_style_context_add_class(gtk_widget_get_style_context(all), "what");
	GtkWidget *expander = gtk_expander_new(d->texts.show_full);
	gtk_expander_set_resize_toplevel(GTK_EXPANDER(expander), TRUE);
	gtk_expander_set_spacing(GTK_EXPANDER(expander), 8);
	gtk_container_add(GTK_CONTAINER(expander), all);
	g_signal_connect(expander, "notify::expanded", G_CALLBACK(on_expanded), d);
	return expander;
}

static GtkWidget *answers_of(LoopDialog *d) {
	GtkWidget *row = gtk_button_box_new(GTK_ORIENTATION_HORIZONTAL);
	gtk_button_box_set_layout(GTK_BUTTON_BOX(row), GTK_BUTTONBOX_EXPAND);
	gtk_style_context_add_class(gtk_widget_get_style_context(row), "answers");
	const char *words[ANSWERS] = {[DENY] = d->texts.deny, [ALLOW_ONCE] = d->texts.allow, [REVIEW] = d->texts.review};
	const int order[ANSWERS] = {ALLOW_ONCE, DENY, REVIEW};
	for (int i = 0; i < ANSWERS; i++) {
		GtkWidget *b = d->buttons[order[i]] = gtk_button_new_with_label(words[order[i]]);
		gtk_widget_set_hexpand(b, TRUE);
		g_signal_connect(b, "clicked", G_CALLBACK(on_clicked), d);
		gtk_container_add(GTK_CONTAINER(row), b);
	}
	gtk_style_context_add_class(gtk_widget_get_style_context(d->buttons[DENY]), "by-default");
	return row;
}

// The colours are the theme's, so light and dark follow it.
static void set_style(GtkWidget *window) {
	static const char css[] =
		".loop-asks .title { font-weight: bold; font-size: 117%; }"
		".loop-asks .what { background-color: @theme_base_color; border: 1px solid @borders; border-radius: 5px; padding: 8px 12px; }"
		".loop-asks .target { font-family: monospace; }"
		".loop-asks .note { font-size: 92%; }"
		".loop-asks .answers button { border-radius: 0; border-width: 1px 0 0 1px; padding: 10px 6px; font-weight: bold; box-shadow: none; }"
		".loop-asks .answers button:first-child { border-left-width: 0; }"
		".loop-asks .answers button.by-default { box-shadow: inset 0 0 0 2px @theme_selected_bg_color; }"
		".loop-asks .answers button.by-default:disabled { box-shadow: inset 0 0 0 2px alpha(@theme_selected_bg_color, 0.4); }";
	GtkCssProvider *provider = gtk_css_provider_new();
	gtk_css_provider_load_from_data(provider, css, -1, NULL);
	gtk_style_context_add_provider_for_screen(gtk_widget_get_screen(window), GTK_STYLE_PROVIDER(provider),
		GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
	// The dialog's end takes it off the screen again.
	g_object_set_data_full(G_OBJECT(window), "loop-style", provider, g_object_unref);
	gtk_style_context_add_class(gtk_widget_get_style_context(window), "loop-asks");
}

static gboolean open_it(gpointer data) {
	LoopDialog *d = data;
	GtkWidget *w = d->window = gtk_dialog_new();
	GtkWidget *bar = gtk_header_bar_new();
	gtk_header_bar_set_title(GTK_HEADER_BAR(bar), d->texts.heading);
	gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(bar), TRUE);
	gtk_window_set_titlebar(GTK_WINDOW(w), bar);
	gtk_window_set_title(GTK_WINDOW(w), d->texts.heading);
	gtk_window_set_resizable(GTK_WINDOW(w), FALSE);
	gtk_window_set_position(GTK_WINDOW(w), GTK_WIN_POS_CENTER);
	// It is seen above other windows, and takes the keyboard from none.
	gtk_window_set_keep_above(GTK_WINDOW(w), TRUE);
	gtk_window_set_focus_on_map(GTK_WINDOW(w), FALSE);
	set_style(w);

	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14);
	gtk_container_set_border_width(GTK_CONTAINER(box), 22);
	gtk_widget_set_size_request(box, 550, -1);
	GtkWidget *title = plain(d->texts.title, "title", 50, PANGO_WRAP_WORD_CHAR);
	gtk_label_set_xalign(GTK_LABEL(title), 0.5);
	gtk_label_set_justify(GTK_LABEL(title), GTK_JUSTIFY_CENTER);
	GtkWidget *target = plain(d->texts.target, "target", 60, PANGO_WRAP_CHAR);
	gtk_style_context_add_class(gtk_widget_get_style_context(target), "what");
	GtkWidget *facts = facts_of(d);
	GtkWidget *note = plain(d->texts.note, "dim-label", 70, PANGO_WRAP_WORD);
	gtk_style_context_add_class(gtk_widget_get_style_context(note), "note");
	gtk_label_set_xalign(GTK_LABEL(note), 0.5);
	gtk_label_set_justify(GTK_LABEL(note), GTK_JUSTIFY_CENTER);
	gtk_container_add(GTK_CONTAINER(box), title);
	gtk_container_add(GTK_CONTAINER(box), target);
	gtk_container_add(GTK_CONTAINER(box), facts);
	if (*d->texts.full)
		gtk_container_add(GTK_CONTAINER(box), full_of(d));
	gtk_container_add(GTK_CONTAINER(box), note);

	GtkWidget *content = gtk_dialog_get_content_area(GTK_DIALOG(w));
	gtk_container_set_border_width(GTK_CONTAINER(content), 0);
	gtk_container_add(GTK_CONTAINER(content), box);
	gtk_container_add(GTK_CONTAINER(content), answers_of(d));
	g_signal_connect(w, "key-press-event", G_CALLBACK(on_key), d);
	g_signal_connect(w, "map-event", G_CALLBACK(on_map), d);
	g_signal_connect(w, "focus-in-event", G_CALLBACK(on_focus_in), d);
	g_signal_connect(w, "delete-event", G_CALLBACK(on_delete), d);
	disarm(d);
	gtk_widget_grab_focus(facts); // no button: a key that was on its way presses none
	gtk_widget_show_all(w);
	gtk_window_set_urgency_hint(GTK_WINDOW(w), TRUE); // GTK forgets one of before
	return G_SOURCE_REMOVE;
}

static gboolean close_it(gpointer data) {
	LoopDialog *d = data;
	d->chosen = TRUE;
	if (d->timer)
		g_source_remove(d->timer);
	gtk_style_context_remove_provider_for_screen(gtk_widget_get_screen(d->window),
		GTK_STYLE_PROVIDER(g_object_get_data(G_OBJECT(d->window), "loop-style")));
	gtk_widget_destroy(d->window);
	for (int i = 0; i < d->facts; i++) {
		g_free(d->labels[i]);
		g_free(d->values[i]);
	}
	g_free(d->labels);
	g_free(d->values);
	LoopDialogTexts *t = &d->texts;
	char *texts[] = {t->heading, t->title, t->target, t->full, t->note, t->allow, t->deny, t->review, t->show_full};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	uintptr_t handle = d->handle;
	g_free(d);
	loopDialogGone(handle);
	return G_SOURCE_REMOVE;
}

// Not the priority of idle work, which a busy page would hold back.
void loop_dialog_open(LoopDialog *d) { g_idle_add_full(G_PRIORITY_DEFAULT, open_it, d, NULL); }
void loop_dialog_close(LoopDialog *d) { g_idle_add_full(G_PRIORITY_DEFAULT, close_it, d, NULL); }
