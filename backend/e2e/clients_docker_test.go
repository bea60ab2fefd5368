//go:build docker

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// TestAnsweredByTwo: of several answers to one question at the same time, one counts.
// The other clients get an error that says so, and the agent goes on once.
func TestAnsweredByTwo(t *testing.T) {
	h := newHome(t, `{"container_keep_alive_sec":0}`)
	s := h.serve()
	var ch core.Channel
	s.must("Channels.Demo", &ch)
	var run core.Run
	s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch.ID, "prompt": "Greet somebody", "script": "ask"})
	s.finished(ch.ID, run.ID)
	var open []core.Question
	s.must("Runs.Questions", &open)
	if len(open) != 1 || len(open[0].Questions) != 2 {
		t.Fatalf("%+v", open)
	}
	q := open[0]
	const clients = 8
	errs, start := make([]error, clients), make(chan struct{})
	var wg sync.WaitGroup
	for n := range clients {
		a := core.Answer{Action: core.AnswerGiven, AuthorID: fmt.Sprint("page", n), Text: fmt.Sprint("as page ", n, " said")}
		if n%4 == 3 {
			a = core.Answer{Action: core.AnswerCancel}
		}
		for _, ask := range q.Questions {
			if a.Action == core.AnswerGiven {
				a.Choices = append(a.Choices, []string{ask.Options[n%len(ask.Options)].Label})
			}
		}
		wg.Go(func() {
			<-start
			errs[n] = s.call("Runs.Answer", nil, q.ID, a)
		})
	}
	close(start)
	wg.Wait()
	if r := h.run("answer", "--question", q.ID, "--choose", "1", "--choose", "1"); r.code == 0 {
		t.Error("the command line answered too")
	}
	won := -1
	for n, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Errorf("both %d and %d were taken", won, n)
		case err == nil:
			won = n
		case !strings.Contains(err.Error(), "409"):
			t.Errorf("client %d: %v", n, err)
		}
	}
	if won < 0 {
		t.Fatal("nobody's answer was taken")
	}
	said := 0
	page := s.until(ch.ID, "the end", func(p timeline) bool {
		said = 0
		for _, e := range p.Events {
			var msg core.MessageCreated
			if e.Type == core.EventMessageCreated && e.RunID != run.ID && json.Unmarshal(e.Data, &msg) == nil && !msg.IsBot {
				if said++; !ended(p, e.RunID) {
					return false
				}
			}
		}
		return len(p.Queue) == 0 && (said > 0 || won%4 == 3)
	})
	if want := map[bool]int{true: 0, false: 1}[won%4 == 3]; said != want {
		t.Errorf("the agent was told %d times, want %d", said, want)
	}
	if text, _ := json.Marshal(page.Events); won%4 != 3 && strings.Count(string(text), fmt.Sprintf("as page %d said", won)) == 0 {
		t.Errorf("the answer of %d is not what the agent was told", won)
	}
	if n := count(page, core.EventAskResolved, run.ID); n != 1 {
		t.Errorf("it was resolved %d times", n)
	}
	if s.must("Runs.Questions", &open); len(open) != 0 {
		t.Errorf("still open: %+v", open)
	}
}

// TestEveryIDRuns: with the longest id that a client can give, made of every allowed
// character, the agent reaches its model. An id that a path cannot carry is refused.
func TestEveryIDRuns(t *testing.T) {
	s := newHome(t, `{"container_keep_alive_sec":0}`).serve()
	var ch core.Channel
	s.must("Channels.Demo", &ch)
	prompt := func(id string, run *core.Run) error {
		return s.call("Runs.Prompt", run, map[string]any{"client_id": id, "channel_id": ch.ID, "prompt": "Hello", "script": "quick"})
	}
	err := prompt("page.1", nil)
	if err == nil || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), "1 to 64 letters and digits") {
		t.Errorf("an id with a dot: %v", err)
	}
	const longest = "aA0-_bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ123456789"
	var run core.Run
	if err := prompt(longest, &run); err != nil || run.ID != longest {
		t.Fatal(err, run.ID)
	}
	if page := s.finished(ch.ID, longest); len(page.Queue) != 0 {
		t.Errorf("the queue holds %+v", page.Queue)
	}
}

