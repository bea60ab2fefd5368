//go:build linux

package initd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/yamux"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"loop/agentimage/guest/ask"
	"loop/agentimage/guest/relay"
	"loop/agentimage/guest/spawn"
	"loop/agentimage/guest/threads"
	"loop/backend/leaktest"
	"loop/backend/policy"
	"loop/backend/wire"
)

// TestMain also makes the test binary keeper and stage, as the guest binary is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] { // unix.Exit, because os.Exit sleeps for a second under the race detector
		case "syscallwrap":
			unix.Exit(spawn.Keep(os.Args[2:]))
		case "spawn":
			unix.Exit(spawn.Stage())
		}
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}

// newServer runs loop init without its privileges, on the test's own socket.
func newServer(t *testing.T, uid int) string {
	t.Helper()
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	reaper := threads.NewReaper()
	wg.Go(func() { reaper.Run(ctx) })
	spawns := spawn.New(spawn.Config{
		Agent: spawn.Agent{UID: os.Getuid(), GID: os.Getgid(), Groups: groups, Home: "/"}, Env: []string{"PATH=" + os.Getenv("PATH")},
		RunsDir: t.TempDir(), SpoolDir: t.TempDir(), GateDir: t.TempDir(), BootID: "boot", Grace: 100 * time.Millisecond, Reaper: reaper,
	})
	srv := &Server{Spawns: spawns, Relay: relay.New(spawns, testLog()), Desk: ask.NewDesk(), UID: uint32(uid), Log: testLog(),
		Hello: wire.Hello{Protocol: wire.Protocol, BootID: "boot", Arch: "amd64"}}
	path := filepath.Join(t.TempDir(), "s")
	ln, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	serveCtx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(serveCtx, &tired{UnixListener: ln}) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := spawns.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		cancel()
		wg.Wait()
	})
	return path
}

// tired is a listener whose first Accept finds no free descriptor. loop init must not
// end for that.
type tired struct {
	*net.UnixListener
	once sync.Once
}

func (l *tired) AcceptUnix() (*net.UnixConn, error) {
	var err error
	if l.once.Do(func() { err = &net.OpError{Op: "accept", Err: syscall.EMFILE} }); err != nil {
		return nil, err
	}
	return l.UnixListener.AcceptUnix()
}

