//go:build docker

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// accessProbe tries everything in its list and prints what came of each, as JSON. What tcp
// speaks DevTools is “CDP”, what answers otherwise begins with “open”.
const accessProbe = `
import json, os, socket, subprocess, sys
todo, out = json.loads(sys.argv[1]), {}
def attempt(name, do):
    try: out[name] = do()
    except Exception as e: out[name] = "no: %s" % e
def tcp(host, port):
    with socket.create_connection((host, port), 3) as s:
        s.settimeout(3)
        s.sendall(b"GET /json/version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        got = b""
        try:
            while chunk := s.recv(4096): got += chunk
        except OSError: pass
        return "CDP" if b"webSocketDebuggerUrl" in got else "open %r" % got[:80]
def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        s.connect((host, port))
        s.send(b"x")
        return "open %r" % s.recv(10)
def proxied(url):
    with socket.create_connection(("127.0.0.1", 8223), 3) as s:
        s.settimeout(5)
        s.sendall(("GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % url).encode())
        got = s.recv(4096)
        return "open %r" % got if got else "no: closed"
def unix(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(3)
        s.connect("\0" + name[1:] if name.startswith("@") else name)
        return "open"
def opened(path, how):
    if os.path.isdir(path): return "open %d" % len(os.listdir(path))
    os.close(os.open(path, {"r": os.O_RDONLY, "w": os.O_WRONLY}[how] | os.O_NONBLOCK))
    return "open"
def found(name):
    p = subprocess.run(["find", "/", "-name", "proc", "-prune", "-o", "-name", name, "-print"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return "open %s" % p.stdout.decode() if p.stdout else "no: not there"
for h, p in todo.get("tcp", []): attempt("%s:%d" % (h, p), lambda: tcp(h, p))
for h, p in todo.get("udp", []): attempt("udp %s:%d" % (h, p), lambda: udp(h, p))
for n in todo.get("unix", []): attempt(n, lambda: unix(n))
for f, how in todo.get("open", []): attempt(f, lambda: opened(f, how))
for n in todo.get("find", []): attempt("find " + n, lambda: found(n))
for u in todo.get("proxied", []): attempt("proxied " + u, lambda: proxied(u))
print(json.dumps(out))
`

// accessible is what a probe is to try.
type accessible struct {
	TCP     [][2]any    `json:"tcp,omitempty"`
	UDP     [][2]any    `json:"udp,omitempty"`  // which answer
	Unix    []string    `json:"unix,omitempty"` // @name has no file
	Open    [][2]string `json:"open,omitempty"`
	Find    []string    `json:"find,omitempty"` // names of files
	Proxied []string    `json:"proxied,omitempty"`
}

// tries runs the probe: args are those of docker before the command.
func tries(t *testing.T, what accessible, args ...string) map[string]string {
	t.Helper()
	list, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	out, err := docker(t.Context(), append(args, "-c", accessProbe, string(list))...)
	var got map[string]string
	if err != nil || json.Unmarshal([]byte(out), &got) != nil {
		t.Fatalf("%v: %v %s", args, err, out)
	}
	return got
}

// standIn answers on port 9222 and on an abstract socket as a Chromium would that lets
// everybody in, and prints what it is asked.
const standIn = `
import base64, hashlib, http.server, socket, sys, threading
class Stand(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        print(self.path, flush=True)
        if key := self.headers.get("Sec-WebSocket-Key"):
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode())
            self.end_headers()
            self.close_connection = True
            return
        body = ('{"webSocketDebuggerUrl": "ws://%s"}' % sys.argv[1]).encode()
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
s = socket.socket(socket.AF_UNIX)
s.bind("\0" + sys.argv[1])
s.listen()
threading.Thread(target=lambda: [s.accept() for _ in iter(int, 1)], daemon=True).start()
http.server.ThreadingHTTPServer(("0.0.0.0", 9222), Stand).serve_forever()
`

