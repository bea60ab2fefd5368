package xtermtest

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed driver.mjs
var driver string

// Node is a running node process with terminals in it. It is not safe for concurrent
// use.
type Node struct {
	tb   testing.TB
	in   *bufio.Writer
	out  *bufio.Reader
	next uint32
}

// Terminal is one xterm.js terminal.
type Terminal struct {
	n  *Node
	id uint32
}

// Start runs node until the test ends.
func Start(tb testing.TB) *Node {
	tb.Helper()
	frontend := findFrontend(tb)
	file := filepath.Join(tb.TempDir(), "driver.mjs")
	if err := os.WriteFile(file, []byte(driver), 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), "node", file, frontend) // ends when its input ends
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Errorf("node: %v", err)
		}
	})
	return &Node{tb: tb, in: bufio.NewWriterSize(in, 1<<20), out: bufio.NewReaderSize(out, 1<<20)}
}

// findFrontend looks for the packages in the test's folder and in those above it.
func findFrontend(tb testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		f := filepath.Join(dir, "frontend")
		if _, err := os.Stat(filepath.Join(f, "node_modules", "@xterm", "headless")); err == nil {
			return f + string(filepath.Separator)
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("frontend/node_modules has no @xterm/headless; run build/frontend.sh deps")
		}
	}
}

// New makes a terminal with Unicode 11 widths.
func (n *Node) New(cols, rows, scrollback int) *Terminal {
	n.next++
	t := &Terminal{n, n.next}
	t.send('n', uint32(cols), uint32(rows), uint32(scrollback))
	return t
}

func (t *Terminal) send(op byte, v ...uint32) {
	p := make([]byte, 0, 16)
	for _, x := range v {
		p = binary.LittleEndian.AppendUint32(p, x)
	}
	t.raw(op, p)
}

func (t *Terminal) raw(op byte, p []byte) {
	head := append([]byte{op}, make([]byte, 8)...)
	binary.LittleEndian.PutUint32(head[1:], t.id)
	binary.LittleEndian.PutUint32(head[5:], uint32(len(p)))
	// The writer keeps an error, which Flush returns.
	_, _ = t.n.in.Write(head)
	_, _ = t.n.in.Write(p)
}

func (t *Terminal) reply() []byte {
	t.n.tb.Helper()
	if err := t.n.in.Flush(); err != nil {
		t.n.tb.Fatalf("node: %v", err)
	}
	var head [4]byte
	if _, err := io.ReadFull(t.n.out, head[:]); err != nil {
		t.n.tb.Fatalf("node: %v", err)
	}
	p := make([]byte, binary.LittleEndian.Uint32(head[:]))
	if _, err := io.ReadFull(t.n.out, p); err != nil {
		t.n.tb.Fatalf("node: %v", err)
	}
	return p
}

// Write parses p at once.
func (t *Terminal) Write(p []byte) (int, error) {
	t.raw('w', p)
	return len(p), nil
}

// Resize changes the size.
func (t *Terminal) Resize(cols, rows int) { t.send('r', uint32(cols), uint32(rows)) }

// Dump describes the state as vt's Dump does. It begins with “threw” after xterm.js
// threw an error.
func (t *Terminal) Dump(exact bool) string {
	b := byte(0)
	if exact {
		b = 1
	}
	t.raw('d', []byte{b})
	return string(t.reply())
}

// Said returns the terminal's answers to queries so far.
func (t *Terminal) Said() string {
	t.raw('s', nil)
	return string(t.reply())
}

// Widths returns the columns of each code point.
func (t *Terminal) Widths() []byte {
	t.raw('u', nil)
	return t.reply()
}

// Close forgets the terminal.
func (t *Terminal) Close() { t.raw('x', nil) }
