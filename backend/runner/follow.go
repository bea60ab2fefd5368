package runner

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

const (
	batchEvents   = 256         // stored events in one transaction at most
	batchBytes    = 1 << 20     // offset is stored at least this often, pieces only or not
	settingsEvery = time.Minute // between looks at settings that could not be read
)

// parsed is one line, understood.
type parsed struct {
	items []transcript.Item
	end   int64
	over  bool // nothing more is to come but the CLI's end
	// refused is how often the model has refused the key so far, and the CLI asks again.
	refused int
}

// follow reads one stream to its end and stores what it says. What an earlier
// launch stored is read again, for what the parser must know of it. It returns nil at
// the stream's end, errQuit when Loop closes, or the error that broke the
// stream; the caller may go on at w.readOff with another stream. It closes rc,
// after interrupt, which ends a Read that waits.
func (w *work) follow(ctx context.Context, rc io.ReadCloser, interrupt func()) error {
	lines := make(chan parsed, 64)
	quit := make(chan struct{})
	var readErr error // read after lines is closed
	w.hide()
	look := time.Tick(settingsEvery)
	dir := cmp.Or(w.spec.WorkDir, w.ch.Dir)
	go func() {
		defer close(lines)
		r := transcript.NewReader(rc, w.readOff)
		for {
			l, err := r.Next()
			if err != nil {
				if err != io.EOF { //nolint:errorlint // only the bare EOF is the end; a lost link may wrap one
					readErr = err
				}
				return
			}
			hide := *w.hidden.Load()
			items := w.pieces.hidden(hide, w.parser.Parse(hiddenLine(hide, l)))
			markAlarms(dir, items)
			p := parsed{items: w.keepPictures(ctx, items), end: l.End, over: w.parser.Over(), refused: w.parser.KeyRefused}
			select {
			case lines <- p:
			case <-quit:
				return
			}
		}
	}()
	defer func() { // the reading goroutine ends before follow returns
		close(quit)
		interrupt()
		rc.Close()
		for range lines {
		}
	}()

	var b batch
	var due <-chan time.Time // of what is gathered
	for {
		var full bool
		select {
		case p, ok := <-lines:
			if !ok {
				if err := w.flush(ctx, &b); err != nil {
					return err
				}
				return readErr
			}
			w.readOff = p.end
			w.over(p.over)
			w.endIfRefused(p.refused)
			p.items = w.bounded(p.items)
			if p.end <= w.run.SpoolOffset {
				w.trackAll(p.items)
				continue
			}
			b.add(p)
			full = b.stored >= batchEvents || p.end-w.run.SpoolOffset >= batchBytes
			if due == nil {
				due = time.After(w.s.o.Flush)
			}
		case <-due:
			full = true
		case <-look:
			w.hide()
		case <-ctx.Done():
			return errQuit
		}
		if full {
			due = nil
			if err := w.flush(ctx, &b); err != nil {
				return err
			}
		}
	}
}

// batch gathers what was read since the last flush.
type batch struct {
	items  []transcript.Item
	end    int64
	stored int
}

func (b *batch) add(p parsed) {
	b.end = p.end
	for _, it := range p.items {
		if !it.Passing {
			b.stored++
		} else if n := len(b.items); n > 0 && join(&b.items[n-1], it) {
			continue
		}
		b.items = append(b.items, it)
	}
}

// join makes one piece of two that follow one another: a burst of small ones would push
// events that matter out of the bus before a page has read them.
func join(a *transcript.Item, b transcript.Item) bool {
	x, ok := a.Data.(core.MessageStreaming)
	y, also := b.Data.(core.MessageStreaming)
	if !ok || !also || x.MsgID != y.MsgID || x.Block != y.Block || x.Kind != y.Kind || x.Offset+len(x.Delta) != y.Offset {
		return false
	}
	x.Delta += y.Delta
	a.Data = x
	return true
}

// maxEvents bounds what the timeline keeps of one run. Days of honest work are a
// tenth of it; a CLI that prints without end fills the database with some 25 MB
// in ten seconds, and what it says last still counts: the rest is read, not kept.
const maxEvents = 100_000

// bounded leaves out what is over maxEvents, and says so once. What is left out
// still counts for what is under way.
func (w *work) bounded(items []transcript.Item) []transcript.Item {
	if w.told > maxEvents {
		w.trackAll(items)
		return nil
	}
	for i, it := range items {
		if it.Passing {
			continue
		}
		if w.told++; w.told > maxEvents {
			w.trackAll(items[i:])
			return append(items[:i:i], transcript.Item{Type: core.EventNotice, Data: core.Notice{
				Level: "warning", Text: "The agent has printed more than the timeline keeps of one run. " +
					"The rest is left out; how the run ends is still shown.",
			}})
		}
	}
	return items
}

// flush stores and then announces a batch. A database that refuses is asked again:
// the bytes are safe in the spool, and waiting loses less than ending the run.
func (w *work) flush(ctx context.Context, b *batch) error {
	if b.end == 0 {
		return nil
	}
	evs := make([]core.Event, len(b.items))
	var keep []core.Event
	for i, it := range b.items {
		evs[i] = w.event(it.Type, it.Data)
		if !it.Passing {
			keep = append(keep, evs[i])
		}
	}
	from, to := w.run.SpoolOffset, b.end
	if len(keep) > 0 || to-from >= batchBytes {
		stored, err := w.append(ctx, from, to, keep)
		if err != nil {
			return err
		}
		w.run.SpoolOffset = to
		keep = stored
	}
	n := 0
	for i, it := range b.items {
		if !it.Passing {
			evs[i] = keep[n]
			n++
		}
		w.track(it)
	}
	*b = batch{}
	w.s.p.Publish(evs...)
	return nil
}

func (w *work) append(ctx context.Context, from, to int64, evs []core.Event) (stored []core.Event, err error) {
	err = w.insist(ctx, "store events", func() (err error) {
		stored, err = w.s.p.Store.AppendEvents(ctx, w.run.ID, from, to, evs...)
		return err
	})
	switch {
	case err == nil:
		return stored, nil
	case ctx.Err() != nil:
		return nil, errQuit
	}
	// The store will not take the batch: it has it already, because an answer was
	// lost, or the run was ended by somebody else.
	w.log.Error("store refused events", "to", to, "error", err)
	var run core.Run
	err = w.insist(ctx, "read run", func() (err error) {
		run, err = w.s.p.Store.Run(ctx, w.run.ID)
		return err
	})
	switch {
	case err == nil && !run.State.Terminal() && run.SpoolOffset == to:
		return evs, nil // their ids are in the database; a page that loads gets them
	case err == nil || errors.Is(err, core.ErrNotFound):
		return nil, errLostRun
	}
	return nil, errQuit
}
