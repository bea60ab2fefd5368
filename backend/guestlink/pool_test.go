package guestlink

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// poolLink counts how often it is closed.
type poolLink struct {
	core.Link
	done   chan struct{}
	closed int
	deaf   bool // answers no ping
}

func (l *poolLink) Ping(ctx context.Context) (time.Duration, error) {
	if l.deaf {
		<-ctx.Done()
	}
	return 0, ctx.Err()
}

func (l *poolLink) Done() <-chan struct{} { return l.done }
func (l *poolLink) Close() error          { l.closed++; return nil }

type sourceFunc func(ctx context.Context, c core.Container) (core.Link, error)

func (f sourceFunc) Open(ctx context.Context, c core.Container) (core.Link, error) { return f(ctx, c) }

func TestPool(t *testing.T) {
	var opened []*poolLink
	fail := errors.New("no hello")
	var next error
	p := NewPool(sourceFunc(func(context.Context, core.Container) (core.Link, error) {
		if next != nil {
			return nil, next
		}
		l := &poolLink{done: make(chan struct{})}
		opened = append(opened, l)
		return l, nil
	}))
	open := func(id string) core.Link {
		t.Helper()
		l, err := p.Open(t.Context(), core.Container{ID: core.ContainerID(id)})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b, other := open("1"), open("1"), open("2")
	if len(opened) != 2 {
		t.Fatalf("%d links for two containers", len(opened))
	}
	_ = a.Close()
	_ = a.Close() // closing twice counts once
	if opened[0].closed != 0 {
		t.Fatal("closed under its other user")
	}
	_ = b.Close()
	if opened[0].closed != 1 {
		t.Fatal("not closed by its last user")
	}
	_ = other.Close()

	c := open("1")
	close(opened[2].done) // the link breaks while it is used
	d := open("1")
	if len(opened) != 4 {
		t.Fatal("a broken link was handed out")
	}
	_ = c.Close()
	if opened[3].closed != 0 || opened[2].closed != 1 {
		t.Fatal("the user of a broken link closed the new one")
	}
	e := open("1")
	if len(opened) != 4 {
		t.Fatal("the new link was not shared")
	}
	_, _ = d.Close(), e.Close()
	if opened[3].closed != 1 || len(p.by) != 0 {
		t.Fatalf("closed %d times, %d left", opened[3].closed, len(p.by))
	}

	next = fail
	if _, err := p.Open(t.Context(), core.Container{ID: "3"}); !errors.Is(err, fail) {
		t.Fatal(err)
	}
	next = nil
	_ = open("3").Close()
}

// TestPoolSharesOpening: callers that come while a link is being opened wait for it.
// When the first caller gives up, the others do not fail.
func TestPoolSharesOpening(t *testing.T) {
	gate, opening := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	n := 0
	p := NewPool(sourceFunc(func(ctx context.Context, _ core.Container) (core.Link, error) {
		mu.Lock()
		n++
		mine := n
		mu.Unlock()
		if mine == 1 {
			close(opening)
			<-ctx.Done()
			close(gate)
			return nil, ctx.Err()
		}
		return &poolLink{done: make(chan struct{})}, nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := p.Open(ctx, core.Container{ID: "1"}); !errors.Is(err, context.Canceled) {
			t.Errorf("first: %v", err)
		}
	})
	<-opening
	for range 8 {
		wg.Go(func() {
			l, err := p.Open(t.Context(), core.Container{ID: "1"})
			if err != nil {
				t.Errorf("other: %v", err)
				return
			}
			<-gate
			_ = l.Close()
		})
	}
	cancel()
	wg.Wait()
	if len(p.by) != 0 {
		t.Fatal("links are left over")
	}
}

// TestLingeringLink: the link of a container that others will use stays open for a while
// after its last user, and no longer than Loop or the link itself.
func TestLingeringLink(t *testing.T) {
	shared := core.Container{ID: "1", Scope: "session:c"}
	for name, c := range map[string]struct {
		then   func(p *Pool, l *poolLink)
		closed int // in the end
		opened int // links in all, with one that is opened in the end
	}{
		"somebody comes back": {func(*Pool, *poolLink) { <-time.After(linger - time.Second) }, 0, 1},
		"nobody comes":        {func(*Pool, *poolLink) { <-time.After(linger) }, 1, 2},
		"the link breaks":     {func(_ *Pool, l *poolLink) { close(l.done) }, 1, 2},
		"nobody answers":      {func(_ *Pool, l *poolLink) { l.deaf = true }, 0, 2},
		"it comes and goes": {func(p *Pool, _ *poolLink) {
			for range 3 {
				<-time.After(linger - time.Second)
				l, _ := p.Open(context.Background(), shared)
				_ = l.Close()
			}
		}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opened []*poolLink
				p := NewPool(sourceFunc(func(context.Context, core.Container) (core.Link, error) {
					l := &poolLink{done: make(chan struct{})}
					opened = append(opened, l)
					return l, nil
				}))
				l, err := p.Open(t.Context(), shared)
				if err != nil {
					t.Fatal(err)
				}
				_ = l.Close()
				synctest.Wait()
				if opened[0].closed != 0 {
					t.Fatal("closed by its last user")
				}
				c.then(p, opened[0])
				synctest.Wait()
				if opened[0].closed != c.closed {
					t.Errorf("closed %d times", opened[0].closed)
				}
				if l, err = p.Open(t.Context(), shared); err != nil || len(opened) != c.opened {
					t.Errorf("%d links, %v", len(opened), err)
				}
				_ = l.Close()
				p.Close()
				for i, l := range opened {
					if l.closed != 1 {
						t.Errorf("link %d was closed %d times", i, l.closed)
					}
				}
				late, _ := p.Open(t.Context(), shared) // a straggler leaves nothing
				_ = late.Close()
				if last := opened[len(opened)-1]; last.closed != 1 {
					t.Errorf("a link that was opened after the end was closed %d times", last.closed)
				}
			})
		})
	}
}
