package browser

import (
	"context"
	"encoding/json"
	"time"

	"loop/backend/core"
)

// looks are the actions that change nothing: they need no turn.
var looks = map[string]bool{
	"find": true, "read_console_messages": true, "read_network_requests": true, "read_page": true, "screenshot": true, "list_tabs": true,
	"page_info": true, "get_page_text": true, "get_page_info": true, "get_element_refs": true, "read_console": true, "read_network": true,
}

// changes reports whether an action needs the agent's turn.
func changes(a core.BrowserAction) bool {
	if a.Action == "computer" {
		var p struct {
			Action string `json:"action"`
		}
		if json.Unmarshal(a.Params, &p) == nil && (p.Action == "screenshot" || p.Action == "wait") {
			return false
		}
	}
	return !looks[a.Action]
}

const (
	handedText = "The person has driven the browser in between, so the page may be another: look at it again."
	drivesText = "The person is driving the browser now and has not given it back. Look with read_page or screenshot if you need to, " +
		"do something else, and try again later; if you need the browser now, say so in a message and end your turn."
)

// agent does one act of the agent, for a run unless it works in a terminal.
func (c *session) agent(ctx context.Context, of core.RunID, a core.BrowserAction) core.BrowserResult {
	told := false
	if changes(a) {
		var ok bool
		if ok, told = c.turn(ctx, of); !ok {
			return core.BrowserResult{Error: drivesText}
		}
		defer c.acted()
	}
	c.mu.Lock()
	c.caller = a.Caller
	c.mu.Unlock()
	c.use()
	run, err := c.ensure(ctx)
	if err != nil {
		return core.BrowserResult{Error: sentence(err)}
	}
	// A caller that goes away leaves no half of an act behind.
	actx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
	defer cancel()
	began, before := c.film.begins(), shown(run)
	res := run.Driver.Do(actx, a)
	c.use()
	c.note(a, res, shown(run) == before)
	c.film.acted(run, of, a, res, began)
	if told {
		if res.Error != "" {
			res.Error = handedText + " " + res.Error
		} else {
			res.Result = handedText + "\n" + res.Result
		}
	}
	return res
}

func sentence(err error) string {
	f := core.AsFailure(err)
	if f.Remedy == "" {
		return f.Cause
	}
	return f.Cause + " " + f.Remedy
}

// turn waits until the agent may act. told says that the person drove in between.
func (c *session) turn(ctx context.Context, of core.RunID) (ok, told bool) {
	late := time.NewTimer(handTimeout)
	defer late.Stop()
	for {
		c.mu.Lock()
		given, told := c.baton.begin(c.s.o.Now())
		if given == nil {
			c.mu.Unlock()
			c.touch()
			return true, told
		}
		c.baton.wait(c.s.o.Now())
		rest := time.NewTimer(max(c.baton.next().Sub(c.s.o.Now()), 0))
		c.mu.Unlock()
		c.film.waits(of)
		c.touch()
		over := false
		select {
		case <-given:
		case <-rest.C: // the person may have acted again meanwhile
		case <-late.C:
			over = true
		case <-ctx.Done():
			over = true
		}
		rest.Stop()
		c.mu.Lock()
		c.baton.stopped()
		c.mu.Unlock()
		if over {
			c.touch()
			return false, false
		}
	}
}

func (c *session) acted() {
	c.mu.Lock()
	c.baton.done(c.s.o.Now())
	c.mu.Unlock()
	c.touch()
}

// use notes that somebody needs the browser.
func (c *session) use() {
	c.mu.Lock()
	c.used = c.s.o.Now()
	c.mu.Unlock()
}

// shown is the page that panes show.
func shown(run *Running) string {
	for _, t := range run.Page.Tabs() {
		if t.Active {
			return t.ID + " " + t.URL
		}
	}
	return ""
}

// note keeps what the agent did, for panes. The place where it did it counts only while the
// page is still the same.
func (c *session) note(a core.BrowserAction, res core.BrowserResult, here bool) {
	text := deedOf(a, res.Target)
	if text == "" {
		return
	}
	deed := &core.BrowserDeed{Text: text, At: c.s.o.Now().UnixMilli(), OK: res.Error == ""}
	if here {
		deed.Target = res.Target
	}
	c.mu.Lock()
	c.deed = deed
	c.mu.Unlock()
	c.touch()
}
