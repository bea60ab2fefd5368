//go:build docker

package e2e

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"loop/backend/core"
)

// hostileSite is what an agent serves at port 8080 of its container: pages that lead
// elsewhere, by redirects and by a service worker.
const hostileSite = `
import http.server, urllib.parse
class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        u = urllib.parse.urlsplit(self.path)
        q = urllib.parse.parse_qs(u.query)
        self.send_response(302 if u.path == "/to" else 200)
        if u.path == "/to":
            self.send_header("Location", q["url"][0])
        if "alt" in q:
            self.send_header("Alt-Svc", 'h3="%s"; ma=60' % q["alt"][0])
        body, kind = b"<!doctype html><title>Inside</title><p>Inside", "text/html"
        if u.path == "/worker.js":
            kind, body = "text/javascript", b"""self.onactivate = (e) => e.waitUntil(clients.claim());
                self.onmessage = (e) => fetch(e.data, {mode: "no-cors"}).catch(() => 0).then(() => e.source.postMessage("over"));""" # a refusal is an answer
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Site).serve_forever()
`

// listeningPost listens on every address of this computer, by TCP and UDP.
type listeningPost struct {
	port  string
	heard atomic.Int64
}

func newListeningPost(t *testing.T) *listeningPost {
	t.Helper()
	ln, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	c := &listeningPost{}
	_, c.port, _ = net.SplitHostPort(ln.Addr().String())
	udp, err := net.ListenPacket("udp", ":"+c.port)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			c.heard.Add(1)
			_ = conn.Close()
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 2048)); err != nil {
				return
			}
			c.heard.Add(1)
		}
	}()
	t.Cleanup(func() {
		_, _ = ln.Close(), udp.Close()
		<-done
		<-done
	})
	return c
}

// quiet checks that nothing has come, and that what comes is heard.
func (c *listeningPost) quiet(t *testing.T, hosts ...string) {
	t.Helper()
	if n := c.heard.Load(); n != 0 {
		t.Errorf("this computer heard of %d connections", n)
	}
	for _, host := range hosts {
		conn, err := net.Dial("tcp", net.JoinHostPort(host, c.port))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Read(make([]byte, 1)) // until it is closed, having been counted
		_ = conn.Close()
	}
	if n := c.heard.Load(); n < int64(len(hosts)) {
		t.Errorf("the canary heard %d of %d", n, len(hosts))
	}
}

// TestBrowserSeesWhatAgentsServe: a pane is told which ports the channel's agents listen on,
// and these are reached by each of their names.
func TestBrowserSeesWhatAgentsServe(t *testing.T) {
	_, s, ch, p := servedBrowser(t)
	p.mu.Lock()
	if len(p.state.Ports) != 0 {
		t.Errorf("nothing runs: %+v", p.state.Ports)
	}
	p.mu.Unlock()
	site := s.site(t, ch)
	want := core.BrowserPort{Port: 8080, URL: "http://localhost:8080/", Process: "python3"}
	p.wait("the agent's port", func() bool { return slices.Equal(p.state.Ports, []core.BrowserPort{want}) })
	for _, address := range []string{
		"8080", "localhost:8080", "http://localhost:8080/", "127.0.0.1:8080", "[::1]:8080", "preview.demo:8080", "http://preview.api-server:8080/login", "a.localhost:8080",
	} {
		if res := p.act("navigate", map[string]any{"url": address}); res.Error != "" {
			t.Errorf("%s: %s", address, res.Error)
		}
		p.wait("the page", func() bool { return len(p.state.Tabs) == 1 && p.state.Tabs[0].Title == "Inside" })
		if res := p.act("navigate", map[string]any{"url": "about:blank"}); res.Error != "" {
			t.Error(res.Error)
		}
		p.wait("an empty page", func() bool { return len(p.state.Tabs) == 1 && p.state.Tabs[0].URL == "about:blank" })
	}
	s.must("Terminals.Close", nil, site)
	p.wait("the port to go", func() bool { return len(p.state.Ports) == 0 })

	// The profile lasts from one Chromium to the next, and a reset forgets it.
	id := chromeContainer(t, ch)
	in := func(script string) string {
		t.Helper()
		out, err := docker(t.Context(), "exec", "-u", chromeUser, id, "sh", "-c", script)
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return out
	}
	in("touch /profile/kept")
	p.say(core.BrowserCommand{Type: "restart"})
	p.wait("the end", func() bool { return p.state.Phase != core.BrowserRunning })
	p.wait("another Chromium", func() bool { return p.state.Phase == core.BrowserRunning })
	id = chromeContainer(t, ch)
	in("test -e /profile/kept")
	p.say(core.BrowserCommand{Type: "reset"})
	p.wait("the end", func() bool { return p.state.Phase != core.BrowserRunning })
	p.wait("a Chromium without the profile", func() bool { return p.state.Phase == core.BrowserRunning })
	id = chromeContainer(t, ch)
	in("test ! -e /profile/kept")

	// Memory, shared memory, and the processor time of a browser that a pane shows.
	const limits = "{{.HostConfig.Memory}} {{.HostConfig.ShmSize}} {{.HostConfig.CpuQuota}} {{.HostConfig.CpuPeriod}}"
	var memory, shm, quota, period int64
	out, err := docker(t.Context(), "inspect", "-f", limits, id)
	if _, serr := fmt.Sscan(out, &memory, &shm, &quota, &period); err != nil || serr != nil || memory != 2048<<20 || shm != memory/4 || 2*quota != 3*period {
		t.Errorf("%q %v %v", out, err, serr)
	}
	// A removed channel leaves nothing on the engine.
	s.must("Channels.Remove", nil, ch)
	if out, err := docker(t.Context(), "ps", "-aq", "--filter", "name=loop-chrome-"+string(ch)); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("a container is left: %q %v", out, err)
	}
	if out, err := docker(t.Context(), "volume", "ls", "-q", "--filter", "name=loop-chrome-profile-"+string(ch)); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("a profile is left: %q %v", out, err)
	}
}

