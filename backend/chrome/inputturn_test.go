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

// mouse is a lane whose Chromium answers at once, and what it was sent.
func mouse(t *testing.T) (l *inputLane, on *tab, heard func() []string) {
	t.Helper()
	c, p := pipe(t, func(string) (class, bool) { return kept, false })
	b := &Browser{conn: c, moved: make(chan struct{}), patience: callTimeout}
	on = &tab{b: b, session: "page", held: make(chan struct{})}
	b.active, b.input = on, newInputLane(b)
	var mu sync.Mutex
	var all []string
	var wg sync.WaitGroup
	wg.Go(b.input.run)
	wg.Go(func() {
		for {
			cmd, err := p.next()
			if err != nil {
				return
			}
			var m struct {
				Type string  `json:"type"`
				X    float64 `json:"x"`
			}
			if err := json.Unmarshal(cmd.Params, &m); err != nil {
				t.Error(err)
			}
			mu.Lock()
			if m.Type != "mouseMoved" {
				all = append(all, fmt.Sprintf("%s %g", m.Type, m.X))
			}
			mu.Unlock()
			p.say(fmt.Sprintf(`{"id":%d,"result":{}}`, cmd.ID))
		}
	})
	t.Cleanup(func() {
		_ = p.c.Close()
		c.close()
		wg.Wait()
	})
	return b.input, on, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
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
	l, on, heard := mouse(t)
	const n = 500
	var wg sync.WaitGroup
	wg.Go(func() {
		for range n {
			if err := on.click(t.Context(), 2, 0, input.MouseButtonLeft, 1, 0); err != nil {
				t.Error(err)
			}
		}
	})
	for range n {
		for _, kind := range []string{core.InputMove, core.InputDown, core.InputUp} {
			l.push(core.BrowserInput{Kind: kind, X: 1})
		}
		l.drain(t)
	}
	wg.Wait()
	all := heard()
	if len(all) != 4*n {
		t.Fatalf("%d of %d came", len(all), 4*n)
	}
	for i := 0; i < len(all); i += 2 {
		if x := all[i][len(all[i])-1:]; all[i] != "mousePressed "+x || all[i+1] != "mouseReleased "+x {
			t.Fatalf("%d: %q", i, all[i:i+2])
		}
	}
}

// TestTurnWaitsForTheButton has an act wait for a person's button, but not for one that is
// held or was let go where nobody saw it.
func TestTurnWaitsForTheButton(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, on, heard := mouse(t)
		l.push(core.BrowserInput{Kind: core.InputDown, X: 1})
		done := make(chan error, 1)
		click := func() { done <- on.click(t.Context(), 2, 0, input.MouseButtonLeft, 1, 0) }
		go click()
		synctest.Wait()
		if got := fmt.Sprint(heard()); got != "[mousePressed 1]" {
			t.Error(got)
		}
		l.push(core.BrowserInput{Kind: core.InputUp, X: 1})
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(heard()); got != "[mousePressed 1 mouseReleased 1 mousePressed 2 mouseReleased 2]" {
			t.Error(got)
		}
		l.push(core.BrowserInput{Kind: core.InputDown, X: 1})
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
