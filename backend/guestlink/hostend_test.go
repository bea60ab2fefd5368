package guestlink_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

func TestOpenNamesTheCause(t *testing.T) {
	other := goodHello
	h := *other.Hello
	h.Protocol = 99
	other.Hello = &h
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	for name, c := range map[string]struct {
		guest  func(net.Conn)
		stderr string
		want   string
	}{
		"silent":         {silent, "", "did not say hello within"},
		"gone":           {func(net.Conn) {}, "", "ended before"},
		"gone and said":  {func(net.Conn) {}, "noise\nloop link: loop init did not answer: no such file", "ended: loop init did not answer: no such file."},
		"never started":  {func(net.Conn) {}, "OCI runtime exec failed: no such file\n", "ended: OCI runtime exec failed: no such file."},
		"garbage":        {func(c net.Conn) { _, _ = io.WriteString(c, "something that is no hello\n"); silent(c) }, "", "did not answer"},
		"other protocol": {func(c net.Conn) { s := mux(t, c); _ = sayHello(t, s, other); _ = s.Close() }, "", "another version"},
		"no hello first": {func(c net.Conn) {
			s := mux(t, c)
			_ = sayHello(t, s, wire.Request{Op: wire.OpHTTP, ID: "spawn"})
			_ = s.Close()
		}, "", "did not answer"},
		"bad boot id": {func(c net.Conn) {
			s := mux(t, c)
			_ = sayHello(t, s, wire.Request{Op: wire.OpHello, Hello: &wire.Hello{Protocol: 1, BootID: "../x"}})
			_ = s.Close()
		}, "", "did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &pipeDialer{guest: c.guest, stderr: c.stderr}
			patience := time.Minute
			if name == "silent" {
				patience = 200 * time.Millisecond
			}
			_, err := guestlink.Open(t.Context(), d, "cont", guestlink.Options{HelloTimeout: patience})
			d.wg.Wait()
			f, ok := errors.AsType[*core.Failure](err)
			if !ok || f.Code != core.CodeNoLink || f.Remedy == "" || !strings.Contains(f.Cause, c.want) {
				t.Fatalf("%+v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &pipeDialer{guest: silent}
	if _, err := guestlink.Open(ctx, d, "cont", guestlink.Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	d.wg.Wait()
}

type failingDialer struct{ err error }

func (d failingDialer) DialExec(context.Context, core.ContainerID, string, []string) (io.ReadWriteCloser, error) {
	return nil, d.err
}

func TestOpenKeepsTheEnginesReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		code core.Code
	}{
		{core.Fail(core.CodeNoEngine, nil, "Docker does not answer.", "Start it."), core.CodeNoEngine},
		{core.ErrNotRunning, core.CodeNoLink},
		{errors.New("odd"), core.CodeNoLink},
	} {
		_, err := guestlink.Open(t.Context(), failingDialer{c.err}, "x", guestlink.Options{})
		if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != c.code {
			t.Errorf("%v gave %v", c.err, err)
		}
	}
}

func bodySize(s *wire.Spawn) int64 {
	n := s.StdinSize
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

func TestSpawnSendsBody(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 3<<20)
	l, _ := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		body := make([]byte, bodySize(q.Spawn))
		if _, err := io.ReadFull(st, body); err != nil || string(body[:5]) != "stdin" || !bytes.Equal(body[5:5+len(big)], big) {
			reply(st, wire.Refuse(wire.CodeInvalid, "wrong body"))
			return
		}
		reply(st, wire.Reply{Info: &wire.Info{ID: q.ID, Pid: 5, Stdio: q.Spawn.Stdio, Started: 1000}})
	})
	info, err := l.Spawn(t.Context(), core.SpawnRequest{ID: "a", Argv: []string{"x"}, Stdio: core.StdioPipes, Stdin: []byte("stdin"),
		Files: []core.SpawnFile{{Name: "big", Data: big}, {Name: "empty"}}, Env: []core.EnvVar{{Name: "A", Value: "b=c"}}})
	if err != nil || info.Pid != 5 || !info.Started.Equal(time.UnixMilli(1000)) {
		t.Fatalf("%+v %v", info, err)
	}
}

func TestRefusalsBecomeErrors(t *testing.T) {
	var code wire.ErrCode
	l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Refuse(code, "because")) })
	for c, want := range map[wire.ErrCode]error{wire.CodeNotFound: core.ErrNotFound, wire.CodeConflict: core.ErrConflict, wire.CodeEnded: core.ErrNotRunning} {
		code = c
		if err := l.Forget(t.Context(), "a"); !errors.Is(err, want) {
			t.Errorf("%s: %v", c, err)
		}
	}
	for c, want := range map[wire.ErrCode]core.Code{wire.CodeNoProgram: core.CodeNotFound, wire.CodeBadDir: core.CodeDir, wire.CodeDiskFull: core.CodeDiskFull, wire.CodeNotExec: core.CodeInvalid} {
		code = c
		if f, ok := errors.AsType[*core.Failure](l.Forget(t.Context(), "a")); !ok || f.Code != want || f.Remedy == "" {
			t.Errorf("%s: %+v", c, f)
		}
	}
	code = wire.CodeNoProgram
	_, err := l.Spawn(t.Context(), core.SpawnRequest{ID: "a", Argv: []string{"mvn"}, Stdio: core.StdioPipes})
	if f, ok := errors.AsType[*core.Failure](err); !ok || !strings.Contains(f.Cause, "mvn") || !strings.Contains(f.Remedy, "image_tools") {
		t.Errorf("a program that is missing: %+v", f)
	}
	if _, err := l.Ping(t.Context()); errors.Is(err, core.ErrLinkDown) {
		t.Errorf("a refusal took the link down: %v", err)
	}
}

