//go:build docker

package e2e

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

// attacking is an agent that sends Loop all kinds of bad requests. It writes down each
// answer: a status, or how the connection ended.
const attacking = `#!/usr/bin/env python3
import json, os, socket, struct, sys, threading, time
plan = json.load(open("plan.json"))
got = {}

def raw(data, port=8222, host="127.0.0.1", wait=60):
    s = socket.create_connection((host, port), timeout=wait)
    try:
        s.sendall(data)
    except OSError:
        pass # refused before all of it was sent; the answer says how
    out = b""
    try:
        while True:
            part = s.recv(65536)
            if not part: break
            out += part
    except OSError:
        pass
    s.close()
    return out

def status(out):
    first = out.split(b"\r\n", 1)[0].decode("latin1").split(" ")
    return first[1] if len(first) > 1 and first[0].startswith("HTTP/") else "closed"

def ask(name, method, path, body=b"", headers=(), **kw):
    if isinstance(body, (dict, str)): body = (body if isinstance(body, str) else json.dumps(body)).encode()
    head = ["%s %s HTTP/1.1" % (method, path), "Host: 127.0.0.1:8222", "Connection: close"]
    if body or method != "GET": head.append("Content-Length: %d" % len(body))
    out = raw(("\r\n".join(head + list(headers)) + "\r\n\r\n").encode() + body, **kw)
    got[name] = status(out)
    return out

foreign, theirs, owner = plan["channel"], plan["run"], plan["token"]
bearer = "Authorization: Bearer "
# the owner's routes, by every name and with every proof
for n, path in enumerate(plan["owner_paths"]):
    for m in ("GET", "POST"):
        ask("owner %s %s" % (m, path), m, path, "[]" if m == "POST" else b"", [bearer + owner, "Content-Type: application/json"])
ask("owner socket", "GET", "/api/ws", headers=["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: loop, loop.token." + owner])
# another's channel, by every way to name it
for name, body in {
    "plain": {"channel_id": foreign, "content": "psst"},
    "twice": '{"channel_id":"%s","channel_id":"%s","content":"psst"}' % (plan["mine"], foreign),
    "case": '{"CHANNEL_ID":"%s","content":"psst"}' % foreign,
    "escaped": '{"channel\\u005fid":"%s","content":"psst"}' % foreign,
    "queued": {"channel_id": foreign, "content": "psst", "mode": "queue"},
    "interrupt": {"channel_id": foreign, "content": "psst", "mode": "queue", "interrupt": True},
}.items():
    ask("foreign " + name, "POST", "/api/messages", body, [bearer + owner, "X-Channel-Id: " + foreign, "X-Loop-Channel: " + foreign])
ask("foreign remove", "DELETE", "/api/messages/" + theirs)
ask("foreign list", "GET", "/api/channels/%s/queued" % foreign)
ask("foreign sessions", "GET", "/api/channels/%s/sessions" % foreign)
ask("foreign session", "PUT", "/api/channels/%s/session" % foreign, {"mode": "fresh"})
ask("foreign agent", "POST", "/api/agents/%s/message" % foreign, {"content": "psst"})
ask("foreign model", "POST", "/runs/%s/model/v1/messages" % theirs, {"model": "x"})
# more, and less, than a request
ask("oversize body", "POST", "/api/messages", b'{"content":"' + b"x" * (2 << 20) + b'"}')
ask("oversize header", "GET", "/api/agents", headers=["X-Long: " + "x" * (1 << 20)])
got["torn body"] = status(raw(b"POST /api/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", wait=1))
got["torn head"] = status(raw(b"POST /api/mess", wait=1))
got["torn chunk"] = status(raw(b"POST /api/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", wait=3))
got["two lengths"] = status(raw(b"POST /api/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}", wait=3))
got["length and chunks"] = status(raw(b"POST /api/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: xchunked\r\n\r\n{}", wait=3))
got["frames"] = status(raw(b"".join(struct.pack(">I", n) + b'{"op":"spawn"}' for n in (0xffffffff, 1 << 20, 14, 0)), wait=3))
got["noise"] = status(raw(os.urandom(1 << 16), wait=3))
# the link itself, and the owner's own port
for name in ("/run/loop/private", "/run/loop/private/init.sock"):
    try:
        got[name] = "opened: %s" % os.listdir(name) if not name.endswith("sock") else "opened: %s" % socket.socket(socket.AF_UNIX).connect(name)
    except OSError as e:
        got[name] = "closed"
gateway = [l.split()[2] for l in open("/proc/net/route") if l.split()[1] == "00000000"]
for g in gateway:
    host = socket.inet_ntoa(struct.pack("<I", int(g, 16)))
    try:
        got["owner port"] = status(ask("x", "GET", "/health", host=host, port=plan["port"], wait=3))
    except OSError:
        got["owner port"] = "closed"
# and then a flood, from many sides
lock, answers, began = threading.Lock(), {}, time.monotonic()
def flood():
    for n in range(20):
        try: a = status(raw(b"POST /api/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 19\r\n\r\n" + b'{"content":"flood"}'))
        except OSError: a = "closed"
        with lock: answers[a] = answers.get(a, 0) + 1
threads = [threading.Thread(target=flood) for _ in range(10)]
[t.start() for t in threads]; [t.join() for t in threads]
got["flood"], took = answers, time.monotonic() - began
ask("after", "GET", "/api/nothing")
got["took"] = took
json.dump(got, open("got.json", "w"))
# what it prints is no better
sys.stdout.write('{"type":"result","subtype":"success"' + "x" * (12 << 20) + "\n" + '{"type":\n\x00\xff\n[]\n"x"\n')
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "tried", "session_id": "../../x", "num_turns": 1}), flush=True)
`

