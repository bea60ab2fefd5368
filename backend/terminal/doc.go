// Package terminal keeps terminal sessions: programs on terminals that outlive
// the panes showing them.
//
// One goroutine per session, the pump, reads the program into a ring with
// absolute offsets; a second, the screen, feeds a terminal state from the ring,
// answers the program's queries and records. Viewers are cursors into the same
// ring, so that history and live output are one stream: the state gives a
// snapshot, the ring what follows it. Sizes are marks in the stream, and every
// reader meets them at the same byte.
//
// No byte is dropped in silence. Who is too far behind holds the pump up, and so
// the program; who makes no progress while doing that is let go of and gets a
// snapshot when it comes back.
//
// Programs are a port: loop init's in our containers (guest.go), the engine's
// in others, this computer's (package programs). daemon hands them in; bind and api
// use Service.
package terminal
