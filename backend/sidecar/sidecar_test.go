package sidecar

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// inBubble puts a test into a bubble and checks in the end that no browser is left.
func inBubble(t *testing.T, do func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		do(t, w)
		w.left()
	})
}

func start(t *testing.T, w *world) *Sidecar {
	t.Helper()
	c, err := w.s.Start(t.Context(), channel, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStartAndClose(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := start(t, w)
		p := w.programs[0]
		if argv := p.req.Argv; p.script() != prepare || slices.Contains(argv, "--no-sandbox") || !slices.Contains(argv, "--remote-debugging-pipe") {
			t.Errorf("started %q", argv)
		}
		if who := p.identity(); who.Egress == nil || who.ChannelID != "" || who.RunID != "" || who.Rules != nil || who.Upstream != (core.ModelUpstream{}) {
			t.Errorf("Chromium may do more than leave through the way out: %+v", who)
		}
		if len(p.link.who) != 1 {
			t.Errorf("%d identities for one program", len(p.link.who))
		}
		// The pipe is the caller's from the byte behind the first answer on.
		out, in := c.Pipe()
		go func() { _, _ = io.WriteString(in, `{"id":1,"method":"again"}`+"\x00") }()
		got := make([]byte, len(`{"id":1,"result":{}}`)+1)
		if _, err := io.ReadFull(out, got); err != nil || string(got) != `{"id":1,"result":{}}`+"\x00" {
			t.Errorf("%q %v", got, err)
		}
		select {
		case <-c.Done():
			t.Error("it has ended")
		default:
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-c.Done()
		if len(c.Notices) != 0 {
			t.Errorf("%q", c.Notices)
		}
	})
}

func TestCrashIsNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := start(t, w)
		w.programs[0].end()
		<-c.Done()
		out, _ := c.Pipe()
		if _, err := out.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the pipe of one that has ended: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestWithoutSandbox: where Chromium finds no sandbox it runs without, and says so. A profile
// that was wiped is not wiped twice.
func TestWithoutSandbox(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.chromium = func(p *program) {
			if !slices.Contains(p.req.Argv, "--no-sandbox") {
				p.words = "[FATAL:zygote_host_impl_linux.cc] No usable sandbox! If this is a Debian system"
				return
			}
			answering(p)
		}
		c, err := w.s.Start(t.Context(), channel, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.programs) != 2 || w.programs[0].script() != wipe || w.programs[1].script() != prepare {
			t.Errorf("%d programs", len(w.programs))
		}
		if len(c.Notices) != 1 || !strings.Contains(c.Notices[0], "without its own sandbox") {
			t.Errorf("%q", c.Notices)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestStartThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		chromium func(p *program)
		fail     string
		cause    string
		detail   string
	}{
		"it ends":         {func(p *program) { p.words = "libnss3.so: cannot open \xff" }, "", "Chromium did not start.", "libnss3.so: cannot open \uFFFD"},
		"no end of words": {func(p *program) { heard(p); _, _ = io.Copy(p.out, endless{}) }, "", "Chromium did not start.", "has no end"},
		"words and none":  {func(p *program) { heard(p); _, _ = io.WriteString(p.out, "HTTP/1.1 200 OK") }, "", "Chromium did not start.", "EOF"},
		"never a word":    {dumb, "", "Chromium did not start.", "wait for Chromium"},
		"reads nothing":   {func(p *program) { <-p.ended }, "", "Chromium did not start.", "wait for Chromium"},
		"no image":        {answering, "image", "", ""},
		"no container":    {answering, "make", "", ""},
		"no link":         {answering, "link to box", "", ""},
		"no program":      {answering, "spawn", "Chromium did not start.", errOwn.Error()},
		"no pipe":         {answering, "feed", "Chromium did not start.", errOwn.Error()},
		"no other pipe":   {answering, "read", "Chromium did not start.", errOwn.Error()},
		"no volume":       {answering, "volume", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.chromium = c.chromium
				if c.fail != "" {
					w.fail[c.fail] = errOwn
				}
				began := time.Now()
				car, err := w.s.Start(t.Context(), channel, false)
				if err == nil {
					_ = car.Close()
					t.Fatal("it has started")
				}
				f := core.AsFailure(err)
				if c.cause != "" && (f.Cause != c.cause || !strings.Contains(f.Detail, c.detail) || f.Remedy == "") {
					t.Errorf("%+v", f)
				}
				if c.cause == "" && !errors.Is(err, errOwn) {
					t.Errorf("%v; %s", err, w.called())
				}
				if took := time.Since(began); took > readyTimeout+time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// endless has no NUL.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestCloseDuringStart: a Loop that closes does not wait for a Chromium that says nothing.
func TestCloseDuringStart(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.chromium = dumb
		ctx, cancel := context.WithCancel(t.Context())
		began, failed := time.Now(), make(chan error, 1)
		go func() {
			_, err := w.s.Start(ctx, channel, false)
			failed <- err
		}()
		<-time.After(time.Second)
		cancel()
		if err := <-failed; err == nil || time.Since(began) > 2*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// TestLeftoverGoesFirst: of a channel's browser there is one container. Those of others
// are not touched.
func TestLeftoverGoesFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		old := core.Container{ID: "old", Name: "old", Type: core.TypeChrome, ChannelID: channel, Status: core.ContainerStopped}
		other := core.Container{ID: "other", Name: "other", Type: core.TypeChrome, ChannelID: "another", Status: core.ContainerRunning}
		w.list = []core.Container{agent("a", time.Now()), old, other}
		c := start(t, w)
		if calls := w.called(); !strings.HasPrefix(calls, "remove old, volume, settings, image") || strings.Contains(calls, "remove other") || strings.Contains(calls, "remove a") {
			t.Error(calls)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		w.list = nil // Close of the fake ends them all
		w.fail["remove old"] = errOwn
		w.list = []core.Container{old}
		if _, err := w.s.Start(t.Context(), channel, false); !errors.Is(err, errOwn) {
			t.Errorf("what is left cannot be removed: %v", err)
		}
		w.list = nil
	})
}

func TestWatchedHasMoreProcessorTime(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := start(t, w)
		for _, on := range []bool{true, false} {
			if err := c.Watched(t.Context(), on); err != nil {
				t.Error(err)
			}
		}
		if want := []core.Limits{{CPUs: 2}, {CPUs: 2}, {CPUs: 0.5}}; !slices.Equal(w.limits, want) { // the first is for the start
			t.Errorf("%+v", w.limits)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Watched(t.Context(), true); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("one that has ended: %v", err)
		}
	})
}

// TestInsideIsTheNewestThatListens also looks at what Ports says of the same containers.
func TestInsideIsTheNewestThatListens(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ended := agent("ended", time.Now())
		ended.Status = core.ContainerStopped
		other := agent("other", time.Now())
		other.ChannelID = "another"
		w.list = []core.Container{agent("old", time.Now()), agent("new", time.Now()), agent("newest", time.Now()), ended, other}
		for id, list := range map[core.ContainerID][]core.ListeningPort{
			"old": {{Port: 80, Process: "old"}, {Port: 8080, Process: "old"}}, "new": {{Port: 8080, Process: "new"}}, "newest": {{Port: 9000}},
			"ended": {{Port: 7000}}, "other": {{Port: 7000}},
		} {
			w.listening[id] = list
		}
		for port, want := range map[uint16]string{80: "old", 8080: "new", 9000: "newest"} {
			conn, err := w.s.inside(t.Context(), channel, port)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(conn)
			if string(got) != want {
				t.Errorf("port %d is that of %q", port, got)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.s.inside(t.Context(), channel, 7000); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("a port of others: %v", err)
		}
		want := []core.BrowserPort{
			{Port: 80, URL: "http://localhost:80/", Process: "old"}, {Port: 8080, URL: "http://localhost:8080/", Process: "new"}, {Port: 9000, URL: "http://localhost:9000/"},
		}
		if got := w.s.Ports(t.Context(), channel); !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
		w.fail["link to old"], w.fail["ports of newest"] = errOwn, errOwn
		if got := w.s.Ports(t.Context(), channel); len(got) == 0 || slices.ContainsFunc(got, func(p core.BrowserPort) bool { return p.Process == "old" }) {
			t.Errorf("with one that does not answer: %+v", got)
		}
		w.list = []core.Container{ended, other}
		before := w.called()
		if got := w.s.Ports(t.Context(), channel); len(got) != 0 || w.called() != before {
			t.Errorf("nothing runs: %+v, %s", got, w.called())
		}
	})
}

func TestPortsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		for i := range 3 {
			c := agent(string(rune('a'+i)), time.Now())
			w.list = append(w.list, c)
			for p := range 64 {
				w.listening[c.ID] = append(w.listening[c.ID], core.ListeningPort{Port: uint16(1 + 64*i + p)})
			}
		}
		if got := w.s.Ports(t.Context(), channel); len(got) != maxPorts || got[0].Port != 1 || got[maxPorts-1].Port != maxPorts {
			t.Errorf("%d ports", len(got))
		}
	})
}

// TestProfileGoesWithItsChannel: its volume is known by its labels and goes with the channel,
// or at the next start, and never while a container has it.
func TestProfileGoesWithItsChannel(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		own := sandbox.ProfileVolume(channel, install)
		c := start(t, w)
		if labels := w.volumes[own]; labels[core.LabelInstall] != install || labels[core.LabelChannel] != string(channel) {
			t.Errorf("%v", w.volumes)
		}
		if err := w.s.removeProfile(t.Context(), channel); !errors.Is(err, core.ErrConflict) {
			t.Errorf("one in use: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		w.list = []core.Container{{ID: "left", Type: core.TypeChrome, ChannelID: channel, Status: core.ContainerStopped}}
		if err := w.s.Forget(t.Context(), channel); err != nil {
			t.Error(err)
		}
		if got := w.profiles(); len(got) != 0 || !strings.Contains(w.called(), "remove left") {
			t.Errorf("%v; %s", got, w.called())
		}
		if err := w.s.Forget(t.Context(), channel); err != nil {
			t.Errorf("without a profile: %v", err)
		}

		label := func(ch core.ChannelID, by string) map[string]string {
			return map[string]string{core.LabelInstall: by, core.LabelChannel: string(ch)}
		}
		gone, busy := sandbox.ProfileVolume("gone", install), sandbox.ProfileVolume("busy", install)
		others := sandbox.ProfileVolume("gone", "install-2")
		w.volumes[own], w.volumes[gone], w.volumes[busy] = label(channel, install), label("gone", install), label("busy", install)
		w.volumes[others], w.volumes["a-persons"] = label("gone", "install-2"), label("gone", install)
		w.used[busy] = true
		w.s.Sweep(t.Context())
		left := []string{"a-persons", own, busy, others}
		slices.Sort(left)
		if got := w.profiles(); !slices.Equal(got, left) {
			t.Errorf("left %v, not %v", got, left)
		}
	})
}
