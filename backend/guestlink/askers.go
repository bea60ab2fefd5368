package guestlink

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"loop/backend/core"
)

// Admit implements core.Link. An identity is known for as long as this link lasts.
// The gate knows it until the spawn is forgotten, whatever becomes of the link.
func (l *Link) Admit(spawn core.SpawnID, who core.Identity) {
	l.askers.admit(spawn, who)
	l.rules.admit(spawn, who.Rules)
	if l.opts.Gate != nil {
		who.LinkLost = l.lost
		l.opts.Gate.Admit(l.id, spawn, who)
	}
}

// askers are the spawns that may ask for something on one link.
type askers struct {
	demo    http.Handler
	talks   Talks
	gateway string
	log     *slog.Logger

	until time.Time // when a spawn without an identity is refused at once

	mu      sync.Mutex
	bySpawn map[core.SpawnID]asker
	changed chan struct{} // closed when bySpawn changes
}

// asker is one spawn.
type asker struct {
	caller core.Caller
	route  core.RunID // what its model's path names
	up     core.ModelUpstream
	model  route                           // without a handler it has none
	egress func(context.Context, net.Conn) // nil: it has no way out
}

type route struct {
	handler http.Handler
	close   func() // may be nil
}

func newAskers(o Options) *askers {
	return &askers{demo: o.DemoModel, talks: o.Talks, gateway: o.GatewayIP, log: o.Log, until: time.Now().Add(o.AdmitHold),
		bySpawn: make(map[core.SpawnID]asker), changed: make(chan struct{})}
}

func (t *askers) admit(spawn core.SpawnID, who core.Identity) {
	next := asker{
		caller: core.Caller{ChannelID: who.ChannelID, SpawnID: spawn, RunID: who.RunID},
		route:  cmp.Or(who.RunID, core.RunID(spawn)), up: who.Upstream, egress: who.Egress,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.bySpawn[spawn]
	if old.up == next.up {
		next.model = old.model // with its connections
	} else {
		next.model = t.to(next.up)
		old.end()
	}
	t.bySpawn[spawn] = next
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *askers) to(up core.ModelUpstream) route {
	switch {
	case up.Demo && t.demo != nil:
		return route{handler: t.demo}
	case up.Demo:
		return refusing("this Loop has no demo model")
	case up.BaseURL != "":
		return t.proxy(up)
	}
	return route{}
}

func (a asker) end() {
	if a.model.close != nil {
		a.model.close()
	}
}

func (t *askers) dismiss(spawn core.SpawnID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bySpawn[spawn].end()
	delete(t.bySpawn, spawn)
}

func (t *askers) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.bySpawn {
		a.end()
	}
	clear(t.bySpawn)
}

type streamKey struct{} // *guestConn

// withStream keeps a stream, which knows who asks, beside its one request.
func withStream(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, streamKey{}, c)
}

// find says who asks. It waits while the link is young: a CLI that lives since an
// earlier link asks as soon as this one is there, and that may be before Admit.
func (t *askers) find(r *http.Request) (asker, bool) {
	c, ok := r.Context().Value(streamKey{}).(*guestConn)
	if !ok {
		return asker{}, false
	}
	return t.of(r.Context(), c)
}

// of is find for a stream.
func (t *askers) of(ctx context.Context, c *guestConn) (asker, bool) {
	late := time.After(time.Until(t.until))
	for {
		t.mu.Lock()
		who, ok := t.bySpawn[c.spawn]
		changed := t.changed
		t.mu.Unlock()
		if ok {
			return who, true
		}
		select {
		case <-changed:
		case <-late:
			return asker{}, false
		case <-ctx.Done():
			return asker{}, false
		}
	}
}
