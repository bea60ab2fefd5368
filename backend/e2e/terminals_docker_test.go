//go:build docker

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// termClient is one client on the terminal socket.
type termClient struct {
	t    testing.TB
	conn *websocket.Conn

	mu      sync.Mutex
	out     []byte       // since the last snapshot began
	said    []termStatus // statuses that the test has not read
	changed chan struct{}
	over    error
}

// termStatus is a status of Loop's.
type termStatus struct {
	Type        string             `json:"type"`
	SessionID   core.TerminalID    `json:"session_id"`
	ContainerID string             `json:"container_id"`
	State       core.TerminalState `json:"state"`
	Cols        int                `json:"cols"`
	Rows        int                `json:"rows"`
	Snapshot    int                `json:"snapshot"`
	ExitCode    *int               `json:"exit_code"`
	Message     string             `json:"message"`
	Remedy      string             `json:"remedy"`
	ErrorCode   string             `json:"error_code"`
	Name        string             `json:"name"`
}

func (s *server) termClient(t testing.TB) *termClient {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+"api/ws/terminal", &websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	c := &termClient{t: t, conn: conn, changed: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read()
	}()
	t.Cleanup(func() { _ = conn.CloseNow(); <-done })
	return c
}

func (c *termClient) read() {
	for {
		kind, data, err := c.conn.Read(context.Background()) // until the connection is closed
		c.mu.Lock()
		var a termStatus
		switch {
		case err != nil:
			c.over = err
		case kind == websocket.MessageBinary:
			c.out = append(c.out, data...)
		default:
			if err := json.Unmarshal(data, &a); err != nil {
				c.over = err
			}
			if a.Type == "created" || a.Type == "attached" || a.Type == "resync" {
				c.out = nil
			}
			c.said = append(c.said, a)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		over := c.over != nil
		c.mu.Unlock()
		if over {
			return
		}
	}
}

func (c *termClient) say(format string, args ...any) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *termClient) typeIn(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageBinary, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// wait calls ok after every change until it returns true.
func (c *termClient) wait(what string, ok func() bool) {
	c.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		done, changed, over := ok(), c.changed, c.over
		out, said := string(c.out[max(0, len(c.out)-2000):]), fmt.Sprintf("%+v", c.said)
		c.mu.Unlock()
		if done {
			return
		}
		if over != nil {
			c.t.Fatalf("waited for %s: %v", what, over)
		}
		select {
		case <-changed:
		case <-late.C:
			c.t.Fatalf("waited for %s in vain\nsaid: %s\nshown: %q", what, said, out)
		}
	}
}

// status waits for the next status of a type. An error fails the test unless typ is
// “error”.
func (c *termClient) status(typ string) (got termStatus) {
	c.t.Helper()
	c.wait(typ, func() bool {
		for i, a := range c.said {
			if a.Type == "error" && typ != "error" {
				c.t.Errorf("waited for %s: %+v", typ, a)
				c.over = fmt.Errorf("refused")
				return false
			}
			if a.Type == typ {
				got, c.said = a, c.said[i+1:]
				return true
			}
		}
		return false
	})
	return got
}

func (c *termClient) shown(want string) {
	c.t.Helper()
	c.wait(strconv.Quote(want), func() bool { return strings.Contains(string(c.out), want) })
}

func (c *termClient) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.out)
}

// create opens a session and waits until its prompt takes input.
func (c *termClient) create(fields string) termStatus {
	c.t.Helper()
	c.say(`{"type":"create",%s}`, fields)
	a := c.status("created")
	c.typeIn("echo rea''dy\r")
	c.shown("ready")
	return a
}

// hasSize waits until the shell has this size, in rows and columns. Clients get a new
// size before the program does.
func (c *termClient) hasSize(size string) {
	c.t.Helper()
	c.typeIn(fmt.Sprintf("while [ \"$(stty size)\" != '%s' ]; do :; done; echo 'size''d' %s\r", size, size))
	c.shown("sized " + size)
}

// inside lists the command lines of a container's processes.
func inside(t testing.TB, container string) string {
	t.Helper()
	out, err := docker(t.Context(), "top", container, "-eo", "pid,args")
	if err != nil {
		t.Fatalf("docker top: %v %s", err, out)
	}
	return out
}