// site starts the hostile site in a container of the channel's agents.
func (s *server) site(t *testing.T, ch core.ChannelID) core.TerminalID {
	t.Helper()
	var made core.TerminalInfo
	s.must("Terminals.Create", &made, map[string]any{
		"channel_id": ch, "target": "agent", "cmd": []string{"python3", "-c", hostileSite}, "cols": 80, "rows": 24,
	})
	return made.ID
}

func chromeContainer(t *testing.T, ch core.ChannelID) string {
	t.Helper()
	out, err := docker(t.Context(), "ps", "-q", "--filter", "name=loop-chrome-"+string(ch))
	id := strings.TrimSpace(out)
	if err != nil || id == "" || strings.Contains(id, "\n") {
		t.Fatalf("the container of the browser: %q %v", out, err)
	}
	return id
}

// TestBrowserIsLedNowherePrivate: a page of the agent's leads to this computer and to other
// private addresses by redirects, a service worker, and everything else that fetches.
func TestBrowserIsLedNowherePrivate(t *testing.T) {
	_, s, ch, p := servedBrowser(t)
	s.site(t, ch)
	p.wait("the agent's port", func() bool { return len(p.state.Ports) == 1 })
	ears, gateway := newListeningPost(t), bridgeGateway(t)
	targets := []string{"127.0.0.1:" + ears.port, "[::1]:" + ears.port, gateway + ":" + ears.port, "host.docker.internal:" + ears.port}

	for _, to := range slices.Concat([]string{
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[fd00::1]/", "file:///etc/passwd", "chrome://version/", "data:text/html,x", "javascript:1",
	}, prefixed("http://", targets), prefixed("https://", targets)) {
		if res := p.act("navigate", map[string]any{"url": "http://localhost:8080/to?url=" + to}); res.Error == "" {
			t.Errorf("a redirect led to %s: %+v", to, res)
		}
	}
	page := "http://localhost:8080/?alt=" + gateway + ":" + ears.port
	open := func() {
		t.Helper()
		if res := p.act("navigate", map[string]any{"url": page}); res.Error != "" {
			t.Fatal(res.Error)
		}
	}
	eval := func(name, script string) {
		t.Helper()
		if res := p.act("evaluate", map[string]any{"expression": script}); res.Error != "" || !strings.Contains(res.Result, "over") {
			t.Errorf("%s: %+v", name, res)
		}
	}
	open()
	element := func(tag, set string) string {
		return `new Promise((r) => { const e = document.createElement("` + tag + `"); e.onload = e.onerror = () => r("over"); setTimeout(() => r("over"), 1000); ` + set + `; document.body.append(e); })`
	}
	for _, at := range targets {
		url := "http://" + at + "/x"
		through := "http://localhost:8080/to?url=" + url
		for name, script := range map[string]string{
			"fetch through a redirect": `fetch("` + through + `", {mode: "no-cors"}).then(() => "over", () => "over")`,
			"image through a redirect": element("img", `e.src = "`+through+`"`),
			"iframe":                   element("iframe", `e.src = "`+url+`"`),
			"iframe through redirect":  element("iframe", `e.src = "`+through+`"`),
			"style sheet":              element("link", `e.rel = "stylesheet"; e.href = "`+url+`"`),
			"preconnect":               element("link", `e.rel = "preconnect"; e.href = "`+url+`"`),
			"prefetch of a name":       element("link", `e.rel = "dns-prefetch"; e.href = "`+url+`"`),
			"prefetch":                 element("link", `e.rel = "prefetch"; e.href = "`+url+`"`),
			"object":                   element("object", `e.data = "`+url+`"`),
			"video":                    element("video", `e.src = "`+url+`"`),
			"script":                   element("script", `e.src = "`+url+`"`),
			"font":                     `new FontFace("x", "url(` + url + `)").load().then(() => "over", () => "over")`,
			"event source":             `new Promise((r) => { const e = new EventSource("` + url + `"); e.onerror = e.onopen = () => { e.close(); r("over"); }; })`,
			"beacon":                   `(navigator.sendBeacon("` + url + `", "x"), new Promise((r) => setTimeout(() => r("over"), 500)))`,
			"websocket":                `new Promise((r) => { const w = new WebSocket("ws://` + at + `/"); w.onopen = w.onerror = () => r("over"); })`,
			"websocket by redirect":    `new Promise((r) => { const w = new WebSocket("ws://localhost:8080/to?url=ws://` + at + `/"); w.onopen = w.onerror = () => r("over"); })`,
			"webtransport":             `new Promise((r) => { try { new WebTransport("https://` + at + `/").ready.then(() => r("over"), () => r("over")); } catch { r("over"); } setTimeout(() => r("over"), 1000); })`,
			"webrtc": `new Promise((r) => { const c = new RTCPeerConnection({iceServers: [{urls: "stun:` + at + `"}, {urls: "turn:` + at + `?transport=tcp", username: "x", credential: "x"}]});
				c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)); setTimeout(() => r("over"), 1000); })`,
			"service worker": `(async () => { await navigator.serviceWorker.register("/worker.js"); const w = await navigator.serviceWorker.ready;
				return await new Promise((r) => { navigator.serviceWorker.onmessage = () => r("over"); w.active.postMessage("` + url + `"); }); })()`,
			"form": `new Promise((r) => { const f = document.createElement("form"), i = document.createElement("iframe"); i.name = "f"; f.target = "f"; f.method = "post"; f.action = "` + url + `";
				document.body.append(i, f); f.submit(); setTimeout(() => r("over"), 500); })`,
		} {
			eval(name+" to "+at, script)
		}
	}
	// Nothing that drives Chromium answers to a page.
	for _, at := range []string{"localhost:9222", "127.0.0.1:9222", "127.0.0.1:8222", "127.0.0.1:8223"} {
		eval("debugging at "+at, `fetch("http://`+at+`/json/version", {mode: "no-cors"}).then(() => "over") .then(() => fetch("http://`+at+`/json/version")).then((r) => r.text(), () => "over").then((b) => b.includes("Browser") ? "CDP" : "over", () => "over")`)
	}
	// Schemes that are not the web's, by what a page can do.
	for _, to := range []string{"file:///etc/passwd", "chrome://version/", "view-source:http://localhost:8080/", "data:text/html,top", "devtools://devtools/bundled/inspector.html", "ftp://127.0.0.1:" + ears.port + "/"} {
		open()
		for name, script := range map[string]string{
			"location": `(() => { try { location = "` + to + `"; } catch {} return new Promise((r) => setTimeout(() => r("over"), 300)); })()`,
			"window":   `(() => { try { window.open("` + to + `"); } catch {} return new Promise((r) => setTimeout(() => r("over"), 300)); })()`,
			"link":     `(() => { const a = document.createElement("a"); a.href = "` + to + `"; document.body.append(a); a.click(); return new Promise((r) => setTimeout(() => r("over"), 300)); })()`,
		} {
			eval(name+" to "+to, script)
		}
		scheme, _, _ := strings.Cut(to, ":")
		p.mu.Lock()
		for _, tab := range p.state.Tabs {
			if strings.HasPrefix(tab.URL, scheme+":") {
				t.Errorf("a page opened %s: %+v", to, tab)
			}
		}
		p.mu.Unlock()
	}
	open()
	eval("data: in a frame", `new Promise((r) => { const i = document.createElement("iframe"); i.onload = () => r("over"); i.src = "data:text/html,framed"; document.body.append(i); })`)
	ears.quiet(t, "127.0.0.1", gateway)
}

