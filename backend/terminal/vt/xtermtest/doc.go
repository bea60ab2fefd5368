// Package xtermtest runs headless xterm.js, the page's terminal, in node, so tests can
// compare it with vt. It needs node and the packages of frontend/package.json. Only
// tests may import it.
package xtermtest