// runsHere reports whether a process of this computer has the argument.
func runsHere(t testing.TB, arg string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains("\x00"+string(b), "\x00"+arg+"\x00") {
			return true
		}
	}
	return false
}

func poll(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

func terminalServer(t *testing.T) (*home, *server, core.ChannelID, string) {
	t.Helper()
	h := newHome(t, "")
	s := h.serve()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var ch core.Channel
	s.must("Channels.Add", &ch, dir, "")
	return h, s, ch.ID, dir
}

// TestTerminalInAContainer is a session's whole life over the socket.
func TestTerminalInAContainer(t *testing.T) {
	_, s, ch, _ := terminalServer(t)
	c := s.termClient(t)
	made := c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"rows":24,"cols":80`, ch))

	c.typeIn("echo $((40+2))x; stty size\r")
	c.shown("42x")
	c.shown("24 80")
	c.say(`{"type":"resize","rows":40,"cols":120}`)
	if a := c.status("resized"); a.Cols != 120 || a.Rows != 40 {
		t.Errorf("%+v", a)
	}
	c.hasSize("40 120")

	// A second client attaches, and goes on when the first has left.
	other := s.termClient(t)
	other.say(`{"type":"attach","session_id":%q,"acks":true}`, made.SessionID)
	if a := other.status("attached"); a.Cols != 120 || a.Rows != 40 || a.Snapshot == 0 {
		t.Errorf("%+v", a)
	}
	other.shown("42x")
	c.say(`{"type":"detach"}`)
	c.status("detached")
	other.typeIn("echo se''en\r")
	other.shown("seen")
	c.say(`{"type":"attach","session_id":%q}`, made.SessionID)
	c.status("attached")
	c.shown("seen")

	// Programs that leave the shell's session or ignore signals end too.
	c.typeIn("(sleep 74242 &) ; setsid sleep 74243 & nohup sleep 74244 & (trap '' TERM HUP INT; sleep 74245) & sleep 74246\r")
	poll(t, "the programs", func() bool { return strings.Count(inside(t, made.ContainerID), "sleep 7424") >= 5 })
	c.say(`{"type":"close"}`)
	if a := c.status("stopped"); a.SessionID != made.SessionID {
		t.Errorf("%+v", a)
	}
	if left := inside(t, made.ContainerID); strings.Contains(left, "sleep 7424") {
		t.Errorf("left behind:\n%s", left)
	}
	if a := other.status("closed"); a.SessionID != made.SessionID {
		t.Errorf("%+v", a)
	}
	c.say(`{"type":"attach","session_id":%q}`, made.SessionID)
	if a := c.status("error"); a.ErrorCode != "session_failed" {
		t.Errorf("%+v", a)
	}

	// The next session finds the same container.
	if again := c.create(fmt.Sprintf(`"channel_id":%q,"plain":true`, ch)); again.ContainerID != made.ContainerID {
		t.Errorf("another container: %s and %s", again.ContainerID, made.ContainerID)
	}
	c.typeIn("exit 7\r")
	if a := c.status("closed"); a.ExitCode == nil || *a.ExitCode != 7 {
		t.Errorf("%+v", a)
	}

	c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/sh"]`, ch))
	c.say(`{"type":"stop"}`)
	c.status("stopped")
	if out, err := docker(t.Context(), "inspect", made.ContainerID); err == nil {
		t.Errorf("stop left the container: %.200s", out)
	}
	c.say(`{"type":"kill","channel_id":%q}`, ch) // the channel has no session any more
	c.status("stopped")
	killed := c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/sh"]`, ch))
	other.say(`{"type":"kill","channel_id":%q}`, ch)
	other.status("stopped")
	if a := c.status("closed"); a.SessionID != killed.SessionID {
		t.Errorf("%+v", a)
	}
	if _, err := docker(t.Context(), "inspect", killed.ContainerID); err == nil {
		t.Error("kill left the container")
	}
	var list []core.TerminalInfo
	if s.must("Terminals.List", &list, ch); len(list) > 1 { // the session that exited by itself may still be listed
		t.Errorf("%+v", list)
	}
}

