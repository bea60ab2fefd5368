//go:build linux

package initd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"loop/backend/wire"
)

// count prints numbers, so each line names its own place in the stream.
const count = `i=0; while [ $i -lt 60000 ]; do i=$((i+1)); echo $((1000000+i)); done`

// counted is the output of count through a terminal.
func counted() []byte {
	var b bytes.Buffer
	for i := 1; i <= 60000; i++ {
		n := 1000000 + i
		digits := [9]byte{7: '\r', 8: '\n'}
		for d := 6; d >= 0; d-- {
			digits[d] = byte('0' + n%10)
			n /= 10
		}
		b.Write(digits[:])
	}
	return b.Bytes()
}

// stands waits until the spawn is paused for the reason in paused.
func stands(t *testing.T, s *yamux.Session, paused string) wire.Info {
	t.Helper()
	return listed(t, s, paused, func(i wire.Info) bool { return i.Paused == paused })
}

// listed waits until ok accepts the listed state of the only spawn.
func listed(t *testing.T, s *yamux.Session, what string, ok func(wire.Info) bool) wire.Info {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		st, p, err := request(t, s, wire.Request{Op: wire.OpList})
		if err != nil {
			t.Fatal(err)
		}
		_ = st.Close() // the streams that one host may have open are bounded
		if len(p.Spawns) == 1 && ok(p.Spawns[0]) {
			return p.Spawns[0]
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not %q: %+v", what, p.Spawns)
		}
	}
}

// TestHeldRead has a host read a little of a terminal's output, stop reading and break
// off its link. A new link goes on from the same place.
func TestHeldRead(t *testing.T) {
	path := newServer(t, os.Getuid())
	s := connect(t, path, wire.Reply{})
	req := wire.Spawn{Argv: []string{"sh", "-c", "read x; " + count + "; read x"}, Stdio: wire.StdioPTY}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpSpawn, ID: "a", Spawn: &req}); err != nil {
		t.Fatal(err)
	}
	const hold = 100_000
	st, p, err := request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out", Hold: hold})
	if err != nil || p.Offset != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	in, _, err := request(t, s, wire.Request{Op: wire.OpStdin, ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(wire.NewChunkWriter(in), "\r"); err != nil {
		t.Fatal(err)
	}
	want := append([]byte("\r\n"), counted()...)
	if i := stands(t, s, wire.PausedReader); i.OutEnd != hold || i.OutBase != 0 {
		t.Fatalf("held at %d..%d", i.OutBase, i.OutEnd)
	}
	r := wire.NewChunkReader(st)
	got := make([]byte, hold)
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteMark(st, hold/2); err != nil {
		t.Fatal(err)
	}
	more := make([]byte, hold/2)
	if _, err := io.ReadFull(r, more); err != nil {
		t.Fatal(err)
	}
	if i := stands(t, s, wire.PausedReader); i.OutEnd != hold*3/2 {
		t.Fatalf("held at %d", i.OutEnd)
	}
	got = slices.Concat(got, more)
	_ = s.Close()

	// Nobody holds the output now, so the program prints the rest. The ring still has
	// all 540,002 bytes.
	s = connect(t, path, wire.Reply{})
	listed(t, s, "all printed", func(i wire.Info) bool { return i.OutEnd >= int64(len(want)) })
	if in, _, err = request(t, s, wire.Request{Op: wire.OpStdin, ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(wire.NewChunkWriter(in), "\r"); err != nil {
		t.Fatal(err)
	}
	if _, p, err := request(t, s, wire.Request{Op: wire.OpWait, ID: "a"}); err != nil || p.Exit.Code != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	st, p, err = request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out", Offset: int64(len(got)), Hold: hold})
	if err != nil || p.Offset != int64(len(got)) {
		t.Fatalf("%+v %v", p, err)
	}
	rest, err := io.ReadAll(wire.NewChunkReader(st))
	if err != nil || !bytes.HasPrefix(slices.Concat(got, rest), want) {
		t.Fatalf("%d and %d bytes of %d: %v", len(got), len(rest), len(want), err)
	}
}

// TestMarkThatCannotBe sends an impossible mark, which ends the hold and nothing else.
func TestMarkThatCannotBe(t *testing.T) {
	s := connect(t, newServer(t, os.Getuid()), wire.Reply{})
	req := wire.Spawn{Argv: []string{"sh", "-c", "read x; " + count + "; read x"}, Stdio: wire.StdioPTY}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpSpawn, ID: "a", Spawn: &req}); err != nil {
		t.Fatal(err)
	}
	st, _, err := request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out", Hold: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	in, _, err := request(t, s, wire.Request{Op: wire.OpStdin, ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	// The hold is in place before the program prints.
	if _, err := io.WriteString(wire.NewChunkWriter(in), "\r"); err != nil {
		t.Fatal(err)
	}
	stands(t, s, wire.PausedReader)
	if err := wire.WriteMark(st, -1); err != nil {
		t.Fatal(err)
	}
	want := append([]byte("\r\n"), counted()...)
	out := make([]byte, len(want))
	r := wire.NewChunkReader(st)
	if n, err := io.ReadFull(r, out); err != nil || !bytes.Equal(out, want) {
		t.Fatalf("%d bytes: %v", n, err)
	}
	if _, err := io.WriteString(wire.NewChunkWriter(in), "\r"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpWait, ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r); err != nil || len(bytes.Trim(rest, "\r\n")) != 0 {
		t.Fatalf("%q: %v", rest, err)
	}
	_, _, err = request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out", Hold: -1})
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != wire.CodeProtocol {
		t.Fatalf("negative hold: %v", err)
	}
}

// TestStuckInput types more than the program takes, because the program does not read.
// The link still serves everything else, a new link gets its turn, and the server can
// end.
func TestStuckInput(t *testing.T) {
	path := newServer(t, os.Getuid())
	s := connect(t, path, wire.Reply{})
	req := wire.Spawn{Argv: []string{"sh", "-c", "stty raw -echo; echo up; exec sleep 1000"}, Stdio: wire.StdioPTY}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpSpawn, ID: "a", Spawn: &req}); err != nil {
		t.Fatal(err)
	}
	out, _, err := request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(wire.NewChunkReader(out), make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	for range 3 { // links, one after the other
		in, _, err := request(t, s, wire.Request{Op: wire.OpStdin, ID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := in.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := wire.NewChunkWriter(in).Write(make([]byte, 8<<20)); !errors.Is(err, yamux.ErrTimeout) {
			t.Fatalf("took %d bytes: %v", n, err)
		}
		if _, _, err := request(t, s, wire.Request{Op: wire.OpPing}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := request(t, s, wire.Request{Op: wire.OpResize, ID: "a", Cols: 10, Rows: 10}); err != nil {
			t.Fatal(err)
		}
		s = connect(t, path, wire.Reply{})
	}
}
