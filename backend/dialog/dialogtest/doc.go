// Package dialogtest runs GTK's loop for the tests of package dialog, as the window of
// Loop does for the app. It is no part of a program.
package dialogtest