// TestTerminalMistakes: each mistake gets its code of the protocol, and the session
// goes on.
func TestTerminalMistakes(t *testing.T) {
	_, s, ch, _ := terminalServer(t)
	keep, c := s.termClient(t), s.termClient(t)
	made := keep.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"]`, ch))
	args := strings.Repeat(`"x",`, 64) + `"x"`
	for _, tc := range []struct{ send, code string }{
		{`{`, "invalid_json"},
		{`{"type":"fly"}`, "unknown_message"},
		{`{"type":"input","data":"eA=="}`, "no_session"},
		{fmt.Sprintf(`{"type":"create","channel_id":%q,"cmd":[%s]}`, ch, args), "invalid_input"},
		{fmt.Sprintf(`{"type":"create","channel_id":%q,"cmd":["ls",""]}`, ch), "invalid_input"},
		{fmt.Sprintf(`{"type":"create","channel_id":%q,"cmd":["/no/such/shell"]}`, ch), "session_failed"},
		{`{"type":"create","channel_id":"nobody"}`, "session_failed"},
		{`{"type":"create","container_id":"000000000000"}`, "session_failed"},
		{fmt.Sprintf(`{"type":"attach","session_id":%q}`, strings.Repeat("0", 32)), "session_failed"},
		{`{"type":"create","target":"host","cmd":["/no/such/shell"]}`, "session_failed"},
	} {
		c.say("%s", tc.send)
		if a := c.status("error"); a.ErrorCode != tc.code || a.Message == "" {
			t.Errorf("%.80s: %+v, want %s", tc.send, a, tc.code)
		}
	}
	c.say(`{"type":"attach","session_id":%q}`, made.SessionID)
	c.status("attached")
	for _, tc := range []struct{ send, code string }{
		{`{"type":"input","data":"!"}`, "invalid_input"},
		{`{"type":"resize","rows":0,"cols":80}`, "missing_field"},
	} {
		c.say("%s", tc.send)
		if a := c.status("error"); a.ErrorCode != tc.code {
			t.Errorf("%s: %+v, want %s", tc.send, a, tc.code)
		}
	}
	c.say(`{"type":"resize","rows":65535,"cols":65535}`)
	if a := c.status("resized"); a.Cols != 1000 || a.Rows != 500 {
		t.Errorf("%+v", a)
	}
	for i := range 1000 {
		c.say(`{"type":"resize","rows":%d,"cols":%d}`, 20+i%10, 80+i%50)
	}
	c.say(`{"type":"resize","rows":33,"cols":99}`)
	c.wait("the last size", func() bool {
		for _, a := range c.said {
			if a.Type == "resized" && a.Cols == 99 && a.Rows == 33 {
				return true
			}
		}
		return false
	})
	keep.hasSize("33 99")

	// The container is removed while the session uses it.
	if out, err := docker(t.Context(), "rm", "-f", made.ContainerID); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if a := keep.status("closed"); a.Message == "" {
		t.Errorf("nothing says why: %+v", a)
	}
	keep.typeIn("x")
	if a := keep.status("error"); a.ErrorCode != "session_failed" {
		t.Errorf("%+v", a)
	}
	keep.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"]`, ch)) // in a new container
}

// TestTerminalInAForeignContainer opens a terminal in a container that Loop did not
// make. The engine runs its program. The engine's detach keys do not get in the way.
func TestTerminalInAForeignContainer(t *testing.T) {
	_, s, ch, _ := terminalServer(t)
	out, err := docker(t.Context(), "run", "-d", "--label", "loop-test=terminals", "--entrypoint", "/bin/sleep", "loop-agent:latest", "infinity")
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	lines := strings.Fields(out)
	id := lines[len(lines)-1]
	t.Cleanup(func() {
		if out, err := docker(context.Background(), "rm", "-f", "-v", id); err != nil {
			t.Errorf("remove %s: %v %s", id, err, out)
		}
	})
	c := s.termClient(t)
	c.create(fmt.Sprintf(`"channel_id":%q,"container_id":%q,"rows":30,"cols":90,"cmd":["/bin/sh"]`, ch, id))
	c.typeIn("stty size; stty -echo; echo st''arted; cat -v\r")
	c.shown("30 90")
	c.shown("started")
	c.typeIn("\x10\x10\x11\r") // the engine's default detach keys
	c.shown("^P^P")
	c.typeIn("\x03") // as on every terminal, the interrupt discards input that nobody has read yet
	c.wait("the prompt", func() bool {
		_, after, _ := strings.Cut(string(c.out), "^P^P")
		return strings.HasSuffix(after, "# ") || strings.HasSuffix(after, "$ ")
	})
	c.typeIn("echo ba''ck; sleep 75151 & setsid sleep 75152 &\r")
	c.shown("back")
	poll(t, "the programs", func() bool { return strings.Count(inside(t, id), "sleep 7515") == 2 })
	c.say(`{"type":"close"}`)
	c.status("stopped")
	if left := inside(t, id); strings.Contains(left, "sleep 7515") || !strings.Contains(left, "sleep infinity") {
		t.Errorf("left:\n%s", left)
	}
}

