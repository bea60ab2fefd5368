package talks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// desk is everything around the service.
type desk struct {
	*testing.T
	mu        sync.Mutex
	text      map[core.SessionID]string // transcripts
	talks     []core.SavedTalk
	events    []core.Event
	published []core.Event
	spans     []core.RunSpan
	rates     map[string]core.ModelRate
	terminals []core.TerminalInfo
	channel   core.Channel
	opened    int
	fail      error // of PutTalk
	gone      error // of open
	nest      *nest // nil: sub-agents are not known
}

func (d *desk) PutTalk(_ context.Context, t core.SavedTalk, events ...core.Event) ([]core.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, d.fail
	}
	raw, err := json.Marshal(t) // as it is stored
	if err != nil {
		return nil, err
	}
	var kept core.SavedTalk
	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(d.talks, func(x core.SavedTalk) bool { return x.ID == t.ID }); i >= 0 {
		if d.talks[i].Offset > t.Offset {
			return nil, core.ErrConflict
		}
		d.talks[i] = kept
	} else {
		d.talks = append(d.talks, kept)
	}
	d.events = append(d.events, events...)
	return events, nil
}

func (d *desk) LastTalk(_ context.Context, ch core.ChannelID, s core.SessionID) (core.SavedTalk, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range slices.Backward(d.talks) {
		if t.SessionID == s && t.ChannelID == ch {
			return t, nil
		}
	}
	return core.SavedTalk{}, core.ErrNotFound
}

func (d *desk) Talks(context.Context, time.Time) ([]core.SavedTalk, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.talks), nil
}

func (d *desk) RunSpans(context.Context, core.ChannelID, time.Time) ([]core.RunSpan, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.spans), nil
}

func (d *desk) Channel(context.Context, core.ChannelID) (core.Channel, error) { return d.channel, nil }

func (d *desk) ModelRates(context.Context) (map[string]core.ModelRate, error) { return d.rates, nil }

func (d *desk) open(_ context.Context, _ core.Channel, s core.SessionID, offset int64) (Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened++
	if d.gone != nil {
		return Reading{}, d.gone
	}
	text, ok := d.text[s]
	if !ok {
		return Reading{}, core.ErrNotFound
	}
	r := strings.NewReader(text)
	if _, err := r.Seek(offset, io.SeekStart); err != nil {
		return Reading{}, err
	}
	in := Reading{ReadCloser: io.NopCloser(r), Size: int64(len(text))}
	if d.nest != nil {
		in.Agents = d.nest
	}
	return in, nil
}

func (d *desk) write(s core.SessionID, lines ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range lines {
		d.text[s] += l + "\n"
	}
}

func newDesk(t *testing.T) *desk {
	return &desk{
		T: t, text: map[core.SessionID]string{}, channel: core.Channel{ID: "c", Kind: core.KindProject, SessionID: "s"},
		rates:     map[string]core.ModelRate{"claude-x": {InputUSD: 0.001, Window: 1000}},
		terminals: []core.TerminalInfo{{ID: "t", ChannelID: "c", State: core.TerminalRunning, Shell: core.ShellRunning, CreatedAt: time.Now()}},
	}
}

// pass lets a synthetic clock go on.
func pass(d time.Duration) { <-time.After(d) }

// run starts a service; stop ends it.
func (d *desk) run() (s *Service, stop func()) {
	s = New(Options{
		Store: d, Open: d.open, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Terminals: func(core.ChannelID) []core.TerminalInfo {
			d.mu.Lock()
			defer d.mu.Unlock()
			return slices.Clone(d.terminals)
		},
		Publish: func(e ...core.Event) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.published = append(d.published, e...)
		},
	})
	ctx, cancel := context.WithCancel(d.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
			d.Errorf("Run ended with %v", err)
		}
	}()
	return s, func() { cancel(); <-done }
}

func stamp() string { return time.Now().UTC().Format(time.RFC3339Nano) }

func prompt(text string) string {
	return fmt.Sprintf(`{"type":"user","entrypoint":"cli","promptSource":"typed","uuid":"u","timestamp":%q,"message":{"content":%q}}`, stamp(), text)
}

