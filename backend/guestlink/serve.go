package guestlink

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

func newServer(h http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: wire.RequestTimeout,
		MaxHeaderBytes:    wire.MaxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.SetKeepAlivesEnabled(false) // one exchange per stream
	return s
}

// handler is everything a guest can reach. The mux is not used: it would answer
// unclean paths with redirects, and these few routes are matched exactly.
func (l *Link) handler() http.Handler {
	return l.contain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/messages":
			l.messages(w, r)
		case strings.HasPrefix(r.URL.Path, "/runs/"):
			l.routes.ServeHTTP(w, r)
		default:
			writeError(w, http.StatusNotFound, "nothing is served here")
		}
	}))
}

// contain keeps a panic of one request from being more than that.
func (l *Link) contain(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v) // the server's own way to cut an answer short
			default:
				l.opts.Log.Error("guest request panicked", "path", r.URL.Path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				writeError(w, http.StatusInternalServerError, "something went wrong inside Loop")
			}
		}()
		h.ServeHTTP(w, r)
	})
}

// messages is send_message of loop mcp.
func (l *Link) messages(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, http.StatusMethodNotAllowed, "only POST is possible here")
		return
	}
	var in struct {
		ChannelID string `json:"channel_id"`
		Content   string `json:"content"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.MaxCallbackBody))
	if err != nil {
		status := http.StatusBadRequest
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			status = http.StatusRequestEntityTooLarge
		}
		writeError(w, status, "the request could not be read: "+err.Error())
		return
	}
	if err := json.Unmarshal(body, &in); err != nil {
		writeError(w, http.StatusBadRequest, "the request is not JSON: "+err.Error())
		return
	}
	switch from := l.opts.Caller; {
	case in.ChannelID != "" && in.ChannelID != string(from.ChannelID):
		writeError(w, http.StatusForbidden, "an agent may write to its own channel only")
	case strings.TrimSpace(in.Content) == "":
		writeError(w, http.StatusBadRequest, "content is empty")
	case l.opts.Callbacks == nil:
		writeError(w, http.StatusServiceUnavailable, "messages are not taken at the moment")
	default:
		if err := l.opts.Callbacks.SendMessage(r.Context(), from, strings.ToValidUTF8(in.Content, "\uFFFD")); err != nil {
			l.opts.Log.Warn("send_message", "channel", string(from.ChannelID), "err", err)
			writeError(w, statusOf(err), core.AsFailure(err).Cause)
			return
		}
		writeJSON(w, http.StatusOK, map[string]bool{"ok": true})
	}
}

func statusOf(err error) int {
	switch core.AsFailure(err).Code {
	case core.CodeInvalid:
		return http.StatusBadRequest
	case core.CodeNotFound:
		return http.StatusNotFound
	case core.CodeConflict:
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the guest may have left
}
