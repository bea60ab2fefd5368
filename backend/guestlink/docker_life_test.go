//go:build docker

package guestlink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

func sleeper(tb testing.TB, l *guestlink.Link) core.SpawnID {
	tb.Helper()
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(tb.Context(), core.SpawnRequest{ID: id, Argv: []string{"sleep", "1000"}, Dir: "/", Stdio: core.StdioPipes}); err != nil {
		tb.Fatal(err)
	}
	return id
}

// TestSpoolOutlivesTheHost kills the host's end while output flows, and reads all of
// the output on a new link.
func TestSpoolOutlivesTheHost(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, conn := b.link(t, guestlink.Options{})
		id := core.SpawnID(core.NewID())
		const lines = 200_000
		req := core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Keep: core.KeepSpool,
			Argv: []string{"perl", "-e", fmt.Sprintf(`$|=1; for (1..%d) { print "line $_\n"; select(undef,undef,undef,0.001) if $_ %% 500 == 0 } print STDERR "done\n"; exit 7`, lines)}}
		if _, err := l.Spawn(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), id, "out", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
		conn.kill()
		<-l.Done()
		if _, err := io.Copy(io.Discard, r); !errors.Is(err, core.ErrLinkDown) {
			t.Fatalf("read after the break: %v", err)
		}
		if _, err := l.Ping(t.Context()); !errors.Is(err, core.ErrLinkDown) {
			t.Fatalf("ping after the break: %v", err)
		}
		again, _ := b.link(t, guestlink.Options{})
		if again.Hello().BootID != l.Hello().BootID {
			t.Fatal("another boot")
		}
		// The same request finds its process. Another request with that id does not.
		if i, err := again.Spawn(t.Context(), req); err != nil || i.ID != id {
			t.Fatalf("spawn again: %v", err)
		}
		other := req
		other.Argv = []string{"true"}
		if _, err := again.Spawn(t.Context(), other); !errors.Is(err, core.ErrConflict) {
			t.Fatalf("another spawn under the id: %v", err)
		}
		out := readAll(t, again, id, "out", 0)
		var want bytes.Buffer
		for i := 1; i <= lines; i++ {
			fmt.Fprintf(&want, "line %d\n", i)
		}
		if !bytes.Equal(out, want.Bytes()) {
			t.Fatalf("got %d bytes, want %d", len(out), want.Len())
		}
		if got := string(readAll(t, again, id, "err", 0)); got != "done\n" {
			t.Fatalf("stderr %q", got)
		}
		if e, err := again.Wait(t.Context(), id); err != nil || e.Code != 7 {
			t.Fatalf("wait: %+v %v", e, err)
		}
		// The container dies. The files still have the output and the exit.
		path := filepath.Join(b.spool, string(id))
		eventually(t, "exit record", func() bool { _, err := os.Stat(path + wire.ExitSuffix); return err == nil })
		docker(t, "kill", string(b.id))
		data, err := os.ReadFile(path + wire.ExitSuffix)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := wire.ParseExitRecord(string(id), data)
		if err != nil || rec.Exit.Code != 7 || rec.OutEnd != int64(want.Len()) {
			t.Fatalf("exit record %+v: %v", rec, err)
		}
		if file, err := os.ReadFile(path + wire.OutSuffix); err != nil || !bytes.Equal(file, want.Bytes()) {
			t.Fatalf("spool file: %d bytes, %v", len(file), err)
		}
	})
}

// TestWhatIsLeftBehindHasAName: a program ends and leaves a daemon. The list names the
// daemon's command until it ends.
func TestWhatIsLeftBehindHasAName(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		l, _ := newBox(t, boxOptions{agent: agent}).link(t, guestlink.Options{})
		id := core.SpawnID(core.NewID())
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Keep: core.KeepSpool,
			Argv: []string{"sh", "-c", "setsid sleep 7000 >/dev/null 2>&1 & echo left"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		left := func() string {
			list, err := l.Spawns(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("%+v %v", list, err)
			}
			return strings.Join(list[0].Detached, "|")
		}
		eventually(t, "the daemon's name", func() bool { return left() == "sleep 7000" })
		if err := l.Kill(t.Context(), id); err != nil || left() != "" {
			t.Errorf("after its end: %q %v", left(), err)
		}
	})
}

