// The dialog in GTK 3. Everything but loop_dialog_new, _fact, _open and _close happens on
// the thread of GTK's loop.
#pragma once

#include <stdint.h>

typedef struct LoopDialog LoopDialog;

// Texts that a dialog shows; it takes them over and frees them. None is read as a format
// or as markup.
typedef struct {
	char *heading, *title, *target, *full, *note, *allow, *deny, *review, *show_full;
} LoopDialogTexts;

LoopDialog *loop_dialog_new(uintptr_t handle, LoopDialogTexts texts, int facts, int no_allow, unsigned inert_ms);
void loop_dialog_fact(LoopDialog *d, int i, char *label, char *text);

// Both may be called from any thread and return at once. Close frees the dialog.
void loop_dialog_open(LoopDialog *d);
void loop_dialog_close(LoopDialog *d);