// connect opens a link as a host that answers the hello with p.
func connect(t *testing.T, path string, p wire.Reply) *yamux.Session {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := yamux.Client(conn, wire.MuxConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	st, err := s.AcceptStream()
	if err != nil {
		t.Fatal(err)
	}
	q, err := wire.ReadRequest(st)
	if err != nil || q.Op != wire.OpHello || q.Hello.BootID != "boot" {
		t.Fatalf("%+v %v", q, err)
	}
	// A host that refuses may lose its link before its answer is written.
	if err := wire.WriteFrame(st, p); err != nil && !errors.Is(err, yamux.ErrSessionShutdown) {
		t.Fatal(err)
	}
	_ = st.Close()
	return s
}

func request(t *testing.T, s *yamux.Session, q wire.Request, body ...byte) (*yamux.Stream, wire.Reply, error) {
	t.Helper()
	st, err := s.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := wire.WriteFrame(st, q); err != nil {
		t.Fatal(err)
	}
	if len(body) > 0 {
		if _, err := st.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	p, err := wire.ReadReply(st)
	return st, p, err
}

func TestServe(t *testing.T) {
	s := connect(t, newServer(t, os.Getuid()), wire.Reply{})
	if _, _, err := request(t, s, wire.Request{Op: wire.OpPing}); err != nil {
		t.Fatal(err)
	}
	req := wire.Spawn{Argv: []string{"cat"}, Stdio: wire.StdioPipes, HasStdin: true, StdinSize: 5, OpenStdin: true, Spool: true}
	_, p, err := request(t, s, wire.Request{Op: wire.OpSpawn, ID: "a", Spawn: &req}, []byte("hello")...)
	if err != nil || p.Info == nil || p.Info.Pid == 0 {
		t.Fatalf("%+v %v", p, err)
	}
	out, p, err := request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out"})
	if err != nil || p.Offset != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	r := wire.NewChunkReader(out)
	if _, err := io.ReadFull(r, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	in, _, err := request(t, s, wire.Request{Op: wire.OpStdin, ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	w := wire.NewChunkWriter(in)
	if _, err := io.WriteString(w, " again"); err != nil {
		t.Fatal(err)
	}
	if err := w.End(wire.Reply{}); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.ReadReply(in); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || string(rest) != " again" {
		t.Fatalf("%q %v", rest, err)
	}
	if _, p, err := request(t, s, wire.Request{Op: wire.OpWait, ID: "a"}); err != nil || p.Exit == nil || p.Exit.Code != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	if _, p, err := request(t, s, wire.Request{Op: wire.OpList}); err != nil || len(p.Spawns) != 1 || p.Spawns[0].OutEnd != 11 {
		t.Fatalf("%+v %v", p, err)
	}
	for _, c := range []struct {
		q    wire.Request
		want wire.ErrCode
	}{
		{wire.Request{Op: wire.OpRead, ID: "a", Stream: "out", Offset: 12}, wire.CodeInvalid},
		{wire.Request{Op: wire.OpRead, ID: "b", Stream: "out"}, wire.CodeNotFound},
		{wire.Request{Op: wire.OpKill, ID: "b"}, wire.CodeNotFound},
		{wire.Request{Op: wire.OpResize, ID: "a", Cols: 1, Rows: 1}, wire.CodeConflict},
		{wire.Request{Op: wire.OpStdin, ID: "a"}, wire.CodeConflict},
		{wire.Request{Op: wire.OpHTTP, ID: "a"}, wire.CodeProtocol},
		{wire.Request{Op: "format"}, wire.CodeProtocol},
	} {
		_, _, err := request(t, s, c.q)
		if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != c.want {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpForget, ID: "a"}); err != nil {
		t.Fatal(err)
	}
}

// TestLeavingReaderIsLetGo closes a follower's stream: its goroutine must end,
// which goleak and the server's Close see.
func TestLeavingReaderIsLetGo(t *testing.T) {
	s := connect(t, newServer(t, os.Getuid()), wire.Reply{})
	req := wire.Spawn{Argv: []string{"sh", "-c", "while :; do echo 0123456789012345678901234567890123456789; sleep 0.01; done"}, Stdio: wire.StdioPipes}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpSpawn, ID: "a", Spawn: &req}); err != nil {
		t.Fatal(err)
	}
	for range 2 * wire.MaxHostStreams {
		st, _, err := request(t, s, wire.Request{Op: wire.OpRead, ID: "a", Stream: "out"})
		if err != nil {
			t.Fatal(err)
		}
		_ = st.Close()
		for { // discard what was on its way
			if _, err := io.Copy(io.Discard, st); err == nil {
				break
			}
		}
	}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpKill, ID: "a"}); err != nil {
		t.Fatal(err)
	}
}

func TestNewestWins(t *testing.T) {
	path := newServer(t, os.Getuid())
	first := connect(t, path, wire.Reply{})
	if _, _, err := request(t, first, wire.Request{Op: wire.OpPing}); err != nil {
		t.Fatal(err)
	}
	// A host that refuses the hello does not become the current link.
	no := connect(t, path, wire.Refuse(wire.CodeProtocol, "no"))
	<-no.CloseChan()
	if _, _, err := request(t, first, wire.Request{Op: wire.OpPing}); err != nil {
		t.Fatal(err)
	}
	second := connect(t, path, wire.Reply{})
	<-first.CloseChan()
	if _, _, err := request(t, second, wire.Request{Op: wire.OpPing}); err != nil {
		t.Fatal(err)
	}
}

// TestOlderLinkIsOvertaken: a link whose hello was answered is attached late, when a newer one
// serves already. The newer one stays.
func TestOlderLinkIsOvertaken(t *testing.T) {
	s := &Server{Relay: relay.New(nil, testLog())}
	session := func() *yamux.Session {
		here, there := net.Pipe()
		t.Cleanup(func() { _ = there.Close() })
		y, err := yamux.Server(here, wire.MuxConfig())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = y.Close() })
		return y
	}
	older, newer, third := session(), session(), session()
	if !s.attach(2, newer) || s.attach(1, older) || newer.IsClosed() {
		t.Fatal("the older link took the place of the newer one")
	}
	if !s.attach(3, third) || !newer.IsClosed() || third.IsClosed() {
		t.Fatal("the third link did not take the place of the second")
	}
}