// TestKillFindsEverything leaves a daemon that forked twice, in a session of its own,
// and ignores every signal it can.
func TestKillFindsEverything(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		keep := sleeper(t, l) // must survive the kill of the other one
		id := core.SpawnID(core.NewID())
		daemon := `perl -MPOSIX -e '
			exit 0 if fork; setsid; exit 0 if fork;
			$SIG{$_} = "IGNORE" for keys %SIG;
			open STDIN, "<", "/dev/null"; open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null";
			sleep 1 while 1'`
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/tmp", Stdio: core.StdioPipes,
			Argv: []string{"sh", "-c", daemon + "; echo started; exec sleep 1000"}}); err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), id, "out", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, len("started\n"))); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		// It still forks, and the engine lists the ids of the programs before it reads their names.
		eventually(t, "the daemon", func() bool {
			return strings.Contains(docker(t, "top", string(b.id), "-eo", "pid,args"), "setsid")
		})
		start := time.Now()
		if err := l.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		t.Logf("killed in %v", time.Since(start))
		top := docker(t, "top", string(b.id), "-eo", "pid,args")
		if strings.Contains(top, "setsid") || strings.Count(top, "sleep 1000") != 1 {
			t.Fatalf("left after Kill:\n%s", top)
		}
		if e, err := l.Wait(t.Context(), id); err != nil || e.Code != 128+15 || e.Signal != "SIGTERM" {
			t.Fatalf("wait: %+v %v", e, err)
		}
		if err := l.Kill(t.Context(), keep); err != nil {
			t.Fatal(err)
		}
		for _, s := range []core.SpawnID{id, keep} {
			if err := l.Forget(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if infos, err := l.Spawns(t.Context()); err != nil || len(infos) != 0 {
			t.Fatalf("remembered: %v %v", infos, err)
		}
	})
}

// TestForkBomb kills trees that fork as fast as they can. The first fills the
// container's pids limit: loop init must live on and answer. The second is never long
// in any one process.
func TestForkBomb(t *testing.T) {
	for name, script := range map[string]string{
		"fills": `$0 = "bomb"; while (1) { fork; select(undef, undef, undef, 0.01) }`,
		"flees": `$0 = "bomb"; while (1) { my $p = fork; exit 0 if $p; open(my $f, ">>", "/tmp/hops"); print $f "x"; close $f }`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, boxOptions{agent: 1000})
			l, _ := b.link(t, guestlink.Options{})
			id := core.SpawnID(core.NewID())
			if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Argv: []string{"perl", "-e", script}}); err != nil {
				t.Fatal(err)
			}
			bombs := func() int { return strings.Count(docker(t, "top", string(b.id), "-eo", "pid,args"), "bomb") }
			if name == "fills" {
				eventually(t, "no process left to make", func() bool { return bombs() > 100 })
				_, err := l.Spawn(t.Context(), core.SpawnRequest{ID: core.SpawnID(core.NewID()), Argv: []string{"true"}, Dir: "/", Stdio: core.StdioPipes})
				t.Logf("spawn meanwhile: %v", err)
				if errors.Is(err, core.ErrLinkDown) {
					t.Fatal(err)
				}
			} else {
				// The engine's list can be too slow to show one of them, but the file that
				// they write grows.
				eventually(t, "a hundred bombs", func() bool {
					out, err := b.sh(t, "0:0", "wc -c </tmp/hops")
					n, aerr := strconv.Atoi(strings.TrimSpace(out))
					return err == nil && aerr == nil && n >= 100
				})
			}
			start := time.Now()
			if err := l.Kill(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			t.Logf("killed in %v", time.Since(start))
			if n := bombs(); n != 0 {
				t.Fatalf("%d left after Kill", n)
			}
			if out, exit := run(t, l, "echo well"); exit.Code != 0 || out != "well\n" {
				t.Fatalf("afterwards: %q %+v", out, exit)
			}
		})
	}
}