func reply(id, stop, text string) string {
	return fmt.Sprintf(`{"type":"assistant","entrypoint":"cli","timestamp":%q,"message":{"id":%q,"model":"claude-x","stop_reason":%q,`+
		`"content":[{"type":"text","text":%q}],"usage":{"input_tokens":100}}}`, stamp(), id, stop, text)
}

func counted(usd float64) string { return fmt.Sprintf(`{"type":"cost-state","totalCostUSD":%v}`, usd) }

// printed makes of a line one of a CLI without a screen.
func printed(line string) string { return strings.Replace(line, `"cli"`, `"sdk-cli"`, 1) }

var from = core.Caller{ChannelID: "c", SpawnID: "t"}

// said are the talks and what is in them, in the order of the events.
func (d *desk) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, t := range d.talks {
		line := fmt.Sprintf("%s %d", t.Title, t.Prompts)
		for _, e := range d.events {
			var m core.MessageCreated
			if e.RunID == t.ID && e.Type == core.EventMessageCreated && json.Unmarshal(e.Data, &m) == nil {
				line += " " + m.Content
			}
		}
		if t.Working {
			line += " working"
		}
		if t.Broken {
			line += " broken"
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func (d *desk) wants(what, want string) {
	d.Helper()
	synctest.Wait()
	if got := d.said(); got != want {
		d.Errorf("%s: %q, not %q", what, got, want)
	}
}

// TestTranscriptsThatAreGone: a turn of which nothing can be read any more ends, also after a
// restart, and what it has cost stays. An error that may pass ends nothing.
func TestTranscriptsThatAreGone(t *testing.T) {
	for name, gone := range map[string]error{"removed": core.ErrNotFound, "no file": core.ErrConflict, "for a while": io.ErrUnexpectedEOF} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, restarted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t)
					s, stop := d.run()
					d.write("s", prompt("Go"), reply("m1", "tool_use", "one"), prompt("On"))
					answered := s.Asks(from, "s")
					d.wants("before", "Go 2 Go one On working")
					d.mu.Lock()
					d.gone = gone
					d.mu.Unlock()
					pass(time.Minute)
					d.wants("while it asks", "Go 2 Go one On working")
					answered()
					if restarted {
						stop()
						_, stop = d.run()
					}
					defer func() { stop() }()
					pass(10 * time.Second)
					if errors.Is(gone, io.ErrUnexpectedEOF) {
						d.wants("later", "Go 2 Go one On working")
						d.mu.Lock()
						d.gone, d.terminals = nil, nil
						d.mu.Unlock()
						pass(10 * time.Second)
					}
					d.wants("after", "Go 2 Go one On broken")
					if c := d.talks[0].CostUSD; c != 0.1 {
						t.Errorf("it cost %v", c)
					}
					was := d.opened
					if pass(time.Hour); d.opened != was {
						t.Errorf("looked %d times while nothing goes on", d.opened-was)
					}
				})
			})
		}
	}
}

// TestFollows: a talk is told as it is written, and nobody looks while nothing goes on.
func TestFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("Fix **it**"))
		answered := s.Asks(from, "s")
		d.wants("a prompt", "Fix it 1 Fix **it** working")
		d.write("s", reply("m1", "tool_use", "looking"))
		d.mu.Lock()
		d.text["s"] += `{"type":"user","entr` // half a line
		d.mu.Unlock()
		pass(2 * time.Second)
		d.wants("an answer", "Fix it 1 Fix **it** looking working")
		d.mu.Lock()
		d.text["s"] = strings.TrimSuffix(d.text["s"], `{"type":"user","entr`)
		d.mu.Unlock()
		answered()
		d.write("s", reply("m1", "tool_use", "on"), reply("m2", "end_turn", "done"))
		pass(2 * time.Second)
		d.wants("its end", "Fix it 1 Fix **it** looking on done")
		if talk := d.talks[0]; talk.CostUSD != 0.2 || !talk.Estimated || talk.Context.Window != 1000 || len(talk.Unpriced) > 0 {
			t.Errorf("%+v", talk.Usage)
		}
		pass(time.Minute)
		was := d.opened
		pass(time.Hour)
		if d.opened != was {
			t.Errorf("looked %d times while nothing goes on", d.opened-was)
		}

		// After a long pause what is said is a talk of its own. The program's count covers both.
		d.write("s", prompt("And this"), reply("m3", "end_turn", "yes"))
		s.Asks(from, "s")()
		d.wants("another", "Fix it 1 Fix **it** looking on done; And this 1 And this yes")
		d.write("s", counted(0.5))
		d.mu.Lock()
		d.terminals[0].Shell = core.ShellPrompt
		d.mu.Unlock()
		pass(time.Minute)
		s.Changed(d.terminals[0])
		pass(10 * time.Second)
		synctest.Wait()
		if a, b := d.talks[0], d.talks[1]; a.CostUSD != 0.2 || b.CostUSD != 0.3 || b.Estimated {
			t.Errorf("%v and %v", a.Cost, b.Cost)
		}
		sum := 0.0
		for _, e := range d.published {
			var talk core.TerminalTalk
			if e.Type == core.EventTalk && json.Unmarshal(e.Data, &talk) == nil {
				sum += talk.AddedUSD
			}
		}
		if sum < 0.4999 || sum > 0.5001 {
			t.Errorf("the events add up to %v", sum)
		}
		if len(s.followed) > 0 {
			t.Errorf("%d are followed", len(s.followed))
		}
	})
}

