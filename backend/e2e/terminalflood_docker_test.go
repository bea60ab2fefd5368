//go:build docker

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/soaktest"
)

// floodLines is the number of lines that seq prints. In full they are a little over 100
// MB.
var floodLines = soaktest.Of(11_300_000)

// floodGrows is how much Loop's memory may grow meanwhile, in bytes. Most of it is for
// the runtime's own slack.
const floodGrows = 128 << 20

// viewer reads the socket itself, at a pace of its own.
type viewer struct {
	t    *testing.T
	name string
	conn *websocket.Conn
	got  int64 // bytes of binary frames
	ack  int64
	// resyncs is how often a new screen was sent.
	resyncs int
	screen  int // bytes of a snapshot still to come
}

func (s *server) viewer(t *testing.T, name, open string) *viewer {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(s.url, "http", "ws", 1)+"api/ws/terminal", &websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	v := &viewer{t: t, name: name, conn: conn}
	v.say(open)
	return v
}

func (v *viewer) say(text string) {
	if err := v.conn.Write(v.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		v.t.Errorf("%s: %v", v.name, err)
	}
}

// next returns output, or a status. With skip, snapshots are counted and left out.
func (v *viewer) next(ctx context.Context, skip bool) (out []byte, a termStatus, err error) {
	kind, data, err := v.conn.Read(ctx)
	if err != nil {
		return nil, a, err
	}
	if kind == websocket.MessageText {
		if err := json.Unmarshal(data, &a); err != nil {
			return nil, a, err
		}
		switch a.Type {
		case "error":
			return nil, a, fmt.Errorf("%+v", a)
		case "resync":
			v.resyncs++
			v.screen = a.Snapshot
		case "created", "attached":
			v.screen = a.Snapshot
		}
		return nil, a, nil
	}
	if v.got += int64(len(data)); v.got-v.ack >= 64<<10 {
		v.ack = v.got
		v.say(fmt.Sprintf(`{"type":"ack","offset":%d}`, v.got))
	}
	if n := min(v.screen, len(data)); n > 0 {
		v.screen -= n
		if skip {
			data = data[n:]
		}
	}
	return data, a, nil
}

// whole reads the flood and compares every byte. It pauses after each 64 KiB.
func (v *viewer) whole(ctx context.Context, pause time.Duration) error {
	var line []byte
	want, begun, read := 0, false, 0
	for {
		out, _, err := v.next(ctx, begun)
		if err != nil {
			return fmt.Errorf("%s after line %d: %w", v.name, want, err)
		}
		for len(out) > 0 {
			i := bytes.IndexByte(out, '\n')
			if i < 0 {
				line = append(line, out...)
				break
			}
			line = append(line, out[:i+1]...)
			out = out[i+1:]
			switch {
			case !begun: // the screen before the flood
				begun = bytes.HasSuffix(line, []byte("BEGIN\r\n"))
			case want == floodLines:
				if string(line) != "END\r\n" {
					return fmt.Errorf("%s: %q instead of the end", v.name, line)
				}
				return nil
			default:
				want++
				if read += len(line); !isLine(line, want) {
					return fmt.Errorf("%s: line %d is %q", v.name, want, line)
				}
			}
			line = line[:0]
		}
		if pause > 0 && read >= 64<<10 {
			read = 0
			t := time.NewTimer(pause)
			<-t.C
		}
	}
}

func isLine(line []byte, n int) bool {
	var want [24]byte
	return bytes.Equal(line, append(strconv.AppendInt(want[:0], int64(n), 10), '\r', '\n'))
}

var rss = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// memory is what a process of this computer has in memory.
func memory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := rss.FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s", text)
	}
	kb, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// slowPause is a viewer's pause after 64 KiB: 8 MB/s. A program prints several times
// faster here, so the program waits for the viewer.
const slowPause = 8 * time.Millisecond

// TestThreeViewersOfAFlood sends a lot of output (100 MB under “make soak”) to a fast
// client, a slow one and one that stops reading. The first two get every byte. The last
// one holds the program up for a while, and gets the present screen when it reads
// again.
func TestThreeViewersOfAFlood(t *testing.T) {
	t.Parallel() // mostly waits
	_, s, ch, _ := terminalServer(t)
	fast := s.viewer(t, "fast", fmt.Sprintf(`{"type":"create","channel_id":%q,"acks":true,"cmd":["/bin/sh","-c","stty -echo; read x; echo BEGIN; seq 1 %d; echo END; sleep 1000"]}`, ch, floodLines))
	_, made, err := fast.next(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	attach := fmt.Sprintf(`{"type":"attach","session_id":%q,"acks":true}`, made.SessionID)
	slow, stalled := s.viewer(t, "slow", attach), s.viewer(t, "stalled", attach)
	for _, v := range []*viewer{slow, stalled} {
		if _, a, err := v.next(t.Context(), false); err != nil || a.Type != "attached" {
			t.Fatalf("%s: %+v %v", v.name, a, err)
		}
	}
	before := memory(t, s.cmd.Process.Pid)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	ends := make(chan error, 2)
	began := time.Now()
	go func() { ends <- fast.whole(ctx, 0) }()
	go func() { ends <- slow.whole(ctx, slowPause) }()
	fast.say(`{"type":"input","data":"DQ=="}`)
	most, tick := before, time.NewTicker(200*time.Millisecond)
	defer tick.Stop()
	for left := 2; left > 0; {
		select {
		case err := <-ends:
			if left--; err != nil {
				t.Error(err)
			}
		case <-tick.C:
			most = max(most, memory(t, s.cmd.Process.Pid))
		}
	}
	t.Logf("%d MB to two of three in %v; Loop had %d MiB before and %d MiB at most", fast.got/1_000_000, time.Since(began).Round(time.Millisecond), before>>20, most>>20)
	if most-before > floodGrows {
		t.Errorf("Loop grew by %d MiB", (most-before)>>20)
	}
	if least := time.Duration(fast.got/(64<<10)) * slowPause; time.Since(began) < least {
		t.Errorf("the slow one needed less than its pauses, %v", least)
	}
	if fast.resyncs+slow.resyncs > 0 {
		t.Errorf("resynchronised: fast %d, slow %d", fast.resyncs, slow.resyncs)
	}
	// Output that was on its way to the stalled viewer comes first, then the new
	// screen.
	var shown []byte
	for !bytes.Contains(shown, []byte("END")) {
		out, a, err := stalled.next(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		if a.Type == "resync" {
			shown = nil
		}
		if shown = append(shown, out...); int64(len(shown)) > fast.got/3 {
			t.Fatal("everything was kept for it")
		}
	}
	if stalled.resyncs == 0 || stalled.got > fast.got/6 {
		t.Errorf("%d resyncs, %d bytes", stalled.resyncs, stalled.got)
	}
	fast.say(`{"type":"close"}`)
}