// TestTerminalOnTheHost opens a person's own shell in the channel's folder.
func TestTerminalOnTheHost(t *testing.T) {
	_, s, ch, dir := terminalServer(t)
	c := s.termClient(t)
	made := c.create(fmt.Sprintf(`"channel_id":%q,"target":"host","cmd":["/bin/bash","--norc"],"cols":200,"rows":30`, ch))
	if made.ContainerID != "" {
		t.Errorf("%+v", made)
	}
	c.typeIn("echo i''n:$LOOP_TERMINAL:\r") // “loop terminal” reads it to know that it runs inside a session
	c.shown("in:" + string(made.SessionID) + ":")
	c.typeIn("echo at:$PWD:; stty size\r")
	c.shown("at:" + dir + ":")
	c.shown("30 200")
	c.typeIn("sleep 76161 & setsid sleep 76162 & (trap '' HUP TERM; sleep 76163) &\r")
	poll(t, "the programs", func() bool { return runsHere(t, "76161") && runsHere(t, "76162") && runsHere(t, "76163") })
	c.say(`{"type":"stop"}`)
	c.status("stopped")
	for _, arg := range []string{"76161", "76162", "76163"} {
		if runsHere(t, arg) {
			t.Errorf("sleep %s is left", arg)
		}
	}
}

// promptEnd is a shell's prompt with the mark of its end.
var promptEnd = regexp.MustCompile("[$#] *\x1b\\]133;B\x07 *$")

var markedLine = regexp.MustCompile(`L(\d+)E`)

// TestTerminalOutlivesACrash kills the app while a program prints. Output from the time
// without the app is there when it is back, each line once.
func TestTerminalOutlivesACrash(t *testing.T) {
	t.Parallel() // mostly waits
	h, s, ch, _ := terminalServer(t)
	c := s.termClient(t)
	made := c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"cols":80,"rows":24`, ch))
	// The output is slow enough for five minutes of it to fit into a snapshot's
	// scrollback. It comes from a shell without a signal handler. Bash, with or without
	// a trap, loses an interrupt that comes just as a loop's program ends.
	c.typeIn("sh -c 'for i in $(seq 1 100000); do echo L${i}E; sleep 0.03; done'\r")
	c.shown("L100E")
	s.kill()
	before := last(t, c.text())
	pause := time.NewTimer(3 * time.Second) // nobody listens during this time
	<-pause.C
	s = h.serve()
	var list []core.TerminalInfo
	if s.must("Terminals.List", &list, ch); len(list) != 1 || list[0].ID != made.SessionID {
		t.Fatalf("%+v", list)
	}
	c = s.termClient(t)
	c.say(`{"type":"attach","session_id":%q}`, made.SessionID)
	if a := c.status("attached"); a.Cols != 80 || a.Rows != 24 {
		t.Errorf("%+v", a)
	}
	c.shown(fmt.Sprintf("L%dE", before+150)) // part of this was printed while the app was away
	found := markedLine.FindAllStringSubmatch(c.text(), -1)
	want := 1
	for _, m := range found {
		if m[1] != strconv.Itoa(want) {
			t.Fatalf("L%sE where L%dE should be, of %d; the app was killed after L%dE", m[1], want, len(found), before)
		}
		want++
	}
	c.typeIn("\x03")
	c.wait("the prompt", func() bool { return promptEnd.Match(c.out) })
	c.typeIn("echo al''ive\r")
	c.shown("alive")
	c.say(`{"type":"close"}`)
	c.status("stopped")
	if left := inside(t, made.ContainerID); strings.Contains(left, "sleep 0.03") {
		t.Errorf("left:\n%s", left)
	}
}

func last(t *testing.T, text string) int {
	t.Helper()
	all := markedLine.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		t.Fatalf("no line in %q", text)
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTerminalRecording records a session and reads it over the API.
func TestTerminalRecording(t *testing.T) {
	h, s, ch, _ := terminalServer(t)
	c := s.termClient(t)
	made := c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/sh"]`, ch))
	c.say(`{"type":"record","on":true}`)
	name := c.status("recording").Name
	c.typeIn("echo on''tape\r")
	c.shown("ontape")
	c.say(`{"type":"resize","rows":30,"cols":100}`)
	c.status("resized")
	if r := h.run("terminal", "record", string(made.SessionID[:8]), "off"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	var list []core.Recording
	if s.must("Terminals.Recordings", &list); len(list) != 1 || list[0].Name != name || list[0].SessionID != made.SessionID || list[0].Bytes == 0 {
		t.Fatalf("%+v, want %s", list, name)
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "recordings", name))
	if err != nil || !strings.HasPrefix(string(text), `{"version":2,"width":80,"height":24`) || !strings.Contains(string(text), "ontape") || !strings.Contains(string(text), `"r", "100x30"]`) {
		t.Errorf("%v %s", err, text)
	}
	if r := h.run("terminal", "list"); r.code != 0 || !strings.Contains(r.out, string(made.SessionID[:12])) {
		t.Errorf("%+v", r)
	}
	if r := h.run("terminal", "close", string(made.SessionID)); r.code != 0 {
		t.Errorf("%+v", r)
	}
	c.status("closed")
	s.must("Terminals.DeleteRecording", nil, name)
}