// TestLostKeeper kills a keeper from outside, as the kernel would when memory is short.
// The keeper's tree must not outlive it.
func TestLostKeeper(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	id := sleeper(t, l)
	if out, err := dockerTry("exec", "-u", "64999:64999", string(b.id), "sh", "-c",
		`for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline | grep -q '^loop syscallwrap' && kill -9 ${p#/proc/}; done; true`); err != nil {
		t.Fatal(err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if e, err := l.Wait(ctx, id); err != nil || e.Signal != "SIGKILL" {
		t.Fatalf("wait: %+v %v", e, err)
	}
	if err := l.Forget(ctx, id); err != nil {
		t.Fatal(err)
	}
	if top := docker(t, "top", string(b.id), "-eo", "pid,args"); strings.Contains(top, "sleep") {
		t.Fatalf("left without a keeper:\n%s", top)
	}
}

func TestTerminal(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		id := core.SpawnID(core.NewID())
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/tmp", Stdio: core.StdioPTY, Cols: 100, Rows: 30,
			Argv: []string{"sh", "-c", `stty size; stat -c %u $(tty); echo hi >/dev/tty; read x; stty size; exit 3`}}); err != nil {
			t.Fatal(err)
		}
		if err := l.Resize(t.Context(), id, 132, 43); err != nil {
			t.Fatal(err)
		}
		w, err := l.Stdin(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil && !errors.Is(err, core.ErrNotRunning) { // the line was its last
			t.Fatal(err)
		}
		out := string(readAll(t, l, id, "out", 0))
		for _, want := range []string{fmt.Sprintf("\r\n%d\r\n", agent), "hi", "43 132"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in %q", want, out)
			}
		}
		if e, err := l.Wait(t.Context(), id); err != nil || e.Code != 3 {
			t.Fatalf("wait: %+v %v", e, err)
		}
	})
}

