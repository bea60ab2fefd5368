package daemon

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/dialog"
	"loop/backend/gate"
	"loop/backend/settings"
	"loop/backend/store"
)

// nameTime bounds looking a channel's name up for a dialog.
const nameTime = 2 * time.Second

// dialogQueue is the gate's queue as native dialogs see it.
type dialogQueue struct{ *gate.Service }

func (q dialogQueue) Waiting() []core.Approval { return q.Pending() }

func (q dialogQueue) Answer(ctx context.Context, id string, a core.ApprovalAnswer) error {
	_, err := q.Service.Answer(ctx, id, a)
	return err
}

// dialogWindow is the window as native dialogs see it.
type dialogWindow struct{ bind.Native }

func (w dialogWindow) Review(id string) {
	w.Show()
	w.Ask(bind.AskReview + id)
}

// dialogWords are the settings and names that native dialogs need.
type dialogWords struct {
	settings *settings.Service
	store    *store.Store
}

func (w dialogWords) Mode() dialog.Mode {
	return dialog.Mode(w.settings.Current().Gates.AgentGate.Dialog)
}

// Channel names a channel by its project and itself.
func (w dialogWords) Channel(id core.ChannelID) string {
	ctx, cancel := context.WithTimeout(context.Background(), nameTime)
	defer cancel()
	var names []string
	for id != "" && len(names) < 3 {
		ch, err := w.store.Channel(ctx, id)
		if err != nil {
			break
		}
		names, id = append([]string{ch.Name}, names...), ch.ParentID
	}
	return strings.Join(names, " › ")
}

// presentDialogs shows native dialogs for what waits, until the app ends. It is called
// where there is a window.
func (d *Daemon) presentDialogs(ctx context.Context) error {
	if d.opts.Dialogs == nil {
		return nil
	}
	queue := dialogQueue{d.gate}
	attention := dialog.NewAttention(queue, d.opts.Frame)
	p := dialog.NewPresenter(d.opts.Dialogs, queue, dialog.NewWatched(dialogWindow{d.opts.Window}, d.opts.Frame),
		dialogWords{settings: d.settings, store: d.store}, d.log)
	sub, _ := d.bus.Resume("", 0)
	defer sub.Close()
	notices := dialog.NewNotices(d.opts.Notices, p)
	following, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { dialog.TellChanges(following, sub, p, notices, attention) })
	beside.Go(func() { attention.Run(following) })
	beside.Go(func() {
		if err := notices.Run(following); err != nil {
			d.log.Info("this desktop shows no notifications of what waits", "err", err)
		}
	})
	defer func() { cancel(); beside.Wait() }()
	err := p.Run(ctx)
	if errors.Is(err, dialog.ErrUnavailable) {
		d.log.Info("this system has no native dialogs; what waits is shown in the window alone", "err", err)
		<-ctx.Done() // the window is still marked
		return nil
	}
	return err
}
