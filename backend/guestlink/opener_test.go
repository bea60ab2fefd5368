package guestlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// refusals is an engine that opens no link. It gives one reason after the other.
type refusals struct {
	why   []error // the last one stays
	dials int
}

func (r *refusals) DialExec(context.Context, core.ContainerID, string, []string) (io.ReadWriteCloser, error) {
	err := r.why[min(r.dials, len(r.why)-1)]
	r.dials++
	return nil, err
}

// bridge is an engine's network with one address on this machine.
type bridge string

func (b bridge) GatewayIP(context.Context) (string, error) { return string(b), nil }

type waker func()

func (w waker) Awake(context.Context, core.ContainerID) error {
	w()
	return nil
}

// TestLinkToAContainerThatWasWoken: a link that was refused because of a pause, which
// is over now, is tried again a few times. After other refusals it is not.
func TestLinkToAContainerThatWasWoken(t *testing.T) {
	boom, paused := errors.New("boom"), fmt.Errorf("is paused: %w", core.ErrConflict)
	for name, tc := range map[string]struct {
		why   []error
		want  error
		dials int
		took  time.Duration
	}{
		"another reason": {[]error{boom}, boom, 1, 0},
		"a late record":  {[]error{paused, paused, boom}, boom, 3, 2 * settleTick},
		"for ever":       {[]error{paused}, core.ErrConflict, int(settleTime/settleTick) + 1, settleTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, woken := &refusals{why: tc.why}, 0
				l := Opener{Dialer: r, Log: slog.New(slog.DiscardHandler), Network: bridge(""), Waker: waker(func() { woken++ })}
				began := time.Now()
				link, err := l.Open(t.Context(), core.Container{ID: "box"})
				if link != nil || !errors.Is(err, tc.want) {
					t.Errorf("%v, %v", link, err)
				}
				if took := time.Since(began); r.dials != tc.dials || woken != tc.dials || took != tc.took {
					t.Errorf("dialled %d times, woke %d, took %v", r.dials, woken, took)
				}
			})
		})
	}
}
