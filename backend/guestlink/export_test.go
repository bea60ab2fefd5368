package guestlink

import (
	"log/slog"
	"net/http"

	"loop/backend/core"
	"loop/backend/wire"
)

// HandlerForTest serves the requests of a spawn with the identity who, without a link.
func HandlerForTest(o Options, who core.Identity) http.Handler {
	o.Log = slog.New(slog.DiscardHandler)
	l := &Link{opts: o, askers: newAskers(o), rules: newLiveRules()}
	l.Admit("spawn", who)
	h := l.handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(withStream(r.Context(), &guestConn{spawn: "spawn"})))
	})
}

// Hello is the guest's description of itself.
func (l *Link) Hello() wire.Hello { return l.hello }

// Admitted reports whether a run may make callbacks.
func (t *TCP) Admitted(run core.RunID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.grants[run]
	return ok
}
