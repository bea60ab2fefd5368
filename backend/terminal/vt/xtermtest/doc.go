// Package xtermtest runs headless xterm.js, the terminal the page draws with, in
// node, so that tests can compare it with vt. It needs node and the packages of
// frontend/package.json; only tests import it.
package xtermtest