func TestSpawnErrors(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	for _, c := range []struct {
		name string
		req  core.SpawnRequest
		code core.Code
	}{
		{"no program", core.SpawnRequest{Argv: []string{"no-such-thing"}, Dir: "/"}, core.CodeNotFound},
		{"no file", core.SpawnRequest{Argv: []string{"/no/such"}, Dir: "/"}, core.CodeNotFound},
		{"directory", core.SpawnRequest{Argv: []string{"/etc"}, Dir: "/"}, core.CodeInvalid},
		{"not executable", core.SpawnRequest{Argv: []string{"/etc/passwd"}, Dir: "/"}, core.CodeInvalid},
		{"no directory", core.SpawnRequest{Argv: []string{"true"}, Dir: "/no/such"}, core.CodeDir},
		{"private directory", core.SpawnRequest{Argv: []string{"true"}, Dir: "/run/loop/private"}, core.CodeDir},
		{"bad id", core.SpawnRequest{ID: "../x", Argv: []string{"true"}, Dir: "/"}, core.CodeInvalid},
		{"no argv", core.SpawnRequest{Dir: "/"}, core.CodeInvalid},
		{"too many bytes", core.SpawnRequest{Argv: []string{"cat"}, Dir: "/", Stdin: make([]byte, wire.MaxBody+1)}, core.CodeInvalid},
		{"long argument", core.SpawnRequest{Argv: []string{"true", strings.Repeat("x", 200<<10)}, Dir: "/"}, core.CodeInvalid},
	} {
		if c.req.ID == "" {
			c.req.ID = core.SpawnID(core.NewID())
		}
		c.req.Stdio, c.req.Keep = core.StdioPipes, core.KeepSpool
		_, err := l.Spawn(t.Context(), c.req)
		f, ok := errors.AsType[*core.Failure](err)
		if !ok || f.Code != c.code {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Logf("%s: %s", c.name, f)
	}
	if left, _ := os.ReadDir(b.spool); len(left) != 0 {
		t.Errorf("spool after starts that failed: %v", left)
	}
	if infos, err := l.Spawns(t.Context()); err != nil || len(infos) != 0 {
		t.Errorf("remembered: %v %v", infos, err)
	}
}

// TestPrivateFiles gives files to a spawn. When the spawn ends they are removed, with
// everything that the agent put beside them.
func TestPrivateFiles(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		id := core.SpawnID(core.NewID())
		secret := bytes.Repeat([]byte("s3cret\n"), 300_000) // 2 MiB: more than a frame
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/run/loop/runs", Stdio: core.StdioPipes,
			Files: []core.SpawnFile{{Name: "mcp.json", Data: []byte("{}")}, {Name: "big", Data: secret}},
			Argv:  []string{"sh", "-c", `cd "$1" && stat -c '%a %u %n' . * && wc -c <big && mkdir -m 0 closed && ln -s /etc etc`, "sh", "/run/loop/runs/" + string(id)}}); err != nil {
			t.Fatal(err)
		}
		out := string(readAll(t, l, id, "out", 0))
		want := fmt.Sprintf("700 %[1]d .\n600 %[1]d big\n600 %[1]d mcp.json\n%[2]d\n", agent, len(secret))
		if out != want {
			t.Fatalf("got %q, want %q; %s", out, want, readAll(t, l, id, "err", 0))
		}
		if _, err := l.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := l.Forget(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if out, _ := run(t, l, "ls -A /run/loop/runs; ls -d /etc/passwd"); out != "/etc/passwd\n" {
			t.Fatalf("left: %q", out)
		}
	})
}

// TestStopEndsSpawns stops the container as the engine does.
func TestStopEndsSpawns(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Keep: core.KeepSpool,
		Argv: []string{"sh", "-c", `trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.05; done`}}); err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), id, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	docker(t, "stop", "-t", "20", string(b.id))
	<-l.Done()
	if code := docker(t, "inspect", "-f", "{{.State.ExitCode}}", string(b.id)); code != "0" {
		t.Errorf("exit code %s", code)
	}
	data, err := os.ReadFile(filepath.Join(b.spool, string(id)+wire.ExitSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := wire.ParseExitRecord(string(id), data); err != nil || rec.Exit.Code != 5 {
		t.Fatalf("exit record %+v %v", rec, err)
	}
	if out, err := os.ReadFile(filepath.Join(b.spool, string(id)+wire.OutSuffix)); err != nil || string(out) != "up\nbye\n" {
		t.Fatalf("spool %q %v", out, err)
	}
	// Started again, the container has another boot id and no spawns. The id of the old
	// spawn stays used.
	docker(t, "start", string(b.id))
	again, _ := b.link(t, guestlink.Options{})
	if list, err := again.Spawns(t.Context()); err != nil || again.Hello().BootID == l.Hello().BootID || len(list) != 0 {
		t.Fatalf("after a restart: %+v, %+v, %v", again.Hello(), list, err)
	}
	if _, err := again.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Keep: core.KeepSpool, Argv: []string{"true"}}); !errors.Is(err, core.ErrConflict) {
		t.Fatalf("id used twice: %v", err)
	}
}

// TestNewestLinkWins opens a second link beside a live one.
func TestNewestLinkWins(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	first, _ := b.link(t, guestlink.Options{})
	second, _ := b.link(t, guestlink.Options{})
	<-first.Done()
	if _, err := second.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestNoHello: without a loop init the error names the cause.
func TestNoHello(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, env: []string{"LOOP_AGENT_UID=nobody"}})
	docker(t, "wait", string(b.id))
	_, err := guestlink.Open(t.Context(), &cliDialer{}, b.id, guestlink.Options{HelloTimeout: patience})
	f := core.AsFailure(err)
	if f.Code != core.CodeNoLink || !strings.Contains(f.Cause, "not running") {
		t.Fatalf("%+v", f)
	}
	t.Log(f.Cause)
}

