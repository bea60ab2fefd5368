package api

import (
	"io"
	"net/http"
	"time"
)

// Recordings keeps recordings of terminals. The caller closes what it opened; a
// name that is none of a recording is a Failure.
type Recordings interface {
	OpenRecording(name string) (r io.ReadSeekCloser, written time.Time, err error)
}

// serveRecording sends a recording as asciicast v2, whole or in ranges. It may
// still be growing.
func (s *Server) serveRecording(w http.ResponseWriter, r *http.Request) {
	f, written, err := s.opts.Recordings.OpenRecording(r.PathValue("name"))
	if err != nil {
		writeFailure(w, err)
		return
	}
	defer f.Close()
	h := w.Header()
	// A program's output must never be taken for a page of this origin.
	h.Set("Content-Type", "application/x-asciicast")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "", written, f)
}
