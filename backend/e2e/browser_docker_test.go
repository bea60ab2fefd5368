//go:build docker

package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// browserPane is a person at a channel's browser.
type browserPane struct {
	t    testing.TB
	s    *server
	conn *websocket.Conn

	mu      sync.Mutex
	state   core.BrowserState
	results map[uint32]core.BrowserResult
	frames  int
	size    [2]int // of the newest frame
	errors  []string
	changed chan struct{}
	over    error
	acts    uint32
}

func (s *server) pane(t testing.TB, ch core.ChannelID) *browserPane {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+"api/ws/browser",
		&websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	p := &browserPane{t: t, s: s, conn: conn, results: map[uint32]core.BrowserResult{}, changed: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.read()
	}()
	t.Cleanup(func() { _ = conn.CloseNow(); <-done })
	p.say(core.BrowserCommand{Type: "start", ChannelID: ch, View: &core.BrowserView{Width: 800, Height: 600, Scale: 1}})
	return p
}

func (p *browserPane) say(m core.BrowserCommand) {
	p.t.Helper()
	data, err := json.Marshal(m)
	if err == nil {
		err = p.conn.Write(p.t.Context(), websocket.MessageText, data)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *browserPane) read() {
	for {
		kind, data, err := p.conn.Read(context.Background()) // until the connection is closed
		var u core.BrowserUpdate
		var painted uint32
		p.mu.Lock()
		switch {
		case err != nil:
			p.over = err
		case kind == websocket.MessageBinary:
			painted = binary.BigEndian.Uint32(data)
			if img, err := jpeg.DecodeConfig(bytes.NewReader(data[16:])); err == nil {
				p.frames++
				p.size = [2]int{img.Width, img.Height}
			}
		default:
			if err := json.Unmarshal(data, &u); err != nil {
				p.over = err
			}
			switch {
			case u.State != nil:
				p.state = *u.State
			case u.Result != nil:
				p.results[u.ID] = *u.Result
			case u.Type == "error":
				p.errors = append(p.errors, u.Message)
			}
		}
		close(p.changed)
		p.changed = make(chan struct{})
		over := p.over != nil
		p.mu.Unlock()
		if over {
			return
		}
		if painted != 0 {
			_ = p.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, `{"type":"painted","id":%d}`, painted))
		}
	}
}

func (p *browserPane) wait(what string, ok func() bool) {
	p.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		done, changed, over := ok(), p.changed, p.over
		now := fmt.Sprintf("%+v %v, %d frames", p.state, p.errors, p.frames)
		p.mu.Unlock()
		switch {
		case done:
			return
		case over != nil:
			p.t.Fatalf("waited for %s: %v", what, over)
		}
		select {
		case <-changed:
		case <-late.C:
			p.t.Fatalf("waited for %s in vain: %s", what, now)
		}
	}
}

// act presses a button of the pane.
func (p *browserPane) act(action string, params map[string]any) core.BrowserResult {
	p.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	p.acts++
	id := p.acts
	p.say(core.BrowserCommand{Type: "act", ID: id, Action: action, Params: raw})
	var res core.BrowserResult
	p.wait("the answer to "+action, func() bool {
		var ok bool
		res, ok = p.results[id]
		return ok
	})
	return res
}

func (p *browserPane) click(x, y float64) {
	for _, kind := range []string{core.InputDown, core.InputUp} {
		p.say(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: kind, X: x, Y: y, Button: "left", ClickCount: 1}})
	}
}

func (h *home) demoChannel(s *server) core.ChannelID {
	h.t.Helper()
	var ch core.ChannelView
	if err := s.call("Channels.Demo", &ch); err != nil {
		h.t.Fatal(err)
	}
	return ch.ID
}

// bridgeGateway is this computer's address on the engine's bridge. An engine that was not
// told one takes the subnet's first.
func bridgeGateway(t *testing.T) string {
	t.Helper()
	out, err := docker(t.Context(), "network", "inspect", "bridge", "-f", "{{range .IPAM.Config}}{{.Gateway}} {{.Subnet}}\n{{end}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Fields(out) {
		if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is4() {
			return p.Masked().Addr().Next().String()
		}
		if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
			return a.String()
		}
	}
	t.Fatalf("the bridge has no gateway: %q", out)
	return ""
}

// browserRig is a Loop with a pane on its demo channel, whose Chromium runs.
func browserRig(t *testing.T) (h *home, ch core.ChannelID, p *browserPane) {
	t.Helper()
	h, _, ch, p = servedBrowser(t)
	return h, ch, p
}

