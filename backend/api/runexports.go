package api

import (
	"net/http"

	"loop/backend/bind"
	"loop/backend/core"
)

// Exports makes files of runs.
type Exports = bind.RunExports

// serveExport sends a run as a zip. One that ends early ends the connection as well, so
// that nobody takes it for whole.
func (s *Server) serveExport(w http.ResponseWriter, r *http.Request) {
	x, err := s.opts.Exports.Export(r.Context(), core.RunID(r.PathValue("id")))
	if err != nil {
		writeFailure(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="`+x.Name()+`"`)
	h.Set("Access-Control-Expose-Headers", "Content-Disposition")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("Cache-Control", "no-store")
	if err := x.Write(r.Context(), w); err != nil {
		s.opts.Log.Warn("an export of a run ended early", "run", r.PathValue("id"), "err", err)
		panic(http.ErrAbortHandler)
	}
}
