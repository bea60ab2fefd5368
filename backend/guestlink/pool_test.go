package guestlink

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// poolLink counts how often it is closed.
type poolLink struct {
	core.Link
	done   chan struct{}
	closed atomic.Int32
	deaf   bool // answers no ping
}

func (l *poolLink) Ping(ctx context.Context) (time.Duration, error) {
	if l.deaf {
		<-ctx.Done()
	}
	return 0, ctx.Err()
}

func (l *poolLink) Done() <-chan struct{} { return l.done }
func (l *poolLink) Close() error          { l.closed.Add(1); return nil }

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
	if opened[0].closed.Load() != 0 {
		t.Fatal("closed under its other user")
	}
	_ = b.Close()
	if opened[0].closed.Load() != 1 {
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
	if opened[3].closed.Load() != 0 || opened[2].closed.Load() != 1 {
		t.Fatal("the user of a broken link closed the new one")
	}
	e := open("1")
	if len(opened) != 4 {
		t.Fatal("the new link was not shared")
	}
	_, _ = d.Close(), e.Close()
	if opened[3].closed.Load() != 1 || len(p.by) != 0 {
		t.Fatalf("closed %d times, %d left", opened[3].closed.Load(), len(p.by))
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
		closed int32 // in the end
		opened int   // links in all, with one that is opened in the end
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
				if opened[0].closed.Load() != 0 {
					t.Fatal("closed by its last user")
				}
				c.then(p, opened[0])
				synctest.Wait()
				if opened[0].closed.Load() != c.closed {
					t.Errorf("closed %d times", opened[0].closed.Load())
				}
				if l, err = p.Open(t.Context(), shared); err != nil || len(opened) != c.opened {
					t.Errorf("%d links, %v", len(opened), err)
				}
				_ = l.Close()
				p.Close()
				for i, l := range opened {
					if l.closed.Load() != 1 {
						t.Errorf("link %d was closed %d times", i, l.closed.Load())
					}
				}
				late, _ := p.Open(t.Context(), shared) // a straggler leaves nothing
				_ = late.Close()
				if last := opened[len(opened)-1]; last.closed.Load() != 1 {
					t.Errorf("a link that was opened after the end was closed %d times", last.closed.Load())
				}
			})
		})
	}
}

// TestBusy: something runs in a container as long as the tree of one of its programs is there,
// whether the program itself has ended or not.
func TestBusy(t *testing.T) {
	ended := &core.ExitStatus{}
	var spawns []core.SpawnInfo
	var fail error
	link := &listLink{poolLink: poolLink{done: make(chan struct{})}, list: func() ([]core.SpawnInfo, error) { return spawns, fail }}
	p := NewPool(sourceFunc(func(context.Context, core.Container) (core.Link, error) { return link, nil }))
	for _, c := range []struct {
		spawns []core.SpawnInfo
		want   bool
	}{
		{nil, false}, {[]core.SpawnInfo{{}}, true}, {[]core.SpawnInfo{{Exit: ended}}, true}, {[]core.SpawnInfo{{Exit: ended, Gone: true}}, false},
		{[]core.SpawnInfo{{Exit: ended, Gone: true}, {Exit: ended}}, true},
	} {
		spawns = c.spawns
		if busy, err := p.Busy(t.Context(), core.Container{ID: "1"}); err != nil || busy != c.want {
			t.Errorf("%+v: %v, %v", c.spawns, busy, err)
		}
	}
	if fail = core.ErrLinkDown; link.closed.Load() != 5 {
		t.Errorf("%d links were closed", link.closed.Load())
	}
	if _, err := p.Busy(t.Context(), core.Container{ID: "1"}); !errors.Is(err, core.ErrLinkDown) {
		t.Error(err)
	}
}

type listLink struct {
	poolLink
	list func() ([]core.SpawnInfo, error)
}

func (l *listLink) Spawns(context.Context) ([]core.SpawnInfo, error) { return l.list() }