// TestNobodyElseReachesTheBrowser: another user of this computer, containers of the same and
// of another channel, one that is nobody's, a program in Chromium's own network, and a page.
// Each tries what somebody else succeeds with.
func TestNobodyElseReachesTheBrowser(t *testing.T) {
	h := newHome(t, "")
	root, err := os.MkdirTemp("", "loop-e2e-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	h.dir = filepath.Join(root, "home") // Loop makes it
	h.env = append(h.env, "LOOP_HOME="+h.dir)
	s, ch, p := h.browser()
	id := chromeContainer(t, ch)
	agents := func(of core.ChannelID) string {
		t.Helper()
		var list []core.Container
		s.must("System.ListContainers", &list)
		i := slices.IndexFunc(list, func(c core.Container) bool { return c.ChannelID == of && c.Type == core.TypeAgent })
		if i < 0 {
			t.Fatalf("no container of %s: %+v", of, list)
		}
		return string(list[i].ID)
	}
	s.site(t, ch)
	var made core.TerminalInfo
	s.must("Terminals.Create", &made, map[string]any{"channel_id": ch, "target": "agent", "cmd": []string{"python3", "-c", standIn, "the-agent"}, "cols": 80, "rows": 24})
	other := s.add(t.TempDir())
	s.must("Terminals.Create", &made, map[string]any{"channel_id": other, "target": "agent", "cmd": []string{"sleep", "1000"}, "cols": 80, "rows": 24})
	p.wait("both ports of the agent", func() bool { return len(p.state.Ports) == 2 })

	// In Chromium's network nothing listens but what is Loop's own.
	out, err := docker(t.Context(), "exec", "-u", "0", id, "sh", "-c",
		`for f in tcp tcp6 udp udp6; do [ -e /proc/net/$f ] && awk -v f=$f '(f ~ /udp/ && $1 != "sl") || $4 == "0A" {print f, $2}' /proc/net/$f; done; awk '$4 == "00010000" {print "unix", $8}' /proc/net/unix`)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		switch line = strings.TrimSpace(line); {
		case line == "tcp 0100007F:201E", line == "tcp 0100007F:201F": // 127.0.0.1, 8222 and 8223
		case line == "unix /run/loop/private/init.sock":
		case regexp.MustCompile(`^unix /tmp/org\.chromium\.Chromium\.\w+/SingletonSocket$`).MatchString(line): // in a folder of Chromium's user alone
		default:
			t.Errorf("%s listens", line)
		}
	}

	// A stand-in in the same network is what others would find if anything could be found.
	name := "loop-e2e-access-" + strings.ToLower(core.NewID())
	t.Cleanup(func() {
		if out, err := docker(context.Background(), "rm", "-f", name); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	const image = "loop-agent:latest"
	if out, err := docker(t.Context(), "run", "-d", "--name", name, "--network", "container:"+id, "--entrypoint", "python3", image, "-c", standIn, name); err != nil {
		t.Fatal(err, out)
	}
	marker := "marker-" + core.NewID()
	for _, dir := range []string{"/profile", "/tmp", "/dev/shm"} {
		if out, err := docker(t.Context(), "exec", "-u", chromeUser, id, "touch", dir+"/"+marker); err != nil {
			t.Fatal(err, out)
		}
	}
	beside := []string{"run", "--rm", "--network", "container:" + id, "--entrypoint", "python3", image}
	control := accessible{TCP: [][2]any{{"127.0.0.1", 9222}, {"127.0.0.1", 8222}, {"127.0.0.1", 8223}}, Unix: []string{"@" + name}}
	poll(t, "the stand-in", func() bool { return tries(t, control, beside...)["127.0.0.1:9222"] == "CDP" })
	got := tries(t, control, beside...)
	if got["@"+name] != "open" || !strings.HasPrefix(got["127.0.0.1:8222"], "open") || !strings.HasPrefix(got["127.0.0.1:8223"], "open") {
		t.Errorf("the control: %v", got)
	}
	if out, err := docker(t.Context(), "exec", "-u", chromeUser, id, "sh", "-c", "find / -name proc -prune -o -name "+marker+" -print 2>/dev/null | wc -l"); err != nil || strings.TrimSpace(out) != "3" {
		t.Errorf("the control: %s %v", out, err)
	}
	heard := func() string {
		t.Helper()
		out, err := docker(t.Context(), "logs", name)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := heard()
	if before == "" {
		t.Error("the stand-in is deaf")
	}
	// A program there has no way out: that is Chromium's.
	got = tries(t, accessible{Proxied: []string{"http://localhost:8080/", "http://example.com/"}}, beside...)
	for what, came := range got {
		if !strings.HasPrefix(came, "no: ") {
			t.Errorf("%s beside Chromium: %s", what, came)
		}
	}
	if res := p.act("navigate", map[string]any{"url": "http://localhost:8080/"}); res.Error != "" {
		t.Errorf("the control: %s", res.Error)
	}

	// Other containers: no address, name, socket or file leads there.
	full, err := docker(t.Context(), "inspect", "-f", "{{.Id}} {{.Name}} {{.Config.Hostname}}", id)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(full)
	attempts := accessible{Unix: []string{"@" + name}, Find: []string{marker}}
	for _, host := range []string{words[0], words[0][:12], strings.TrimPrefix(words[1], "/"), words[2], "host.docker.internal", bridgeGateway(t)} {
		for _, port := range []int{9222, 8222, 8223} {
			attempts.TCP = append(attempts.TCP, [2]any{host, port})
		}
	}
	mounts := func(id string) (list []string) {
		out, err := docker(t.Context(), "inspect", "-f", `{{range .Mounts}}{{if .RW}}{{or .Name .Source}}{{"\n"}}{{end}}{{end}}`, id)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(out)
	}
	private := mounts(id)
	if len(private) != 1 {
		t.Errorf("it may write to %v", private)
	}
	for who, args := range map[string][]string{
		"the channel's agent":      {"exec", "-u", "1000:1000", agents(ch), "python3"},
		"its container's root":     {"exec", "-u", "0", agents(ch), "python3"},
		"another channel's agent":  {"exec", "-u", "1000:1000", agents(other), "python3"},
		"another container's root": {"exec", "-u", "0", agents(other), "python3"},
		"a foreign container":      {"run", "--rm", "--network", "bridge", "--entrypoint", "python3", image},
	} {
		for what, came := range tries(t, attempts, args...) {
			if !strings.HasPrefix(came, "no: ") {
				t.Errorf("%s reaches %s: %s", who, what, came)
			}
		}
		if args[0] == "exec" {
			for _, m := range mounts(args[len(args)-2]) {
				if slices.Contains(private, m) {
					t.Errorf("%s shares %s with it", who, m)
				}
			}
		}
	}
	// An agent of another channel has no say here, by the way that its own browser has.
	shell := s.termClient(t)
	shell.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"cols":200,"rows":50`, other))
	if said := shell.browse(fmt.Sprintf(`{"channel_id":%q,"action":"list_tabs"}`, ch)); !strings.Contains(said, "browser of its own channel only") {
		t.Errorf("%s", said)
	}

	// A page that asks for the ports is led to the agent's container, and to Loop's own in none.
	for script, want := range map[string]string{
		`fetch("http://127.0.0.1:9222/json/version").then((r) => r.text(), String)`:                                                                              "ws://the-agent",
		`fetch("http://[::1]:9222/json/version").then((r) => r.text(), String)`:                                                                                  "", // as the agent's container has IPv6, or not
		`new Promise((r) => { const w = new WebSocket("ws://127.0.0.1:9222/devtools/browser"); w.onopen = () => r("opened"); w.onerror = () => r("refused"); })`: "opened",
		`new Promise((r) => { const w = new WebSocket("ws://127.0.0.1:8222/devtools/browser"); w.onopen = () => r("opened"); w.onerror = () => r("refused"); })`: "refused",
		`new Promise((r) => { const w = new WebSocket("ws://localhost:8223/"); w.onopen = () => r("opened"); w.onerror = () => r("refused"); })`:                 "refused",
		`fetch("http://127.0.0.1:8222/api/agents").then((r) => "opened", () => "refused")`:                                                                       "refused",
		`fetch("http://127.0.0.1:8223/json/version").then((r) => "opened", () => "refused")`:                                                                     "refused",
	} {
		if res := p.act("evaluate", map[string]any{"expression": script}); res.Error != "" || !strings.Contains(res.Result, want) || strings.Contains(res.Result, name) {
			t.Errorf("%s: %+v", script, res)
		}
	}
	if after := heard(); after != before {
		t.Errorf("somebody reached the stand-in: %q, and before %q", after, before)
	}
	if conn, res, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+"api/ws/browser", nil); err == nil || res == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token a pane opens: %+v %v", res, err)
		if err == nil {
			_ = conn.CloseNow()
		}
	}

	t.Run("another user of this computer", func(t *testing.T) { h.strangers(t, s, id, root) })
}

// strangers tries, as a user of this computer that is neither root nor Loop's, the processes,
// files and sockets of Loop and of Chromium; as root each of them opens.
func (h *home) strangers(t *testing.T, s *server, chrome, root string) {
	loop := strconv.Itoa(s.cmd.Process.Pid)
	list := accessible{Open: [][2]string{{"/proc/" + loop + "/fd", "r"}, {"/proc/" + loop + "/mem", "r"}, {h.dir, "r"}}}
	err := filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && len(list.Open) < 500 && (e.IsDir() || e.Type().IsRegular()) {
			list.Open = append(list.Open, [2]string{path, "r"})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	top, err := docker(t.Context(), "top", chrome, "-eo", "pid,args")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(top) {
		if pid, args, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(args, "--remote-debugging-pipe") && !strings.Contains(args, "--type=") {
			list.Open = append(list.Open, [2]string{"/proc/" + pid + "/fd/3", "w"}, [2]string{"/proc/" + pid + "/fd/4", "r"},
				[2]string{"/proc/" + pid + "/mem", "r"}, [2]string{"/proc/" + pid + "/root/profile", "r"})
		}
	}
	if n := len(list.Open); n < 10 {
		t.Fatalf("%d things to open", n)
	}
	// What Loop itself listens on is its page's port, and knows nothing of DevTools.
	var inodes []string
	fds, err := filepath.Glob("/proc/" + loop + "/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes = append(inodes, strings.Trim(to, "socket:[]"))
		}
	}
	listens := 0
	for _, table := range []string{"tcp", "tcp6", "unix"} {
		text, err := os.ReadFile("/proc/" + loop + "/net/" + table)
		if err != nil {
			continue // without IPv6
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			switch {
			case table == "unix" && len(f) > 7 && f[3] == "00010000" && slices.Contains(inodes, f[6]):
				list.Unix = append(list.Unix, f[7])
			case table != "unix" && len(f) > 9 && f[3] == "0A" && slices.Contains(inodes, f[9]):
				addr, hex, _ := strings.Cut(f[1], ":")
				port, err := strconv.ParseUint(hex, 16, 16)
				if err != nil || addr != "0100007F" {
					t.Errorf("Loop listens on %s", f[1])
				}
				list.TCP = append(list.TCP, [2]any{"127.0.0.1", port})
				listens++
			}
		}
	}
	if listens == 0 {
		t.Error("Loop listens nowhere")
	}
	as := func(user string) map[string]string {
		t.Helper()
		return tries(t, list, "run", "--rm", "--cap-add", "SYS_PTRACE", "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--network", "host", "--pid", "host", "--ipc", "host",
			"-v", root+":"+root, "-u", user, "--entrypoint", "python3", "loop-agent:latest")
	}
	stranger, able := as("65534:65534"), as("0:0")
	for _, what := range slices.Sorted(maps.Keys(able)) {
		switch isPort := strings.HasPrefix(what, "127.0.0.1:"); {
		case isPort && (stranger[what] == "CDP" || !strings.HasPrefix(stranger[what], `open b'HTTP/1.1 40`)):
			t.Errorf("a stranger at %s: %s", what, stranger[what])
		case !isPort && !strings.HasPrefix(able[what], "open"):
			t.Errorf("the control of %s: %s", what, able[what])
		case !isPort && !strings.HasPrefix(stranger[what], "no: "):
			t.Errorf("a stranger opens %s: %s", what, stranger[what])
		}
	}
	t.Logf("%d files and folders, %d sockets with a name, %d ports", len(list.Open), len(list.Unix), listens)
}

// browse does an act of an agent, as its tool does, and returns the beginning of the answer.
func (c *termClient) browse(body string) string {
	c.t.Helper()
	c.mu.Lock()
	c.out = nil
	c.mu.Unlock()
	end := core.NewID()
	c.typeIn(fmt.Sprintf("curl -s http://127.0.0.1:8222/api/browser/action -d %s | cut -c1-800; echo e''nd-%s\r", core.ShellQuote(body), end))
	c.shown("end-" + end)
	return c.text()
}
