// Package vt is a terminal's state on the server: what a program's output
// draws, cell by cell as xterm.js 6.0.0 draws it in the page (with its
// Unicode 11 widths), and the bytes that draw the same again in a fresh one.
//
// Write takes the output, Resize the sizes between; Snapshot returns bytes for
// a client that attaches later. Queries in the output are answered here: once,
// however many viewers there are, and only with fixed words. Text that a program
// chose is never sent back to it as if it were typed.
//
// Why our own. A snapshot is only right if both ends agree on every cell after
// every resize, so the reference is one program's behaviour, with its corners,
// rather than a standard. hinshun/vt10x and charmbracelet/x/vt do not reflow
// lines on resize and differ in pending wrap, combining characters and margins;
// gitpod-io/xterm-go sets out to port xterm.js, but cannot be had from the
// module proxy. So this package is written against xterm.js itself and is
// compared with it (xtermtest, build tag xterm).
//
// Two things differ on purpose. Memory is bounded (see vt_limits.go), where xterm.js
// follows a program without end. Where xterm.js throws an error or spins for hours,
// the sequence has the effect that it would have had in the end.
//
// A Terminal has no goroutines and is not safe for concurrent use; its callbacks
// run inside Write. A Scanner cuts output in the same way and draws nothing.
// The package imports only core and may be imported by backend/terminal and
// backend/cli alone.
package vt
