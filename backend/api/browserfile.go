package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"loop/backend/core"
)

// browserFileTime is for one file, which comes from this computer.
const browserFileTime = 2 * time.Minute

// takeBrowserFile gives a file that the person chose to a channel's browser. The body is the
// file; the answer says where the browser's page finds it.
func (s *Server) takeBrowserFile(w http.ResponseWriter, r *http.Request) {
	s.conns.Add(1)
	defer s.conns.Done()
	q := r.URL.Query()
	ch, name := core.ChannelID(q.Get("channel_id")), q.Get("name")
	switch {
	case ch == "" || name == "":
		writeFailure(w, core.Fail(core.CodeInvalid, nil, "The file comes without channel_id and name.", "Say both in the address."))
		return
	case r.ContentLength > core.MaxBrowserFile:
		writeFailure(w, errLargeFile)
		return
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(browserFileTime)); err != nil {
		writeFailure(w, fmt.Errorf("bound the time of a file: %w", err))
		return
	}
	at, err := s.opts.Browsers.PutFile(r.Context(), ch, name, http.MaxBytesReader(w, r.Body, core.MaxBrowserFile))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = errLargeFile
	}
	if err != nil {
		writeFailure(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"path": at})
}

var errLargeFile = core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The file is larger than %d MiB.", core.MaxBrowserFile>>20),
	"Choose a smaller one.")