// TestHostileGuestsInContainers: an agent forges, floods and tears its requests. It
// reaches nothing of the owner's or of another channel, and harms no other run.
func TestHostileGuestsInContainers(t *testing.T) {
	t.Parallel()
	h := newHome(t, `{"container_keep_alive_sec":0}`)
	s := h.serve()
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	work, theirs := t.TempDir(), t.TempDir()
	evil, good := filepath.Join(work, "agent.py"), filepath.Join(theirs, "agent.py")
	for name, text := range map[string]string{evil: attacking, good: strings.Replace(noting, "range(5)", "range(60)", 1)} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mine, foreign := s.add(work), s.add(theirs)
	for ch, bin := range map[core.ChannelID]string{mine: evil, foreign: good} {
		for field, value := range map[string]any{"claude_bin_path": bin, "anthropic_api_key": "k"} {
			s.must("Settings.Set", nil, "project", ch, field, value)
		}
	}
	other := s.prompt(foreign, "go on with your work")
	waits := s.prompt(foreign, "and then this")
	paths := []string{
		"/api/call/System.Snapshot", "/api/call/Channels.List", "/api/call/Settings.Get", "/api/ws", "/api/ws/terminal", "/api/recordings/x", "/api/health", "/health", "/",
		"//api/call/System.Snapshot", "/api//call/System.Snapshot", "/api/agents/../call/System.Snapshot", "/api/%63all/System.Snapshot", "/api/call%2fSystem.Snapshot", "/API/CALL/System.Snapshot",
		"http://127.0.0.1:" + port + "/api/call/System.Snapshot", "/api/call/System.Snapshot?x=/api/agents", "/api/call/System.Snapshot;/api/agents",
	}
	plan, err := json.Marshal(map[string]any{"channel": foreign, "mine": mine, "run": waits, "token": s.token, "port": json.RawMessage(port), "owner_paths": paths})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "plan.json"), plan, 0o600); err != nil {
		t.Fatal(err)
	}
	run := s.prompt(mine, "try everything")
	within(t, soon, "the owner's own call", func() { s.must("System.Snapshot", nil) })
	page := s.until(mine, "the end of the attack", func(p timeline) bool { return ended(p, run) })
	var got map[string]any
	text, err := os.ReadFile(filepath.Join(work, "got.json"))
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		st := outcome(page, run)
		t.Fatalf("%v\n%+v %+v", err, st, st.Failure)
	}

	if n := len(paths); len(got) < 2*n+20 {
		t.Errorf("only %d answers", len(got))
	}
	refusals := []any{"400", "401", "403", "404", "405", "413", "429", "431", "501", "503", "closed"}
	for name, a := range got {
		if name != "flood" && name != "took" && name != "x" && !slices.Contains(refusals, a) {
			t.Errorf("%s: %v", name, a)
		}
	}
	for name, want := range map[string]string{
		"owner GET /api/call/System.Snapshot": "404", "owner POST /api/call/System.Snapshot": "404", "owner socket": "404",
		"foreign plain": "403", "foreign twice": "403", "foreign case": "403", "foreign escaped": "403", "foreign queued": "403", "foreign interrupt": "403",
		"foreign remove": "403", "foreign list": "403", "foreign sessions": "403", "foreign session": "403", "foreign agent": "403", "foreign model": "404",
		"oversize body": "413", "owner port": "closed", "after": "404",
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %s", name, got[name], want)
		}
	}
	flood, _ := got["flood"].(map[string]any)
	ok, _ := flood["200"].(float64)
	tooMany, _ := flood["429"].(float64)
	took, _ := got["took"].(float64)
	most := 60 * (2 + float64(int(took)/60)) // 60 for each minute that it was in
	if ok == 0 || ok > most || ok+tooMany != 200 {
		t.Errorf("the flood was answered %v in %.1f s", flood, took)
	}
	if n := strings.Count(texts(page.Events), "flood\n"); n != int(ok) {
		t.Errorf("%d messages of the flood are in the timeline, %v were taken", n, ok)
	}
	if st := outcome(page, run); !st.State.Terminal() {
		t.Errorf("%+v", st)
	}

	// The other run went on, its queue is unchanged, and no message came in between.
	then := s.finished(foreign, waits)
	if st := outcome(then, other); st.State != core.RunDone {
		t.Errorf("the other run: %+v %+v", st, st.Failure)
	}
	if list := ran(t, theirs); !slices.Equal(list, []string{"go on with your work", "and then this"}) {
		t.Errorf("the other channel ran %q", list)
	}
	if b, _ := json.Marshal(then.Events); bytes.Contains(b, []byte("psst")) || strings.Count(texts(then.Events), "word ") != 120 {
		t.Errorf("the other channel heard %d words, %v", strings.Count(texts(then.Events), "word "), bytes.Contains(b, []byte("psst")))
	}
	if log, err := os.ReadFile(filepath.Join(h.dir, "loop.log")); err != nil || bytes.Contains(log, []byte("panic")) || bytes.Contains(log, []byte(s.token)) {
		t.Errorf("the log: %v, a panic %v, the owner's token %v", err, bytes.Contains(log, []byte("panic")), bytes.Contains(log, []byte(s.token)))
	}
}
