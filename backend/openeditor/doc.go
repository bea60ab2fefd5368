// Package openeditor opens files of this computer in the person's own editor: the one that
// the settings name, that $VISUAL names, or that is found. No shell is involved, and no agent
// can choose the program. daemon and tests may import it.
package openeditor