type inbox struct {
	guestlink.Callbacks
	mu   sync.Mutex
	got  []string
	from core.Caller
}

func (i *inbox) SendMessage(_ context.Context, from core.Caller, ch core.ChannelID, text string) error {
	if ch != "" && ch != from.ChannelID {
		return core.Fail(core.CodeForbidden, nil, "An agent may name channels of its own project only.", "")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.got, i.from = append(i.got, text), from
	return nil
}

// TestCallbacks speaks MCP to loop mcp in a container without a network, and the
// message arrives on the host. Then it makes a model request. Both wait while the link
// is away.
func TestCallbacks(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, env: []string{"API_URL=http://127.0.0.1:8222"}})
	box := &inbox{}
	opts := guestlink.Options{Callbacks: box,
		DemoModel: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "model saw %s %s", r.URL.Path, body)
		})}
	l, _ := b.link(t, opts)
	session := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send_message","arguments":{"content":"hello from inside"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"send_message","arguments":{"content":"x","channel_id":"other"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"permission_prompt","arguments":{"tool_name":"Bash","input":{"command":"ls"}}}}`,
	}, "\n") + "\n"
	id := core.SpawnID(core.NewID())
	who := core.Identity{ChannelID: "chan1", RunID: "run1", Upstream: core.ModelUpstream{Demo: true}}
	l.Admit(id, who)
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, OpenStdin: true, Stdin: []byte(session),
		Argv: []string{wire.GuestBinary, "mcp", "--channel-id", "chan1", "--api-url", "http://127.0.0.1:8222", "--author-id", "a", "--future", "x", "--memory"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answers", func() bool {
		infos, err := l.Spawns(t.Context())
		return err == nil && len(infos) == 1 && infos[0].OutEnd > 0 && strings.Count(string(peek(t, l, id, infos[0].OutEnd)), `"id":`) >= 4
	})
	w, err := l.Stdin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := string(readAll(t, l, id, "out", 0))
	for _, want := range []string{"The message was sent", "own project", `\"behavior\":\"allow\"`, `\"command\":\"ls\"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	box.mu.Lock()
	if len(box.got) != 1 || box.got[0] != "hello from inside" || box.from.ChannelID != "chan1" {
		t.Errorf("inbox %v from %+v", box.got, box.from)
	}
	box.mu.Unlock()

	// The link goes away, and the request waits for the next one.
	ask := core.SpawnID(core.NewID())
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: ask, Dir: "/tmp", Stdio: core.StdioPipes, Argv: []string{"bash", "-c",
		`until [ -e /tmp/gone ]; do sleep 0.05; done; exec 3<>/dev/tcp/127.0.0.1/8222; printf 'POST /runs/run1/model/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi' >&3; cat <&3 >/tmp/` + string(ask)}}); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if out, err := b.sh(t, "1000:1000", "touch /tmp/gone"); err != nil {
		t.Fatal(err, out)
	}
	again, _ := b.link(t, opts)
	again.Admit(ask, who)
	eventually(t, "held request", func() bool {
		out, _ := run(t, again, "cat /tmp/"+string(ask))
		return strings.Contains(out, "model saw /v1/messages hi") || strings.Contains(out, "no model route")
	})
}

// peek returns the output so far.
func peek(tb testing.TB, l *guestlink.Link, id core.SpawnID, n int64) []byte {
	tb.Helper()
	r, err := l.Read(tb.Context(), id, "out", 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	buf := make([]byte, n)
	if _, err := io.ReadFull(r, buf); err != nil {
		tb.Fatal(err)
	}
	return buf
}