func TestReadTellsEndFromBreak(t *testing.T) {
	l, g := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		reply(st, wire.Reply{Offset: q.Offset + 10})
		w := wire.NewChunkWriter(st)
		_, _ = w.Write([]byte("some bytes"))
		switch q.ID {
		case "whole":
			_ = w.End(wire.Reply{})
		case "gap":
			_ = w.End(wire.Refuse(wire.CodeGap, "gone"))
		case "stuck":
			_, _ = st.Read(make([]byte, 1)) // until the host closes or the link breaks
		}
	})
	read := func(id core.SpawnID) (string, error) {
		r, err := l.Read(t.Context(), id, "out", 5)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		if off := r.(interface{ Offset() int64 }).Offset(); off != 15 {
			t.Errorf("starts at %d", off)
		}
		data, err := io.ReadAll(r)
		return string(data), err
	}
	if s, err := read("whole"); s != "some bytes" || err != nil {
		t.Errorf("whole: %q %v", s, err)
	}
	if s, err := read("gap"); s != "some bytes" || err == nil || errors.Is(err, core.ErrLinkDown) {
		t.Errorf("gap: %q %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := l.Read(ctx, "stuck", "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_ = r.Close()
	r, err = l.Read(t.Context(), "stuck", "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	_ = g.session.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, core.ErrLinkDown) {
		t.Errorf("broken: %v", err)
	}
	<-l.Done()
	if _, err := l.Wait(t.Context(), "a"); !errors.Is(err, core.ErrLinkDown) {
		t.Errorf("after the break: %v", err)
	}
}

// TestTornRead has the guest close an output without its end mark.
func TestTornRead(t *testing.T) {
	l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) {
		reply(st, wire.Reply{})
		_, _ = wire.NewChunkWriter(st).Write([]byte("some bytes"))
	})
	r, err := l.Read(t.Context(), "torn", "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if data, err := io.ReadAll(r); string(data) != "some bytes" || !errors.Is(err, core.ErrLinkDown) {
		t.Fatalf("%q %v", data, err)
	}
}

func TestStdin(t *testing.T) {
	got := make(chan string, 1)
	l, _ := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		reply(st, wire.Reply{})
		if q.ID == "ended" {
			reply(st, wire.Refuse(wire.CodeEnded, "the program has ended"))
			return
		}
		data, err := io.ReadAll(wire.NewChunkReader(st))
		if err == nil {
			reply(st, wire.Reply{})
		}
		got <- string(data)
	})
	w, err := l.Stdin(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "typed"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "typed" {
		t.Fatalf("%q", s)
	}
	w, err = l.Stdin(t.Context(), "ended")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, core.ErrNotRunning) {
		t.Fatalf("to the ended: %v", err)
	}
}

