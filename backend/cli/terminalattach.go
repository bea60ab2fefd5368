package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

const (
	maxTerminalFrame = 1 << 20  // Loop sends at most 64 KiB
	ackEvery         = 16 << 10 // below the mark at which a held program goes on
	typedAtOnce      = 32 << 10
	goodbye          = time.Second // for Loop to say that it let go of the session
)

// clearScreen makes of this terminal one that a snapshot can be drawn on: no
// second screen, no modes, nothing on it. What scrolled off stays.
const clearScreen = leaveModes + "\x1b[H\x1b[2J"

// leaveModes takes back what a program may have switched on, and leaves what is
// on the screen.
const leaveModes = "\x1b[?1049l\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l" +
	"\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[?2031l\x1b[?2048l\x1b[?5l\x1b[?69l" +
	"\x1b[?1l\x1b>\x1b[?6l\x1b[?7h\x1b[?25h\x1b[r\x1b[m\x1b(B\x0f\x1b[<99u\x1b[>4m\x1b[0 q\x1b]8;;\x1b\\"

// terminalSays is what Loop says on a terminal socket.
type terminalSays struct {
	Type      string          `json:"type"`
	SessionID core.TerminalID `json:"session_id"`
	Cols      int             `json:"cols"`
	Rows      int             `json:"rows"`
	ExitCode  *int            `json:"exit_code"`
	Signal    string          `json:"signal"`
	Message   string          `json:"message"`
	Remedy    string          `json:"remedy"`
	Request   string          `json:"request"`
}

// terminalEnd is how an attached session was left.
type terminalEnd struct {
	id       core.TerminalID
	detached bool // the session goes on
	stopped  bool // somebody ended it
	code     int
	message  string
}

// attachment is this terminal showing a session. The reading goroutine owns the
// fields; sending has a lock.
type attachment struct {
	conn   *websocket.Conn
	screen screen
	keys   *leaveKeys

	end      terminalEnd
	filter   screenFilter
	got, ack int64
	snapshot bool // the next output begins one
	redraw   bool // this size was asked for; the screen was drawn for another one

	mu   sync.Mutex
	cols int // asked for last
	rows int
}

// show opens a session with the given message and shows it until it ends, the
// person leaves it, or ctx ends, which leaves it too. The terminal is as it was
// when it returns.
func (r *remote) show(ctx context.Context, s screen, keys *leaveKeys, open map[string]any) (terminalEnd, error) {
	conn, err := r.dial(ctx, "api/ws/terminal")
	if err != nil {
		return terminalEnd{}, err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxTerminalFrame)
	a := &attachment{conn: conn, screen: s, keys: keys}
	if a.cols, a.rows, err = a.size(); err != nil {
		return a.end, err
	}
	open["acks"] = true
	if open["type"] == "create" {
		open["cols"], open["rows"] = a.cols, a.rows
	}
	if err := a.say(ctx, open); err != nil {
		return a.end, r.Lost(ctx, err)
	}
	if err := a.opened(ctx, r); err != nil {
		return a.end, err
	}
	restore, err := s.Raw()
	if err != nil {
		return a.end, err
	}
	defer restore()
	defer func() { _, _ = io.WriteString(s, leaveModes+"\r\n") }()
	if _, err := io.WriteString(s, clearScreen); err != nil {
		return a.end, err
	}
	return a.follow(ctx, r)
}

// opened waits for the first answer, which may take as long as making a
// container.
func (a *attachment) opened(ctx context.Context, r *remote) error {
	kind, data, err := a.conn.Read(ctx)
	if err != nil {
		return r.Lost(ctx, fmt.Errorf("open terminal: %w", err))
	}
	m, err := heard(kind, data)
	if err != nil {
		return err
	}
	switch m.Type {
	case "created", "attached":
	case "error":
		return m.failure()
	default:
		return notUnderstood(fmt.Errorf("message %q", m.Type))
	}
	a.end.id, a.snapshot = m.SessionID, true
	if m.Cols != a.cols || m.Rows != a.rows {
		a.redraw = true
		return a.resize(ctx, a.cols, a.rows)
	}
	return nil
}