// servedBrowser is browserRig with the server.
func servedBrowser(t *testing.T) (h *home, s *server, ch core.ChannelID, p *browserPane) {
	t.Helper()
	h = newHome(t, "")
	s, ch, p = h.browser()
	return h, s, ch, p
}

// browser starts Loop and opens a pane on its demo channel.
func (h *home) browser() (s *server, ch core.ChannelID, p *browserPane) {
	t := h.t.(*testing.T)
	t.Helper()
	t.Cleanup(func() { h.removeProfiles(ch) }) // when Loop has ended, and its container with it
	s = h.serve()
	ch = h.demoChannel(s)
	p = s.pane(t, ch)
	p.wait("Chromium", func() bool { return p.state.Phase == core.BrowserRunning })
	return s, ch, p
}

// removeProfiles removes what a channel's browser keeps, which no container may have any more.
func (h *home) removeProfiles(ch core.ChannelID) {
	names, err := docker(context.Background(), "volume", "ls", "-q", "--filter", "name=loop-chrome-profile-"+string(ch))
	if err != nil {
		h.t.Errorf("list what the browser has left: %v", err)
	}
	for _, name := range strings.Fields(names) {
		if _, err = docker(context.Background(), "volume", "rm", "-f", name); err != nil {
			h.t.Errorf("the browser has left something: %v", err)
		}
	}
}

// TestBrowserOfAgentAndPerson has the real CLI serve a page in its container, open it, and
// fill it in, while a person watches, takes over in the middle, and gives back.
func TestBrowserOfAgentAndPerson(t *testing.T) {
	h, ch, p := browserRig(t)

	ran := make(chan result, 1)
	go func() {
		ran <- h.runJSON("--demo", "--script", "browser", "--channel", string(ch), "Try a page in the browser.")
	}()
	var at core.BrowserTarget
	p.wait("the agent to fill in the field", func() bool {
		if d := p.state.Deed; d != nil && strings.Contains(d.Text, "filled in “Name”") && d.Target != nil {
			at = *d.Target
			return true
		}
		return false
	})
	p.click(at.X+at.Width/2, at.Y+at.Height/2)
	p.say(core.BrowserCommand{Type: "input", Input: &core.BrowserInput{Kind: core.InputText, Text: " and Bob"}})
	p.wait("the agent to wait for the person", func() bool { return p.state.Driver == core.DriverPerson && p.state.WaitingMs > 0 })
	p.say(core.BrowserCommand{Type: "give"})
	r := <-ran
	if r.code != 0 || !strings.Contains(r.out, "Hello, Ada and Bob!") {
		t.Errorf("exit %d, and the page did not greet both:\n%s\n%s", r.code, r.out, r.err)
	}
	if !strings.Contains(texts(r.events), "The page works") || !strings.Contains(r.out, "The person has driven the browser in between") {
		t.Errorf("said %q", texts(r.events))
	}
	p.framesOf(r.events)
	p.mu.Lock()
	if p.frames < 3 || p.size != [2]int{800, 600} {
		t.Errorf("%d frames, the last of %v", p.frames, p.size)
	}
	if tabs := p.state.Tabs; len(tabs) != 1 || tabs[0].Title != "Greeter" || !strings.HasPrefix(tabs[0].URL, "http://localhost:8080/") {
		t.Errorf("%+v", tabs)
	}
	p.mu.Unlock()
	if res := p.act("navigate", map[string]any{"url": "localhost:8080"}); res.Error == "" {
		t.Errorf("the container has ended, and its page still answers: %+v", res)
	}
}