func TestStrangersAreRefused(t *testing.T) {
	path := newServer(t, os.Getuid()+1)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if data, err := io.ReadAll(conn); len(data) != 0 {
		t.Fatalf("%q %v", data, err)
	}
}

func TestListFitsAFrame(t *testing.T) {
	all := make([]wire.Info, wire.MaxSpawns)
	for i := range all {
		all[i] = wire.Info{ID: strings.Repeat("x", 64), Pid: 1 << 22, Stdio: wire.StdioPipes, Started: 1 << 42, OutEnd: 1 << 50, ErrEnd: 1 << 50,
			OutBase: 1 << 49, ErrBase: 1 << 49, Paused: wire.PausedSpool, Exit: &wire.Exit{Code: 255, Signal: "SIGSTKFLT", At: 1 << 42}}
	}
	var buf bytes.Buffer
	if err := wire.WriteFrame(&buf, wire.Reply{Spawns: all}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", buf.Len())
}

// TestPolicy: a policy is only ever replaced by a newer one. What was started without
// supervision keeps it and says that it is not enforced. What is started under one has to
// be supervised, for which this test has not the right uid.
func TestPolicy(t *testing.T) {
	s := connect(t, newServer(t, os.Getuid()), wire.Reply{})
	set := func(id string, version int64, name string) (wire.PolicyState, error) {
		doc := policy.Policy{Name: name, DefaultDecision: policy.Allow}.Encode()
		sum := sha256.Sum256(doc)
		_, p, err := request(t, s, wire.Request{Op: wire.OpPolicy, ID: id,
			Policy: &wire.Policy{Version: version, Hash: hex.EncodeToString(sum[:]), Size: int64(len(doc))}}, doc...)
		if err != nil {
			return wire.PolicyState{}, err
		}
		return *p.Policy, nil
	}
	req := wire.Spawn{Argv: []string{"true"}, Stdio: wire.StdioPipes}
	if _, _, err := request(t, s, wire.Request{Op: wire.OpSpawn, ID: "a", Spawn: &req}); err != nil {
		t.Fatal(err)
	}
	state, err := set("", 3, "standing")
	if err != nil || state.Version != 3 || state.Enforced {
		t.Fatalf("%+v %v", state, err)
	}
	for _, tc := range []struct {
		id      string
		version int64
		name    string
		code    wire.ErrCode
	}{
		{"", 2, "older", wire.CodeConflict}, {"", 3, "another", wire.CodeConflict}, {"", 3, "standing", ""},
		{"a", 9, "own", ""}, {"a", 9, "another", wire.CodeConflict}, {"a", 9, "own", ""}, {"a", 4, "older", wire.CodeConflict},
		{"", 4, "newer", ""}, {"b", 9, "nobody's", wire.CodeNotFound},
	} {
		state, err := set(tc.id, tc.version, tc.name)
		e, _ := errors.AsType[*wire.Error](err)
		if (err == nil) != (tc.code == "") || e != nil && e.Code != tc.code || state.Enforced {
			t.Errorf("%+v: %+v %v", tc, state, err)
		}
	}
	_, _, err = request(t, s, wire.Request{Op: wire.OpSpawn, ID: "c", Spawn: &req})
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != wire.CodeGate {
		t.Errorf("under the standing policy: %v", err)
	}
	wrong := wire.Request{Op: wire.OpPolicy, Policy: &wire.Policy{Version: 9, Hash: strings.Repeat("0", 64), Size: 3}}
	if _, _, err := request(t, s, wrong, []byte("doc")...); err == nil {
		t.Error("a document that is not its hash's was taken")
	}
}

// TestQuestionsEndWithTheirLink: a new link takes the questions over. When the last
// link ends, nobody is left to ask.
func TestQuestionsEndWithTheirLink(t *testing.T) {
	path := newServer(t, os.Getuid())
	for range 3 { // each link takes the place of the one before
		s := connect(t, path, wire.Reply{})
		st, _, err := request(t, s, wire.Request{Op: wire.OpQuestions})
		if err != nil {
			t.Fatal(err)
		}
		// The answer belongs to no question.
		if err := wire.WriteFrame(st, wire.Answer{ID: 7, Allow: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALinkSaysForHowLongThereWasNone: the first has nothing to say, one beside another
// neither, and one after another says how long ago that was lost.
func TestALinkSaysForHowLongThereWasNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Relay: relay.New(nil, testLog())}
		a, b := new(yamux.Session), new(yamux.Session)
		if d := s.alone(); d != 0 {
			t.Errorf("the first link: %s", d)
		}
		s.Relay.Attach(a)
		s.Relay.Attach(b)
		s.detach(a) // which b has replaced
		<-time.After(time.Minute)
		if d := s.alone(); d != 0 {
			t.Errorf("beside another: %s", d)
		}
		s.detach(b)
		<-time.After(time.Hour)
		if d := s.alone(); d != time.Hour {
			t.Errorf("an hour later: %s", d)
		}
	})
}

// TestAContainerWithoutALinkEnds: where it is told to, and neither while somebody is linked nor
// before the time is over, from the start or from the last link.
func TestAContainerWithoutALinkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Relay: relay.New(nil, testLog()), Log: testLog()}
		var ended time.Time
		idle := func() bool { return false }
		watch := func() (over chan struct{}) {
			over, ended = make(chan struct{}), time.Time{}
			go func() {
				defer close(over)
				s.endUnlinked(t.Context(), time.Minute, idle, func() { ended = time.Now() })
			}()
			return over
		}
		began := time.Now()
		<-watch()
		if d := ended.Sub(began); d != time.Minute {
			t.Errorf("without any link it ends after %s", d)
		}
		over := watch()
		<-time.After(50 * time.Second)
		link := new(yamux.Session)
		s.Relay.Attach(link)
		<-time.After(time.Hour)
		if !ended.IsZero() {
			t.Fatal("it has ended beside a link")
		}
		s.detach(link)
		lost := time.Now()
		<-over
		if d := ended.Sub(lost); d < 54*time.Second || d > time.Minute {
			t.Errorf("it ends %s after the last link", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.endUnlinked(ctx, time.Minute, idle, func() { t.Error("it has ended after its time") })
	})
}

