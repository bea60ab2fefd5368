// Package bind is what the window may call: one small struct per service, no
// logic. Wails binds the structs for the window, package api serves the same
// structs over HTTP, so the frontend has one way to call. Method names and JSON
// names are the frontend's contract. Only package daemon and main may import it.
package bind
