package chrome

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/go-json-experiment/json"

	"loop/backend/core"
)

// mouse is a lane and what its Chromium was sent of it, without moves. Chromium answers at
// once, but for sessions that are mute.
type mouse struct {
	*inputLane
	on *tab
	p  *peer

	lock   sync.Mutex
	all    []string
	mute   string
	unsaid []int64
}

func newMouse(t *testing.T) *mouse {
	t.Helper()
	c, p := pipe(t, func(string) (class, bool) { return kept, false })
	b := &Browser{conn: c, moved: make(chan struct{}), wake: make(chan struct{}, 1), patience: callTimeout}
	b.input = newInputLane(b)
	m := &mouse{inputLane: b.input, on: &tab{b: b, session: "page", held: make(chan struct{})}, p: p}
	b.active = m.on
	var wg sync.WaitGroup
	wg.Go(b.input.run)
	wg.Go(func() {
		for {
			cmd, err := p.next()
			if err != nil {
				return
			}
			m.takes(t, cmd)
		}
	})
	t.Cleanup(func() {
		_ = p.c.Close()
		c.close()
		wg.Wait()
	})
	return m
}

func (m *mouse) takes(t *testing.T, cmd sent) {
	var e struct {
		Type string  `json:"type"`
		X    float64 `json:"x"`
	}
	if err := json.Unmarshal(cmd.Params, &e); err != nil {
		t.Error(err)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if e.Type != "mouseMoved" {
		m.all = append(m.all, fmt.Sprintf("%s %g", e.Type, e.X))
	}
	if m.unsaid = append(m.unsaid, cmd.ID); cmd.Session != m.mute {
		m.says(1)
	}
}

// says answers the newest commands that wait for it. The caller holds lock.
func (m *mouse) says(n int) {
	for range min(n, len(m.unsaid)) {
		last := len(m.unsaid) - 1
		m.p.say(fmt.Sprintf(`{"id":%d,"result":{}}`, m.unsaid[last]))
		m.unsaid = m.unsaid[:last]
	}
}

func (m *mouse) sent() []string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.all
}

func (m *mouse) click(x float64) {
	for _, kind := range []string{core.InputMove, core.InputDown, core.InputUp} {
		m.push(core.BrowserInput{Kind: kind, X: x})
	}
}

// drain waits until the lane has sent what was pushed.
func (l *inputLane) drain(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	l.after(func() { close(done) }, func() { t.Error("the lane is full"); close(done) })
	<-done
}

// TestClicksAtOnce has a person and an agent click at once: no press of one comes between
// a press and a lift of the other, whose click it would end.
func TestClicksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMouse(t)
		const n = 500
		var wg sync.WaitGroup
		wg.Go(func() {
			for range n {
				if err := m.on.click(t.Context(), 2, 0, input.MouseButtonLeft, 1, 0); err != nil {
					t.Error(err)
				}
			}
		})
		for range n {
			m.click(1)
			m.drain(t)
		}
		wg.Wait()
		all := m.sent()
		if len(all) != 4*n {
			t.Fatalf("%d of %d came", len(all), 4*n)
		}
		for i := 0; i < len(all); i += 2 {
			if x := all[i][len(all[i])-1:]; all[i] != "mousePressed "+x || all[i+1] != "mouseReleased "+x {
				t.Fatalf("%d: %q", i, all[i:i+2])
			}
		}
	})
}

// TestTurnWaitsForTheButton has an act wait for a person's button, but not for one that is
// held or was let go where nobody saw it.
func TestTurnWaitsForTheButton(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMouse(t)
		m.push(core.BrowserInput{Kind: core.InputDown, X: 1})
		done := make(chan error, 1)
		click := func() { done <- m.on.click(t.Context(), 2, 0, input.MouseButtonLeft, 1, 0) }
		go click()
		synctest.Wait()
		if got := fmt.Sprint(m.sent()); got != "[mousePressed 1]" {
			t.Error(got)
		}
		m.push(core.BrowserInput{Kind: core.InputUp, X: 1})
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(m.sent()); got != "[mousePressed 1 mouseReleased 1 mousePressed 2 mouseReleased 2]" {
			t.Error(got)
		}
		m.push(core.BrowserInput{Kind: core.InputDown, X: 1})
		begun := time.Now()
		go click()
		if err := <-done; err != nil || time.Since(begun) != moveTimeout {
			t.Error(err, time.Since(begun))
		}
		begun = time.Now()
		go click()
		if err := <-done; err != nil || time.Since(begun) != 0 {
			t.Error("it waits for the same button again:", err, time.Since(begun))
		}
	})
}

// TestPageThatLags has a person go on while a page answers nothing: what fits is kept for
// it, and is not another tab's.
func TestPageThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMouse(t)
		m.mute = "page"
		const n = 100
		for range n {
			m.click(1)
			synctest.Wait()
		}
		if got := len(m.sent()); got >= 2*n {
			t.Errorf("%d were sent to a page that answers nothing", got)
		}
		<-time.After(answerPatience - time.Second)
		m.lock.Lock()
		m.mute = ""
		m.says(maxUnanswered)
		m.lock.Unlock()
		synctest.Wait()
		if got := len(m.sent()); got != 2*n {
			t.Errorf("%d of %d came", got, 2*n)
		}
		m.lock.Lock()
		m.mute = "page"
		m.lock.Unlock()
		for range n {
			m.click(1)
			synctest.Wait()
		}
		before := len(m.sent())
		other := &tab{b: m.b, session: "other", held: make(chan struct{})}
		m.b.mu.Lock()
		m.b.active = other
		m.b.advance()
		m.b.mu.Unlock()
		m.click(2)
		synctest.Wait()
		if got := fmt.Sprint(m.sent()[before:]); got != "[mousePressed 2 mouseReleased 2]" {
			t.Errorf("the other tab got %s", got)
		}
	})
}

// TestPageThatHangs has input of a page that hangs given up, so that an act can go on.
func TestPageThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMouse(t)
		m.mute = "page"
		for range 60 {
			m.click(1)
			synctest.Wait()
		}
		begun := time.Now()
		m.drain(t)
		if took := time.Since(begun); took != answerPatience+moveTimeout {
			t.Errorf("it took %v", took)
		}
		m.click(1)
		begun = time.Now()
		m.drain(t)
		if took := time.Since(begun); took != moveTimeout {
			t.Errorf("it took %v again", took)
		}
		m.lock.Lock()
		m.mute = ""
		m.says(maxUnanswered)
		m.lock.Unlock()
		synctest.Wait()
		before := len(m.sent())
		m.click(1)
		synctest.Wait()
		if got := len(m.sent()); got != before+2 {
			t.Errorf("a page that answers again got %d", got-before)
		}
	})
}
