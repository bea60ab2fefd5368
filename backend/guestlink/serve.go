package guestlink

import (
	"encoding/json"
	"fmt"
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
		ConnContext:       withStream,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.SetKeepAlivesEnabled(false) // one exchange per stream
	return s
}

// handler is everything a guest can reach. The mux is not used: it would answer
// unclean paths with redirects, and these few routes are matched exactly.
func (l *Link) handler() http.Handler {
	return contain(l.opts.Log, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/"):
			who, ok := l.askers.find(r)
			if !ok || who.caller.ChannelID == "" { // a browser asks for nothing
				writeError(w, http.StatusForbidden, "the program that asks is none of a run or a terminal that Loop knows")
				return
			}
			callbackHandler{from: who.caller, callbacks: l.opts.Callbacks, browsers: l.opts.Browsers, log: l.opts.Log}.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/runs/"):
			l.askers.serveModel(w, r)
		default:
			writeError(w, http.StatusNotFound, "nothing is served here")
		}
	}))
}

// contain keeps a panic of one request from being more than that.
func contain(log *slog.Logger, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v) // the server's own way to cut an answer short
			default:
				log.Error("guest request panicked", "path", r.URL.Path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				writeError(w, http.StatusInternalServerError, "something went wrong inside Loop")
			}
		}()
		h.ServeHTTP(w, r)
	})
}

func statusOf(err error) int {
	switch core.AsFailure(err).Code {
	case core.CodeInvalid, core.CodeDir, core.CodeConfig, core.CodeMount:
		return http.StatusBadRequest
	case core.CodeNotFound:
		return http.StatusNotFound
	case core.CodeConflict:
		return http.StatusConflict
	case core.CodeForbidden:
		return http.StatusForbidden
	case core.CodeOff:
		return http.StatusServiceUnavailable
	case core.CodeTooMany:
		return http.StatusTooManyRequests
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