func (a *attachment) follow(whole context.Context, r *remote) (terminalEnd, error) {
	ctx, cancel := context.WithCancel(whole)
	var left atomic.Bool
	detach := func() {
		left.Store(true)
		// Said and answered, so that what was typed before has arrived.
		if a.say(ctx, map[string]any{"type": "detach"}) != nil {
			cancel()
		}
		time.AfterFunc(goodbye, cancel)
	}
	var sizes sync.WaitGroup
	sizes.Go(func() {
		a.screen.Resized(ctx, func() {
			if cols, rows, err := a.size(); err == nil {
				_ = a.resize(ctx, cols, rows) // a broken connection is seen by who reads it
			}
		})
	})
	// A read of the keyboard cannot be interrupted: this goroutine ends with the
	// next key, or with the process, which is about to.
	go a.keyboard(ctx, detach)
	end, err := a.output(ctx)
	end.detached = end.detached || left.Load() || ctx.Err() != nil
	cancel()
	sizes.Wait()
	if end.detached {
		return end, nil // leaving broke the connection
	}
	if _, said := errors.AsType[*core.Failure](err); err == nil || said {
		return end, err
	}
	return end, r.Lost(whole, err)
}

// output shows what comes until the session ends.
func (a *attachment) output(ctx context.Context) (terminalEnd, error) {
	for {
		kind, data, err := a.conn.Read(ctx)
		if err != nil {
			return a.end, fmt.Errorf("follow terminal: %w", err)
		}
		if kind == websocket.MessageBinary {
			if _, err := a.screen.Write(a.filter.filter(a.gently(data))); err != nil {
				return a.end, core.Fail(core.CodeInternal, err, "This terminal takes no more output.", "Attach from another one.")
			}
			if a.got += int64(len(data)); a.got-a.ack >= ackEvery {
				a.ack = a.got
				if err := a.say(ctx, map[string]any{"type": "ack", "offset": a.got}); err != nil {
					return a.end, err
				}
			}
			continue
		}
		m, err := heard(kind, data)
		if err != nil {
			return a.end, err
		}
		switch m.Type {
		case "resized":
			// The screen was drawn for another size: it is drawn again for this one.
			if a.mine(m) && a.redraw {
				a.redraw = false
				err = a.say(ctx, map[string]any{"type": "resync"})
			}
		case "resync":
			a.filter, a.snapshot = screenFilter{}, true
			_, err = io.WriteString(a.screen, clearScreen)
		case "closed":
			a.end.message = m.Message
			if a.end.code = 1; m.ExitCode != nil {
				a.end.code = *m.ExitCode
			}
			return a.end, nil
		case "stopped":
			a.end.stopped = true
			return a.end, nil
		case "detached":
			a.end.detached = true
			return a.end, nil
		case "error":
			if m.Request != "resize" && m.Request != "input" {
				return a.end, m.failure()
			}
			_, err = io.WriteString(a.screen, "\a") // the program took no more; a word would be drawn over its screen
		}
		if err != nil {
			return a.end, err
		}
	}
}

// gently leaves out the full reset that a snapshot begins with: this terminal
// was cleared, and many would forget what scrolled off before Loop was started.
func (a *attachment) gently(data []byte) []byte {
	if !a.snapshot {
		return data
	}
	a.snapshot = false
	if i := bytes.Index(data[:min(len(data), 8)], []byte("\x1bc")); i >= 0 {
		return data[i+2:]
	}
	return data
}

// keyboard sends what is typed.
func (a *attachment) keyboard(ctx context.Context, detach func()) {
	buf := make([]byte, typedAtOnce)
	for {
		n, err := a.screen.Read(buf)
		if ctx.Err() != nil {
			return
		}
		pass, leave := a.keys.take(buf[:n])
		if len(pass) > 0 {
			a.mu.Lock()
			werr := a.conn.Write(ctx, websocket.MessageBinary, pass)
			a.mu.Unlock()
			if werr != nil {
				return
			}
		}
		if leave || err != nil {
			detach()
			return
		}
	}
}

func (a *attachment) resize(ctx context.Context, cols, rows int) error {
	a.mu.Lock()
	a.cols, a.rows = cols, rows
	a.mu.Unlock()
	return a.say(ctx, map[string]any{"type": "resize", "cols": cols, "rows": rows})
}

// size is the terminal's, or what is usual where it does not know.
func (a *attachment) size() (cols, rows int, err error) {
	cols, rows, err = a.screen.Size()
	if cols <= 0 {
		cols = 80
	}
	if rows <= 0 {
		rows = 24
	}
	return cols, rows, err
}

// mine reports whether a size is the one that this terminal asked for.
func (a *attachment) mine(m terminalSays) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return m.Cols == a.cols && m.Rows == a.rows
}

func (a *attachment) say(ctx context.Context, m map[string]any) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.conn.Write(ctx, websocket.MessageText, b)
}

func heard(kind websocket.MessageType, data []byte) (m terminalSays, err error) {
	if kind != websocket.MessageText {
		return m, notUnderstood(errors.New("output before its session"))
	}
	return m, decodeAnswer("terminal", data, &m)
}

func (m terminalSays) failure() error {
	return core.Fail(core.CodeInternal, nil, m.Message, m.Remedy)
}
