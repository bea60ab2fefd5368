// Package vt is a terminal's state on the server: what a program's output
// draws, cell by cell as xterm.js 6.0.0 draws it in the page (with its
// Unicode 11 widths), and the bytes that draw the same again in a fresh one.
//
// Write takes the output, Resize the sizes between; Snapshot returns bytes for
// a client that attaches later. Queries in the output are answered here, once,
// whoever is watching, and only with fixed words: nothing a program chose is
// ever sent back to it as if typed.
//
// Why our own. A snapshot is only right if both ends agree on every cell after
// every resize, so the reference is one program's behaviour, with its corners,
// rather than a standard. hinshun/vt10x and charmbracelet/x/vt do not reflow
// lines on resize and differ in pending wrap, combining characters and margins;
// gitpod-io/xterm-go sets out to port xterm.js, but cannot be had from the
// module proxy. So this package is written against xterm.js itself and is
// compared with it (xtermtest, build tag xterm).
//
// What is different on purpose: memory is bounded (see limits.go), where
// xterm.js follows a program without end; and where xterm.js throws an error or
// spins for hours, the sequence does what it would have come to.
//
// A Terminal has no goroutines and is not safe for concurrent use; its callbacks
// run inside Write. A Scanner reads output in the same way for who draws nothing.
// The package imports only core and may be imported by backend/terminal and
// backend/cli alone.
package vt