// noting is an agent of the test that writes down its prompt and says a few words, so
// runs are short.
const noting = `#!/usr/bin/env python3
import json, os, sys, time
fd = os.open("ran", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
os.write(fd, (json.dumps(json.loads(sys.stdin.read())["message"]["content"]) + "\n").encode())
for n in range(5):
    print(json.dumps({"type": "assistant", "message": {"id": "m%d" % n, "role": "assistant", "content": [{"type": "text", "text": "word %d" % n}]}}), flush=True)
    time.sleep(0.05)
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "ok", "session_id": "s", "num_turns": 1}), flush=True)
`

// ran returns the prompts that the agents wrote down.
func ran(t *testing.T, work string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(work, "ran"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var prompt string
		if err := json.Unmarshal([]byte(line), &prompt); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		list = append(list, prompt)
	}
	return list
}

// page is a window that shows one channel. Its connection breaks now and then.
type page struct {
	mu         sync.Mutex
	events     map[int64]string // stored ones, by id
	reconnects int
	done       chan struct{}
}

// lost is how often the page's connection broke.
func (p *page) lost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reconnects
}

// shows reports whether the page has an event.
func (p *page) shows(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.events[id] != ""
}

// watch shows a channel until the context ends. The page then has the events that it
// read.
func (s *server) watch(ctx context.Context, ch core.ChannelID) *page {
	p := &page{events: map[int64]string{}, done: make(chan struct{})}
	keep := func(events []core.Event) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, e := range events {
			if e.ChannelID == ch && e.ID > 0 {
				p.events[e.ID] = string(e.Type) + " " + string(e.RunID) + " " + string(e.Data)
			}
		}
	}
	connected := func() error {
		conn, _, err := websocket.Dial(ctx, s.url+"api/ws", &websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
		if err != nil {
			return err
		}
		defer func() { _ = conn.CloseNow() }()
		conn.SetReadLimit(64 << 20)
		var now timeline // read after the subscription, so that no event is missed between
		if err := s.call("Channels.Timeline", &now, ch, 0, 1000); err != nil {
			return err
		}
		keep(now.Events)
		// The read is short, so that a channel with few events does not hold the test
		// up.
		short, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(500))*time.Millisecond)
		defer cancel()
		for range 2 + rand.IntN(8) {
			_, data, err := conn.Read(short)
			if short.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			var batch []core.Event
			if err := json.Unmarshal(data, &batch); err != nil {
				return err
			}
			if slices.ContainsFunc(batch, func(e core.Event) bool { return e.Type == core.EventReset }) {
				return nil // the page was too far behind and reads everything again
			}
			keep(batch)
		}
		return nil
	}
	go func() {
		defer close(p.done)
		for {
			err := connected()
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				s.h.t.Error(err)
				return
			}
			p.mu.Lock()
			p.reconnects++
			p.mu.Unlock()
		}
	}()
	return p
}