// TestStdinOfAProgramThatEnds: a program ends while the host writes more input than the
// guest takes.
func TestStdinOfAProgramThatEnds(t *testing.T) {
	ended := make(chan struct{})
	l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) {
		reply(st, wire.Reply{})
		<-ended
		reply(st, wire.Refuse(wire.CodeEnded, "the program has ended"))
	})
	for range wire.MaxHostStreams + 1 { // each stream is given back, closed or not
		w, err := l.Stdin(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		wrote := make(chan error, 1)
		go func() { _, err := w.Write(make([]byte, 2*wire.Window)); wrote <- err }()
		ended <- struct{}{}
		if err := <-wrote; !errors.Is(err, core.ErrNotRunning) {
			t.Fatalf("%v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	w, err := l.Stdin(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := w.Write(make([]byte, 2*wire.Window)); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	ended <- struct{}{}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	l, _ := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		if q.Op == wire.OpWait {
			_, _ = st.Read(make([]byte, 1))
			return
		}
		reply(st, wire.Reply{})
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Wait(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := l.Ping(t.Context()); err != nil {
		t.Fatalf("the link did not outlive a call's context: %v", err)
	}
}

// TestHostileGuest has guests that break the protocol. Each loses its link, and nothing
// else happens.
func TestHostileGuest(t *testing.T) {
	raw := func(data string) func(*testing.T, *guest) {
		return func(t *testing.T, g *guest) {
			st, err := g.session.OpenStream()
			if err != nil {
				t.Fatal(err)
			}
			// The link may end before the write counts as sent.
			_, _ = io.WriteString(st, data)
			_ = st.Close()
		}
	}
	for name, attack := range map[string]func(*testing.T, *guest){
		"oversize frame": raw("\xff\xff\xff\xff"),
		"not JSON":       raw("\x00\x00\x00\x05hello"),
		"host's op":      raw("\x00\x00\x00\x0f" + `{"op": "ping"} `),
		"torn frame":     raw("\x00\x00\x00\x50{"),
		"second hello":   func(t *testing.T, g *guest) { _ = sayHello(t, g.session, goodHello) },
	} {
		t.Run(name, func(t *testing.T) {
			l, g := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{}) })
			attack(t, g)
			select {
			case <-l.Done():
			case <-time.After(time.Minute):
				t.Fatal("the link lives on")
			}
		})
	}
}

func TestHostileReply(t *testing.T) {
	var data string
	for name, d := range map[string]string{
		"oversize":       "\xff\xff\xff\xff",
		"garbage":        "\x00\x00\x00\x05hello",
		"another spawn":  "\x00\x00\x00\x46" + `{"info":{"id":"other","pid":1,"stdio":"pty","out_end":0,"err_end":0}} `,
		"no info at all": "\x00\x00\x00\x02{}",
	} {
		data = d
		l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) { _, _ = io.WriteString(st, data) })
		_, err := l.Spawn(t.Context(), core.SpawnRequest{ID: "a", Argv: []string{"x"}, Stdio: core.StdioPipes})
		if !errors.Is(err, core.ErrLinkDown) {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case <-l.Done():
		case <-time.After(time.Minute):
			t.Fatalf("%s: the link lives on", name)
		}
	}
}

// TestFloodOfStreams opens many more streams than allowed. The link still serves, and
// ended streams make room again.
func TestFloodOfStreams(t *testing.T) {
	l, g := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{}) })
	var held []*yamux.Stream
	for range 2 * wire.MaxStreams {
		st, err := g.session.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := wire.WriteFrame(st, wire.Request{Op: wire.OpHTTP, ID: "spawn"}); err != nil {
			break
		}
		held = append(held, st)
	}
	if _, err := l.Ping(t.Context()); err != nil {
		t.Fatalf("ping under the flood: %v", err)
	}
	for _, st := range held {
		_ = st.Close()
	}
	c := g.client(t)
	deadline := time.After(time.Minute)
	for {
		if resp, err := c.Get("http://link/api/none"); err == nil {
			_ = resp.Body.Close()
			return
		}
		select {
		case <-deadline:
			t.Fatal("no place was given back")
		default:
		}
	}
}

func BenchmarkPipeRoundTrip(b *testing.B) {
	ours, theirs := net.Pipe()
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	host, err := yamux.Client(ours, c)
	if err != nil {
		b.Fatal(err)
	}
	guest, err := yamux.Server(theirs, c)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			st, err := guest.AcceptStream()
			if err != nil {
				return
			}
			if _, err := wire.ReadRequest(st); err == nil {
				reply(st, wire.Reply{})
			}
			_ = st.Close()
		}
	}()
	for b.Loop() {
		st, err := host.OpenStream()
		if err != nil {
			b.Fatal(err)
		}
		if err := wire.WriteFrame(st, wire.Request{Op: wire.OpPing}); err != nil {
			b.Fatal(err)
		}
		if _, err := wire.ReadReply(st); err != nil {
			b.Fatal(err)
		}
		_ = st.Close()
	}
	_ = host.Close()
	_ = guest.Close()
	<-done
}
