package daemon

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"loop/backend/bind"
	"loop/backend/channels"
	"loop/backend/core"
	"loop/backend/dialog"
	"loop/backend/gate"
	"loop/backend/settings"
)

// dialogQueue is the gate's queue as native dialogs see it.
type dialogQueue struct{ *gate.Service }

func (q dialogQueue) Waiting() []core.Approval { return q.Pending() }

func (q dialogQueue) Answer(ctx context.Context, id string, a core.ApprovalAnswer) error {
	_, err := q.Service.Answer(ctx, id, a)
	return err
}

// dialogWindow is the window as native dialogs see it.
type dialogWindow struct{ bind.Native }

func (w dialogWindow) Review(id string) { w.Show(); w.Ask(bind.AskReview + id) }

func (w dialogWindow) Open(id core.ChannelID) { w.Show(); w.Ask(bind.AskOpen + string(id)) }

// dialogWords are the settings and names that native dialogs need.
type dialogWords struct {
	settings *settings.Service
	channels *channels.Service
}

func (w dialogWords) Mode() dialog.Mode {
	return dialog.Mode(w.settings.Current().Gates.AgentGate.Dialog)
}

func (w dialogWords) Channel(id core.ChannelID) string {
	name, _ := w.channels.Called(id)
	return name
}

func (w dialogWords) Ringing(id core.ChannelID) dialog.Ringing {
	_, notify := w.channels.Called(id)
	cfg := w.settings.Current()
	return dialog.RingingOf(cmp.Or(notify, cfg.Notify), cfg.NotifySound, cfg.DoNotDisturb)
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
		dialogWords{d.settings, d.channels}, d.log)
	sub, _ := d.bus.Resume("", 0)
	heard, _ := d.bus.Resume("", 0)
	defer func() { sub.Close(); heard.Close() }()
	notices := dialog.NewNotices(d.opts.Notices, p)
	following, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { dialog.TellChanges(following, sub, p, notices, attention) })
	beside.Go(func() { attention.Run(following) })
	for _, run := range []func() error{func() error { return notices.Run(following) }, func() error { return d.bell.Run(following, heard) }} {
		beside.Go(func() {
			if err := run(); err != nil {
				d.log.Info("this desktop shows no notifications", "err", err)
			}
		})
	}
	defer func() { cancel(); beside.Wait() }()
	err := p.Run(ctx)
	if errors.Is(err, dialog.ErrUnavailable) {
		d.bell.NoDialogs()
		d.log.Info("this system has no native dialogs; what waits is shown in the window alone", "err", err)
		<-ctx.Done() // the window is still marked
		return nil
	}
	return err
}