// TestQueueUnderManyClients: several clients edit, order, hold and steer a queue while
// it is worked. Every message that was not stopped runs once, with its last accepted
// text. No refused text ever runs. Two pages watch the queue over connections that
// break, and end up with the stored state.
func TestQueueUnderManyClients(t *testing.T) {
	work := t.TempDir()
	bin := filepath.Join(work, "agent.py")
	// The first run waits until every kind of change was made.
	waiting := strings.Replace(noting, "for n in", "while not os.path.exists(\"go\"): time.sleep(0.01)\nfor n in", 1)
	if err := os.WriteFile(bin, []byte(waiting), 0o755); err != nil {
		t.Fatal(err)
	}
	h := newHome(t, fmt.Sprintf(`{"claude_bin_path":%q,"anthropic_api_key":"k","container_keep_alive_sec":0}`, bin))
	s := h.serve()
	ch := s.add(work)
	watching, stopWatching := context.WithCancel(t.Context())
	defer stopWatching()
	pages := []*page{s.watch(watching, ch), s.watch(watching, ch)}

	const messages = 7
	var ids []core.RunID
	for n := range messages {
		ids = append(ids, s.prompt(ch, fmt.Sprintf("message %d as it was", n)))
	}
	var mu sync.Mutex
	taken, refused := map[core.RunID][]string{}, map[string]bool{}
	tally := map[string]int{} // by kind of change: how many were accepted and refused
	note := func(what string, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			tally[what]++
			return true
		}
		tally[what+" refused"]++
		if !strings.Contains(err.Error(), "409") {
			t.Errorf("%s: %v", what, err)
		}
		return false
	}
	const rounds = 200 // of each client; all events still fit into one answer
	stop := make(chan struct{})
	var clients sync.WaitGroup
	client := func(one func(round int)) {
		clients.Go(func() {
			tick := time.NewTicker(80 * time.Millisecond)
			defer tick.Stop()
			for round := range rounds {
				select {
				case <-stop:
					return
				case <-tick.C:
					one(round)
				}
			}
		})
	}
	some := func() core.RunID { return ids[rand.IntN(len(ids))] }
	for _, name := range []string{"one", "two"} {
		client(func(round int) {
			id := some()
			text := fmt.Sprintf("message %d as %s wrote it in round %d", slices.Index(ids, id), name, round)
			var run core.Run
			ok := note("edit", s.call("Runs.Edit", &run, id, text))
			mu.Lock()
			defer mu.Unlock()
			if ok {
				taken[id] = append(taken[id], text)
			} else {
				refused[text] = true
			}
			if ok && run.Prompt != text {
				t.Errorf("an edit was taken as %q", run.Prompt)
			}
		})
	}
	client(func(int) {
		id := some()
		if note("hold", s.call("Runs.Hold", nil, id)) {
			note("release", s.call("Runs.Release", nil, id))
		}
	})
	client(func(int) {
		var now timeline
		s.must("Channels.Timeline", &now, ch, 0, 1)
		order := make([]core.RunID, len(now.Queue))
		for i, r := range now.Queue {
			order[i] = r.ID
		}
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		note("reorder", s.call("Runs.Reorder", nil, ch, order))
	})
	client(func(round int) {
		if round == 10 || round == 30 {
			note("steer", s.call("Runs.Steer", nil, some()))
		}
	})
	poll(t, "changes of each kind, and pages that lost their connection", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return tally["edit"] > 0 && tally["reorder"] > 0 && tally["hold"] > 0 && pages[0].lost() >= 3 && pages[1].lost() >= 3
	})
	if err := os.WriteFile(filepath.Join(work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var final timeline
	for n := range ids { // each message may take as long as one wait allows
		final = s.until(ch, fmt.Sprintf("the end of %d messages", n+1), func(p timeline) bool {
			open := slices.DeleteFunc(slices.Clone(ids), func(id core.RunID) bool { return ended(p, id) })
			return len(ids)-len(open) > n
		})
	}
	close(stop)
	clients.Wait()
	t.Log(tally)

	times := map[string]int{}
	for _, text := range ran(t, work) {
		times[strings.Join(strings.Fields(text)[:2], " ")]++
		if refused[text] {
			t.Errorf("%q was refused and ran", text)
		}
	}
	all := ran(t, work)
	stopped := 0
	for n, id := range ids {
		last := fmt.Sprintf("message %d as it was", n)
		for _, e := range final.Events {
			var up core.MessageUpdated
			if e.Type == core.EventMessageUpdated && e.RunID == id && json.Unmarshal(e.Data, &up) == nil {
				last = up.Content
			}
		}
		if len(taken[id]) > 0 != slices.Contains(taken[id], last) {
			t.Errorf("message %d is stored as %q, taken were %q", n, last, taken[id])
		}
		runs := times[fmt.Sprint("message ", n)]
		switch st := outcome(final, id); {
		case st.State == core.RunDone && runs != 1, runs > 1:
			t.Errorf("message %d is %s and ran %d times", n, st.State, runs)
		case st.State == core.RunCancelled:
			stopped++
		case st.State != core.RunDone:
			t.Errorf("message %d: %+v %+v", n, st, st.Failure)
		}
		if runs == 1 && !slices.Contains(all, last) {
			t.Errorf("message %d ran with another text than %q", n, last)
		}
	}
	if stopped > tally["steer"] {
		t.Errorf("%d messages were stopped by %d that were steered", stopped, tally["steer"])
	}

	want, last := map[int64]string{}, int64(0)
	s.must("Channels.Timeline", &final, ch, 0, 1000)
	for _, e := range final.Events {
		want[e.ID], last = string(e.Type)+" "+string(e.RunID)+" "+string(e.Data), e.ID
	}
	s.until(ch, "the pages", func(timeline) bool { return pages[0].shows(last) && pages[1].shows(last) })
	stopWatching()
	for i, p := range pages {
		<-p.done
		for id, text := range want {
			if p.events[id] != text {
				t.Errorf("page %d shows %q as event %d, stored is %q", i, p.events[id], id, text)
			}
		}
	}
}