func prefixed(prefix string, list []string) (out []string) {
	for _, s := range list {
		out = append(out, prefix+s+"/")
	}
	return out
}

// TestBrowserFromOutside: Chromium's renderers are in its own sandbox, other users of the
// container cannot use its pipe, and a Chromium whose container is killed, paused or removed
// comes back.
func TestBrowserFromOutside(t *testing.T) {
	_, ch, p := browserRig(t)
	id := chromeContainer(t, ch)
	out, err := docker(t.Context(), "exec", "-u", "0", id, "sh", "-c", `for p in /proc/[0-9]*; do
		tr '\0' ' ' < $p/cmdline 2>/dev/null | grep -q -- "--type=[r]enderer" || continue
		echo $(awk '/^(NoNewPrivs|Seccomp|CapEff):/ {print $1 $2}' $p/status) $(readlink $p/ns/user) $(readlink /proc/1/ns/user) $(readlink $p/ns/pid) $(readlink /proc/1/ns/pid); done`)
	renderers := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || renderers[0] == "" {
		t.Fatalf("no renderer: %q %v", out, err)
	}
	for _, line := range renderers {
		f := strings.Fields(line)
		if len(f) != 7 || !slices.Contains(f, "NoNewPrivs:1") || !slices.Contains(f, "Seccomp:2") || !slices.Contains(f, "CapEff:0000000000000000") || f[3] == f[4] || f[5] == f[6] {
			t.Errorf("a renderer outside of its sandbox: %s", line)
		}
	}
	for _, user := range []string{"1600:1600", "65534:65534"} {
		out, err := docker(t.Context(), "exec", "-u", user, id, "sh", "-c", `n=0; for p in /proc/[0-9]*; do
			tr '\0' ' ' < $p/cmdline 2>/dev/null | grep -q "[r]emote-debugging-pipe" || continue; n=$((n+1))
			(echo x > $p/fd/3) 2>/dev/null && echo WROTE; (head -c1 < $p/fd/4) 2>/dev/null && echo READ; kill -9 ${p#/proc/} 2>/dev/null && echo KILLED; done; echo $n; ls /profile /run/loop/private 2>&1`)
		if n := strings.Fields(out); len(n) == 0 || n[0] == "0" || strings.Contains(out, "WROTE") || strings.Contains(out, "READ") || strings.Contains(out, "KILLED") ||
			!strings.Contains(out, "/run/loop/private': Permission denied") {
			t.Errorf("user %s: %v %s", user, err, out)
		}
	}
	if out, err := docker(t.Context(), "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{.GlobalIPv6Address}}{{end}}", id); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("it has an address for other containers: %q %v", out, err)
	}
	for _, ends := range [][]string{{"kill", id}, {"rm", "-f", id}, {"pause", id}} {
		ends[len(ends)-1] = chromeContainer(t, ch)
		if out, err := docker(t.Context(), ends...); err != nil {
			t.Fatalf("%v: %v %s", ends, err, out)
		}
		p.wait(fmt.Sprintf("the crash after %v", ends), func() bool { return p.state.Phase == core.BrowserCrashed && p.state.Failure != nil })
		p.say(core.BrowserCommand{Type: "restart"})
		p.wait("another Chromium", func() bool { return p.state.Phase == core.BrowserRunning })
	}
}
