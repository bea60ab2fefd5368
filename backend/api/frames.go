package api

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"loop/backend/core"
)

// Frames keeps pictures of what runs did in their browsers. The caller closes what it
// opened; a picture that is not there is a Failure.
type Frames interface {
	OpenFrame(ctx context.Context, id int64, picture string) (io.ReadSeekCloser, error)
}

// serveFrame sends the picture of a frame. The picture's hash is in the address, so what
// was read once never has to be read again.
func (s *Server) serveFrame(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		writeFailure(w, core.Fail(core.CodeNotFound, err, "There is no such picture.", "Read the list of frames again."))
		return
	}
	f, err := s.opts.Frames.OpenFrame(r.Context(), id, r.PathValue("picture"))
	if err != nil {
		writeFailure(w, err)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "image/jpeg")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, f)
}