// TestRunsAreNoTalks: what runs wrote, and what was there before the terminal, is passed over,
// and a talk after a run is another one.
func TestRunsAreNoTalks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("old"), reply("m0", "end_turn", "long ago"))
		pass(time.Hour)
		d.terminals[0].CreatedAt = time.Now()
		runs := func(text string) {
			d.mu.Lock()
			d.spans = append(d.spans, core.RunSpan{From: time.Now()})
			d.mu.Unlock()
			d.write("s", printed(prompt(text)), printed(reply("r"+text, "end_turn", "by the run")), counted(1))
			pass(time.Minute)
			d.mu.Lock()
			d.spans[len(d.spans)-1].Session, d.spans[len(d.spans)-1].To = "s", time.Now()
			d.mu.Unlock()
			pass(time.Minute)
		}
		runs("first run")
		d.write("s", prompt("mine"), reply("m1", "end_turn", "yours"))
		s.Asks(from, "s")()
		d.wants("a talk", "mine 1 mine yours")
		d.write("s", counted(1.25))
		pass(2 * time.Second)
		synctest.Wait()
		if c := d.talks[0].Cost; c.CostUSD != 0.25 || c.Estimated {
			t.Errorf("%+v", c)
		}
		runs("second run")
		d.write("s", strings.Replace(prompt("copied"), `{`, `{"forkedFrom":{"sessionId":"x"},`, 1), printed(prompt("by hand")), printed(reply("m2", "end_turn", "printed")))
		s.Asks(from, "s")()
		d.wants("a talk after a run", "mine 1 mine yours; by hand 1 by hand printed")
		d.mu.Lock()
		d.spans = append(d.spans, core.RunSpan{From: time.Now()}) // under way
		d.mu.Unlock()
		d.write("s", printed(prompt("third run")), printed(reply("m3", "tool_use", "works")))
		pass(time.Second)
		d.wants("a run under way", "mine 1 mine yours; by hand 1 by hand printed")
	})
}

// TestGoesOnAfterARestart: nothing is told twice, and a message counts once.
func TestGoesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		d.write("s", prompt("Go"), reply("m1", "tool_use", "one"))
		s.Asks(from, "s")
		d.wants("before", "Go 1 Go one working")
		stop()
		d.write("s", reply("m1", "tool_use", "two"), prompt("More"), reply("m2", "end_turn", "three"))
		_, stop = d.run()
		d.wants("after", "Go 2 Go one two More three")
		if c := d.talks[0].CostUSD; c != 0.2 {
			t.Errorf("it cost %v", c)
		}
		stop()
	})
}

// TestTurnsThatNobodyEnds: the program is gone in the middle of a turn, or says nothing more.
func TestTurnsThatNobodyEnds(t *testing.T) {
	for name, end := range map[string]func(d *desk, s *Service){
		"its terminal ended": func(d *desk, s *Service) {
			d.mu.Lock()
			d.terminals[0].State = core.TerminalEnded
			d.mu.Unlock()
			s.Changed(d.terminals[0])
		},
		"its terminal is gone": func(d *desk, _ *Service) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.terminals = nil
		},
		"silence": func(*desk, *Service) { pass(31 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				s, stop := d.run()
				defer stop()
				d.write("s", prompt("Go"), reply("m1", "tool_use", "one"))
				s.Asks(from, "s")()
				d.wants("before", "Go 1 Go one working")
				end(d, s)
				pass(10 * time.Second)
				d.wants("after", "Go 1 Go one broken")
			})
		})
	}
}

