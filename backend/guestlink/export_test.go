package guestlink

import (
	"log/slog"
	"net/http"

	"loop/backend/core"
)

// HandlerForTest is what a guest reaches, without a link, with the demo model
// routed for run.
func HandlerForTest(o Options, run core.RunID) http.Handler {
	o.Log = slog.New(slog.DiscardHandler)
	l := &Link{opts: o, routes: newRoutes(o)}
	l.RouteModel(run, core.ModelUpstream{Demo: true})
	return l.handler()
}