// TestBrowserReachesNothingPrivate asks for everything that is not public, in the ways
// that an address has; and looks at the container from outside.
func TestBrowserReachesNothingPrivate(t *testing.T) {
	_, ch, p := browserRig(t)
	// The canary listens on every address of this computer, and has heard of nothing but the
	// control at the end.
	var heard atomic.Int64
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	canary := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		heard.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}), ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			heard.Add(1)
		}
	}}
	go func() { _ = canary.Serve(ln) }() // until it is closed
	defer func() { _ = canary.Close() }()
	stun, err := net.ListenPacket("udp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stun.Close() }()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	_, udp, _ := net.SplitHostPort(stun.LocalAddr().String())
	gateway := bridgeGateway(t)
	for _, url := range []string{
		"file:///etc/passwd", "chrome://version/", "javascript:alert(1)", "data:text/html,x", "view-source:http://localhost/", "about:settings",
		"http://127.0.0.1:" + port, "http://localhost:" + port, "http://0.0.0.0:" + port, "http://[::1]:" + port, "http://127.1:" + port,
		"http://[::ffff:127.0.0.1]:" + port, "http://2130706433:" + port, "http://0x7f000001:" + port, "http://0177.0.0.1:" + port,
		"http://host.docker.internal:" + port, "http://" + gateway + ":" + port, "https://" + gateway + ":" + port,
		"http://10.0.0.1/", "http://192.168.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/", "http://[fe80::1]/",
		"http://100.100.100.200/", "http://127.0.0.1:8222/api/agents", "http://localhost:8223/",
	} {
		if res := p.act("navigate", map[string]any{"url": url}); res.Error == "" {
			t.Errorf("%s was opened: %+v", url, res)
		}
	}
	// A script of a page has no other way, by any kind of request.
	for _, at := range []string{"127.0.0.1", gateway} {
		for name, script := range map[string]string{
			"fetch":     `fetch("http://` + at + `:` + port + `/", {mode: "no-cors"}).then(() => "over", () => "over")`,
			"image":     `new Promise((r) => { const i = new Image(); i.onload = i.onerror = () => r("over"); i.src = "http://` + at + `:` + port + `/x.png"; })`,
			"websocket": `new Promise((r) => { const w = new WebSocket("ws://` + at + `:` + port + `/"); w.onopen = w.onerror = () => r("over"); })`,
			"webrtc": `new Promise((r) => { const c = new RTCPeerConnection({iceServers: [{urls: "stun:` + at + `:` + udp + `"}]});
				c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)); setTimeout(() => r("over"), 1500); })`,
		} {
			if res := p.act("evaluate", map[string]any{"expression": script}); !strings.Contains(res.Result, "over") {
				t.Errorf("%s: %+v", name, res)
			}
		}
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("this computer heard of %d requests", n)
	}
	_ = stun.SetReadDeadline(time.Now())
	if _, from, err := stun.ReadFrom(make([]byte, 100)); err == nil {
		t.Errorf("a packet came from %v", from)
	}
	for _, at := range []string{"127.0.0.1", gateway} { // the control
		res, err := client.Get("http://" + at + ":" + port + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if heard.Load() == 0 {
		t.Error("the canary is deaf")
	}

	id, err := docker(t.Context(), "ps", "-q", "--filter", "name=loop-chrome-"+string(ch))
	if id = strings.TrimSpace(id); err != nil || id == "" || strings.Contains(id, "\n") {
		t.Fatalf("the container of the browser: %q %v", id, err)
	}
	out, err := docker(t.Context(), "inspect", "-f",
		"{{.HostConfig.NetworkMode}} {{len .NetworkSettings.Ports}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{range .Mounts}}{{.Type}}:{{.Destination}} {{end}}", id)
	if err != nil || !strings.HasPrefix(out, "none 0 true [ALL] ") || strings.Contains(out, "bind:") || strings.Count(out, "volume:") != 2 {
		t.Errorf("%q %v", out, err)
	}
	// Nothing but the relay and the way out listens, and Chromium has its own sandbox.
	out, err = docker(t.Context(), "exec", "-u", chromeUser, id, "sh", "-c",
		`cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A" {print $2}'; for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline; echo; done`)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		if a, port, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && len(port) == 4 && len(a) >= 8 && !strings.Contains(a, "/") {
			if a != "0100007F" || port != "201E" && port != "201F" { // 127.0.0.1, 8222 and 8223
				t.Errorf("%s:%s listens", a, port)
			}
		}
	}
	if !strings.Contains(out, "--type=zygote") || strings.Contains(out, "--no-sandbox") {
		t.Errorf("Chromium runs without its sandbox:\n%s", out)
	}

	// Chromium that is killed is one clear error, and comes back.
	if out, err := docker(t.Context(), "exec", "-u", chromeUser, id, "sh", "-c", "kill -9 -1"); err != nil {
		t.Logf("kill: %v %s", err, out) // the shell may be among those that end
	}
	p.wait("the crash", func() bool { return p.state.Phase == core.BrowserCrashed && p.state.Failure != nil })
	p.say(core.BrowserCommand{Type: "restart"})
	p.wait("another Chromium", func() bool { return p.state.Phase == core.BrowserRunning })
}
