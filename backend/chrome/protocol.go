package chrome

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of the connection.
const (
	maxMessage  = 64 << 20 // bytes of one message from Chromium; longer ones are skipped
	maxUnsent   = 1024     // messages that wait for Chromium to read
	messageHead = 64       // bytes of a skipped message that still say whose answer it was
)

var (
	errEnded    = errors.New("the browser has ended")
	errTooLarge = errors.New("the answer is larger than 64 MiB")
	errStopped  = errors.New("the page stands still")
)

// protocolError is Chromium's refusal of a command.
type protocolError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

func (e *protocolError) Error() string { return e.Message }

// request is a command as it is sent. NUL ends it on the wire.
type request struct {
	ID      int64  `json:"id"`
	Session string `json:"sessionId,omitzero"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitzero"`
}

// message is whatever comes from Chromium: an answer if it has an id, or an event.
type message struct {
	ID      int64          `json:"id"`
	Session string         `json:"sessionId"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   *protocolError `json:"error"`
}

// answer is what a command came to.
type answer struct {
	result jsontext.Value
	err    error
}

// loose reads what Chromium writes: lone surrogates are possible in a page's text.
var loose = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// conn multiplexes commands and events on the two streams. Methods may be called from
// any goroutine.
type conn struct {
	r      io.ReadCloser
	w      io.WriteCloser
	out    chan []byte
	events *eventQueue
	ended  chan struct{} // closed when no more answers come
	wg     sync.WaitGroup

	mu      sync.Mutex
	last    int64
	pending map[int64]func(answer) // called once, by the reader; does not block
	over    bool
}

// newConn starts reading and writing. known says whether an event is wanted and which
// class it is of.
func newConn(r io.ReadCloser, w io.WriteCloser, known func(method string) (class, bool)) *conn {
	c := &conn{
		r: r, w: w, out: make(chan []byte, maxUnsent), ended: make(chan struct{}),
		events: newEventQueue(), pending: map[int64]func(answer){},
	}
	c.wg.Go(func() { c.read(known) })
	c.wg.Go(c.write)
	return c
}

// close ends the connection and waits for its goroutines.
func (c *conn) close() {
	c.end()
	c.wg.Wait()
}

// end makes every pending and later command fail. It may be called more than once.
func (c *conn) end() {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.over = true
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	close(c.ended)
	_ = c.w.Close()
	_ = c.r.Close()
	for _, done := range pending {
		done(answer{err: errEnded})
	}
	c.events.end()
}

func (c *conn) write() {
	defer c.end()
	for {
		select {
		case b := <-c.out:
			if _, err := c.w.Write(b); err != nil {
				return
			}
		case <-c.ended:
			return
		}
	}
}

func (c *conn) read(known func(string) (class, bool)) {
	defer c.end()
	br := bufio.NewReaderSize(c.r, 64<<10)
	for {
		raw, whole, err := readMessage(br, maxMessage)
		if err != nil {
			return
		}
		if !whole {
			if id := leadingID(raw); id != 0 {
				c.answer(id, answer{err: errTooLarge})
			}
			continue
		}
		var m message
		if err := json.Unmarshal(raw, &m, loose); err != nil {
			return // not the protocol; nothing after it could be trusted to be
		}
		if m.ID != 0 {
			a := answer{result: m.Result}
			if m.Error != nil {
				m.Error.Message = clip(m.Error.Message, 500)
				a = answer{err: m.Error}
			}
			c.answer(m.ID, a)
			continue
		}
		if k, ok := known(m.Method); ok {
			if !c.events.push(event{session: m.Session, method: m.Method, params: m.Params, class: k}) {
				return
			}
		}
	}
}

// readMessage reads up to the NUL that ends a message. Of one that is longer than most it
// returns the head and false.
func readMessage(br *bufio.Reader, most int) (raw []byte, whole bool, err error) {
	whole = true
	for {
		part, err := br.ReadSlice(0)
		switch {
		case !whole:
		case len(raw)+len(part) > most:
			whole = false
			raw = append(raw, part...)
			raw = bytes.Clone(raw[:min(len(raw), messageHead)])
		default:
			raw = append(raw, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("reading from Chromium: %w", err)
		}
		if whole {
			raw = raw[:len(raw)-1]
		}
		return raw, whole, nil
	}
}

// leadingID is the id that Chromium writes first into an answer; 0 if there is none.
func leadingID(head []byte) int64 {
	rest, ok := bytes.CutPrefix(head, []byte(`{"id":`))
	if !ok {
		return 0
	}
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end <= 0 {
		return 0
	}
	id, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

func (c *conn) answer(id int64, a answer) {
	c.mu.Lock()
	done := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if done != nil {
		done(a)
	}
}

// start sends a command. done is called once, from another goroutine or from this one,
// and does not block; it may be nil. start blocks only while Chromium reads nothing.
func (c *conn) start(session, method string, params any, done func(answer)) (id int64) {
	if done == nil {
		done = func(answer) {}
	}
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		done(answer{err: errEnded})
		return 0
	}
	c.last++
	id = c.last
	c.pending[id] = done
	c.mu.Unlock()
	b, err := json.Marshal(request{ID: id, Session: session, Method: method, Params: params}, loose)
	if err != nil {
		c.answer(id, answer{err: fmt.Errorf("encoding %s: %w", method, err)})
		return id
	}
	select {
	case c.out <- append(b, 0):
	case <-c.ended: // end answers what is pending
	}
	return id
}

// forget drops the interest in an answer.
func (c *conn) forget(id int64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// call sends a command and waits for its answer, for ctx, or for stop (which may be nil),
// then with errStopped. result is filled unless it is nil.
func (c *conn) call(ctx context.Context, stop <-chan struct{}, session, method string, params, result any) error {
	got := make(chan answer, 1)
	id := c.start(session, method, params, func(a answer) { got <- a })
	var a answer
	select {
	case a = <-got:
	case <-ctx.Done():
		c.forget(id)
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-stop:
		c.forget(id)
		return fmt.Errorf("%s: %w", method, errStopped)
	}
	if a.err != nil {
		return fmt.Errorf("%s: %w", method, a.err)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.result, result, loose); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", method, err)
	}
	return nil
}