// TestTerminalFilesInContainer: a file that is dropped on a pane or pasted into it is
// at the path that its program gets. The path is quoted for the program's shell.
func TestTerminalFilesInContainer(t *testing.T) {
	h, s, ch, dir := terminalServer(t)
	// There is no container yet: a prompt may be written first, too.
	outside := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(outside, []byte("# from "+"outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	var copied string
	s.must("Terminals.PasteHostFile", &copied, ch, outside)
	c := s.termClient(t)
	c.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/sh"],"cols":200`, ch))
	c.typeIn("clear; cat " + copied + "; echo :end\r")
	c.shown("from outside:end")
	name := filepath.Join(dir, "it's $HOME; a “file”.txt")
	if err := os.WriteFile(name, []byte("drop"+"ped"), 0o600); err != nil {
		t.Fatal(err)
	}
	var at string
	began := time.Now()
	s.must("Terminals.ContainerPath", &at, ch, name)
	t.Logf("a path took %v", time.Since(began).Round(time.Millisecond))
	c.typeIn("clear; cat " + at + "; echo :end\r")
	c.shown("dropped:end")
	began = time.Now()
	s.must("Terminals.PasteFile", &at, ch, "x.png", "iVBORw0KGgpwYXN0ZWQ=") // a PNG's first bytes and a word
	t.Logf("a pasted file took %v", time.Since(began).Round(time.Millisecond))
	if !regexp.MustCompile(`^/\S+/\.loop-pastes/paste-\d{8}T\d{6}Z-[0-9a-f]{8}\.png$`).MatchString(at) {
		t.Errorf("pasted to %s", at)
	}
	c.typeIn("clear; tail -c 6 " + at + "; stat -c '%a' " + at + "\r")
	c.shown("pasted600")
	large := strings.Repeat("A", (10<<20)/3*4) // base64 of 10 MiB, less a byte or two
	s.must("Terminals.PasteFile", &at, ch, "", large)
	for _, path := range []string{filepath.Join(h.dir, "config.json"), "/etc/shadow", "relative", name + "\n"} {
		if err := s.call("Terminals.ContainerPath", nil, ch, path); err == nil || strings.Contains(err.Error(), "internal") {
			t.Errorf("%q: %v", path, err)
		}
	}
	if err := s.call("Terminals.PasteFile", nil, ch, "", large+"AAAAAAAA"); err == nil {
		t.Error("more than 10 MiB was pasted")
	}
	c.say(`{"type":"close"}`)
	c.status("stopped")
}
