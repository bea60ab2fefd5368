// Package terminal keeps terminal sessions: programs on terminals that outlive
// the panes showing them.
//
// A session has four goroutines, which end with it. The pump reads the program into
// a ring with absolute offsets. The screen feeds a terminal state from the ring,
// answers the program's queries and records. The feeder writes input to the program.
// The typist types the agent's command at the first prompt. Viewers are cursors into
// the same ring, so that history and live output are one stream: the state gives a
// snapshot, and the ring gives the bytes after it. Sizes are marks in the stream, and
// every reader meets them at the same byte.
//
// No byte is dropped in silence. A viewer that is too far behind holds up the pump,
// and so the program. If it makes no progress for five seconds, it is let go, and gets
// a snapshot when it comes back. Output that was lost while Loop was away is named on
// the screen.
//
// A Program runs in a container of ours under loop init (Guest), in another container
// by the engine, or on this computer; package programs starts each of them. daemon
// assembles the Service. api and bind reach it through daemon.
package terminal
