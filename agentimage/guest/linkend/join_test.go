//go:build linux

package linkend

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

func TestConnectWaitsForTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	got := make(chan error, 1)
	go func() {
		conn, err := connect(t.Context(), path)
		if err == nil {
			// The server is not loop init: its pid and uid are wrong.
			if err = checkServer(conn); err != nil && strings.Contains(err.Error(), "served by") {
				err = nil
			}
			_ = conn.Close()
		}
		got <- err
	}()
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := connect(ctx, path+"none"); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Fatalf("no socket: %v", err)
	}
}

func TestJoin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	conn, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := ln.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- join(conn, inR, &out) }()
	if _, err := io.WriteString(inW, "up"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 2)
	if _, err := io.ReadFull(server, buf); err != nil || string(buf) != "up" {
		t.Fatalf("%q %v", buf, err)
	}
	if _, err := io.WriteString(server, "down"); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_ = inW.Close()
	if out.String() != "down" {
		t.Fatalf("%q", out.String())
	}
}
