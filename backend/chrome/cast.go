package chrome

import (
	"bytes"
	"context"
	"encoding/base64"
	"hash/maphash"
	"sync"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"loop/backend/core"
)

const (
	restAfter    = 800 * time.Millisecond // without a new frame, before a sharp still
	sharpQuality = 90
	castQuality  = 60
	maxShots     = 3 // pictures of the cast that wait; Chromium sends few without an answer
)

var castSeed = maphash.MakeSeed()

// caster shows the active tab. Its goroutine attaches a session of its own to the tab, so
// that pictures never wait for a page's other events.
type caster struct {
	b    *Browser
	wake chan struct{}

	mu      sync.Mutex
	on      bool
	quality int
	round   int64 // grows when the cast has to begin anew
	session string
	frames  []shot
}

// shot is a picture as it came.
type shot struct {
	session string
	id      int64
	data    []byte // base64
	at      time.Time
}

func newCaster(b *Browser) *caster {
	return &caster{b: b, wake: make(chan struct{}, 1), quality: castQuality}
}

// Cast switches the pictures of the active tab on or off. quality is that of JPEG, 1 to
// 100; 0 is 60. The cast follows when another tab becomes the active one.
func (b *Browser) Cast(on bool, quality int) {
	if quality == 0 {
		quality = castQuality
	}
	c := b.cast
	c.mu.Lock()
	defer c.mu.Unlock()
	quality = min(max(quality, 1), 100)
	if c.on == on && c.quality == quality {
		return
	}
	same := c.on == on
	c.on, c.quality = on, quality
	if same {
		if c.session != "" { // Chromium goes on with the same pictures
			c.start(c.session, quality)
		}
		return
	}
	c.round++
	c.signal()
}

// start begins the pictures of a session, or goes on with another quality.
func (c *caster) start(session string, quality int) {
	c.b.conn.start(session, page.CommandStartScreencast, obj{"format": "jpeg", "quality": quality, "everyNthFrame": 1}, nil)
}

// again begins the cast anew: the tab or its size is another one.
func (c *caster) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	c.signal()
}

func (c *caster) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (b *Browser) castFrame(e event) {
	var p struct {
		Data      string `json:"data"`
		SessionID int64  `json:"sessionId"`
	}
	if !b.decode(e, &p) {
		return
	}
	c := b.cast
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.session != c.session {
		return
	}
	if len(c.frames) >= maxShots { // the newest wins
		c.acknowledge(c.frames[0])
		c.frames = c.frames[1:]
	}
	c.frames = append(c.frames, shot{e.session, p.SessionID, []byte(p.Data), time.Now()})
	c.signal()
}

func (c *caster) acknowledge(s shot) {
	c.b.conn.start(s.session, page.CommandScreencastFrameAck, obj{"sessionId": s.id}, nil)
}

// run follows the active tab until the connection ends.
func (c *caster) run() {
	ctx, cancel := c.b.context(context.Background())
	defer cancel()
	var (
		round int64
		last  uint64 // of the last frame that was handed on
		rest  = time.NewTimer(time.Hour)
		due   bool // a sharp still is

		// A still takes its time, and what the page draws meanwhile does not wait for it.
		stills = make(chan *core.BrowserFrame)
		taking bool
		stale  bool // the page has moved since it is taken
	)
	rest.Stop()
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-rest.C:
			switch {
			case due && taking:
				rest.Reset(restAfter)
			case due:
				due, taking, stale = false, true, false
				c.b.wg.Go(func() {
					select {
					case stills <- c.still(ctx):
					case <-ctx.Done():
					}
				})
			}
			continue
		case f := <-stills:
			taking = false
			if f != nil && !stale {
				c.b.o.Frame(*f)
			}
			continue
		}
		c.mu.Lock()
		now, on := c.round, c.on
		frames := c.frames
		c.frames = nil
		c.mu.Unlock()
		if now != round {
			round, last, due, stale = now, 0, false, true
			for _, f := range frames {
				c.acknowledge(f)
			}
			c.begin(ctx, on)
			if on { // an empty page that was never drawn sends nothing by itself
				due = true
				rest.Reset(restAfter)
			}
			continue
		}
		for _, f := range frames {
			jpeg, err := decodePicture(f.data)
			if err != nil {
				c.acknowledge(f)
				continue
			}
			sum := maphash.Bytes(castSeed, jpeg)
			if sum == last { // Chromium draws again for the still itself
				c.acknowledge(f)
				continue
			}
			last, due, stale = sum, true, true
			rest.Reset(restAfter)
			if c.b.o.Frame == nil {
				c.acknowledge(f)
				continue
			}
			c.b.o.Frame(core.BrowserFrame{JPEG: jpeg, Time: f.at.UnixMilli(), Ack: sync.OnceFunc(func() { c.acknowledge(f) })})
		}
	}
}

func decodePicture(data []byte) ([]byte, error) {
	out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(out, data)
	return out[:n], err
}

// begin ends the cast of the tab before, and starts that of the active one.
func (c *caster) begin(ctx context.Context, on bool) {
	b := c.b
	c.mu.Lock()
	old := c.session
	c.session = ""
	c.mu.Unlock()
	if old != "" {
		b.conn.start("", target.CommandDetachFromTarget, obj{"sessionId": old}, nil)
	}
	b.mu.Lock()
	t := b.active
	b.mu.Unlock()
	if !on || t == nil {
		return
	}
	var got struct {
		SessionID string `json:"sessionId"`
	}
	short, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := b.conn.call(short, nil, "", target.CommandAttachToTarget, obj{"targetId": t.id, "flatten": true}, &got); err != nil {
		return
	}
	b.conn.start(got.SessionID, page.CommandEnable, nil, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = got.SessionID
	c.start(got.SessionID, c.quality) // it may have changed meanwhile
}

// still is one sharp picture of a page at rest; nil if there is none.
func (c *caster) still(ctx context.Context) *core.BrowserFrame {
	if c.b.o.Frame == nil {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	jpeg, err := c.b.Still(short, sharpQuality)
	if err != nil {
		return nil
	}
	return &core.BrowserFrame{JPEG: jpeg, Sharp: true, Time: time.Now().UnixMilli(), Ack: func() {}}
}

// Still is a JPEG of what the active tab shows, beside whatever is being done in it.
// quality is 1 to 100.
func (b *Browser) Still(ctx context.Context, quality int) ([]byte, error) {
	t, err := b.current()
	if err != nil {
		return nil, err
	}
	ctx, cancel := b.context(ctx)
	defer cancel()
	var got page.CaptureScreenshotResult
	params := obj{"format": "jpeg", "quality": quality, "optimizeForSpeed": true}
	if err := t.call(ctx, page.CommandCaptureScreenshot, params, &got); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(got.Data, []byte{0xff, 0xd8}) {
		return nil, core.Fail(core.CodeInternal, nil, "Chromium sent no picture.", "Try again.")
	}
	return got.Data, nil
}