// TestEndUnvisited: a container that is kept for later goes on while somebody looks in every
// now and then, however shortly, and while anything runs in it.
func TestEndUnvisited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Relay: relay.New(nil, testLog()), Log: testLog()}
		began, over := time.Now(), make(chan struct{})
		go func() {
			defer close(over)
			left := func() bool { return time.Since(began) < 6*time.Hour }
			s.endUnlinked(t.Context(), 30*time.Minute, left, func() {})
		}()
		for range 100 {
			<-time.After(29 * time.Minute)
			s.mu.Lock()
			s.links++ // one that is over before anybody has looked
			s.mu.Unlock()
		}
		last := time.Now()
		<-over
		if d := time.Since(last); d < 30*time.Minute || d > 36*time.Minute {
			t.Errorf("it ends %s after the last visit", d)
		}
		began = time.Now()
		s.endUnlinked(t.Context(), 30*time.Minute, func() bool { return time.Since(began) < 6*time.Hour }, func() {})
		if d := time.Since(began); d < 6*time.Hour || d > 6*time.Hour+3*time.Minute {
			t.Errorf("with something that runs for six hours, it ends after %s", d)
		}
	})
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "1": time.Second, "1800": 30 * time.Minute, "604800": 7 * 24 * time.Hour} {
		if got, err := seconds(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "604801", "1.5", "1h", " 1", "9999999999999999999"} {
		if got, err := seconds(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