// TestWhatIsNotKnown: a model without a price, and a conversation whose beginning nobody counted.
func TestWhatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.rates = nil
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("before the terminal"))
		pass(time.Hour)
		d.terminals[0].CreatedAt = time.Now()
		d.write("s", prompt("Go"), reply("m1", "end_turn", "one"))
		s.Asks(from, "s")()
		synctest.Wait()
		if c := d.talks[0]; c.CostUSD != 0 || !c.Estimated || fmt.Sprint(c.Unpriced) != "[claude-x]" || c.Tokens().Input != 100 {
			t.Errorf("%+v %v", c.Usage, c.Unpriced)
		}
		d.write("s", counted(7))
		pass(time.Second)
		d.write("s", prompt("On"), reply("m2", "end_turn", "two"), counted(7.5))
		pass(2 * time.Second)
		synctest.Wait()
		if c := d.talks[0]; c.CostUSD != 0.5 || !c.Estimated || len(c.Unpriced) != 0 {
			t.Errorf("%+v %v", c.Usage, c.Unpriced)
		}
	})
}

// TestDemoCostsNothing, though the CLI believes otherwise.
func TestDemoCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.channel.Kind = core.KindDemo
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("Go"), reply("m1", "end_turn", "one"), counted(3))
		s.Asks(from, "s")()
		synctest.Wait()
		if c := d.talks[0]; c.CostUSD != 0 || c.Estimated || !c.Demo || len(c.Models) > 0 {
			t.Errorf("%+v", c)
		}
	})
}

// TestWhoIsNotHeard: runs, browsers, and sessions that are no ids.
func TestWhoIsNotHeard(t *testing.T) {
	d := newDesk(t)
	s := New(Options{Store: d, Open: d.open, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	for _, c := range []core.Caller{{}, {ChannelID: "c", SpawnID: "t", RunID: "r"}, {ChannelID: "c"}} {
		s.Asks(c, "s")()
	}
	for _, session := range []core.SessionID{"", "-x", "../../etc/passwd", core.SessionID(strings.Repeat("a", 200))} {
		s.Asks(from, session)()
	}
	if len(s.followed) > 0 {
		t.Errorf("%v", s.followed)
	}
	for i := range maxFollowed + 10 {
		s.Asks(from, core.SessionID(fmt.Sprint("s", i)))
	}
	if len(s.followed) != maxFollowed {
		t.Errorf("%d are followed", len(s.followed))
	}
}

// TestAFullDisk: what could not be stored is read again.
func TestAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer stop()
		d.fail = errors.New("disk full")
		d.write("s", prompt("Go"), reply("m1", "end_turn", "one"))
		s.Asks(from, "s")()
		d.wants("while it is full", "")
		d.mu.Lock()
		d.fail = nil
		d.mu.Unlock()
		pass(5 * time.Second)
		d.wants("after", "Go 1 Go one")
	})
}

// FuzzTranscript: no transcript makes the reader fail, or tell more than it holds.
func FuzzTranscript(f *testing.F) {
	text, err := os.ReadFile("../runner/transcript/testdata/kept-run-terminal-run.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(prompt("a") + "\n" + counted(1e300) + "\n" + reply("m", "end_turn", "b") + "\n\xff{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newDesk(t)
		s := New(Options{Store: d, Open: d.open, Now: time.Now, Log: slog.New(slog.DiscardHandler), Publish: func(...core.Event) {},
			Terminals: func(core.ChannelID) []core.TerminalInfo { return nil }})
		d.text["s"] = string(text)
		r := &reading{s: s, key: key{"c", "s"}, brood: newBrood()}
		r.look(t.Context(), "t", true)
		if want := int64(bytes.LastIndexByte(text, '\n') + 1); r.loaded && r.offset != want {
			t.Errorf("read to %d of %d", r.offset, want)
		}
		for _, talk := range d.talks {
			if talk.CostUSD < 0 || talk.CostUSD > 1e9 || len([]rune(talk.Title)) > 61 || talk.Working {
				t.Errorf("%+v", talk)
			}
		}
	})
}
