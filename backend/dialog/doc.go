// Package dialog asks a person about a held act of an agent in a dialog of the desktop,
// while the window of Loop is out of sight. It has the port (Asker), one adapter for each
// system, the naming of characters that mislead, and the Presenter, which decides when a
// dialog is shown. Attention has the desktop mark the window (Frame) while something waits.
// The sub-package dialogtest has GTK's loop for the tests.
//
// What comes from a container is hostile text. No adapter passes it to anything that reads
// a format, markup or a hyperlink. Whatever goes wrong means Deny, or no answer at all:
// then the gate's deadline denies.
//
// The adapters: GTK 3 on Linux (tags cgo and desktop; it needs the loop that the window
// runs), on Windows TaskDialogIndirect, or a message box that allows nothing where the
// program lacks the manifest for that, and on macOS an NSAlert (tag desktop; no cgo, it needs
// the window's loop, too). Elsewhere Ask fails with ErrUnavailable, and questions wait in the
// window.
//
// What waits behind the one dialog is told in notifications (Notifier, Notices), which lead to
// the window or deny: freedesktop.org's over D-Bus on Linux, and on macOS and Windows those of
// the window's library, which main hands in as a System.
//
// What happens in channels while nobody looks at the window is told in notifications, too
// (Bell): an agent needs the person, a run failed, a run is done.
//
// main hands an Asker, a Frame and a Notifier to daemon, which makes Presenter, Attention,
// Notices and Bell; nothing else imports this package.
package dialog
