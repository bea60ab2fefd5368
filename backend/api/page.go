package api

import (
	"io/fs"
	"net/http"
	"strings"
)

// ContentPolicy lets the page load its own files and talk to its own origin and
// to what connect names, nothing else, in a browser and in the window: agent text
// that slips through the sanitiser cannot fetch. WebAssembly is for the decoders
// of images in terminals, and allows no script; blob is for where those cannot
// make a bitmap otherwise, and data for the empty image they leave behind. Inline
// styles are how terminals and lists place things.
func ContentPolicy(connect ...string) string {
	return "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
		"img-src 'self' blob: data:; font-src 'self'; worker-src 'self'; " +
		"connect-src " + strings.Join(append([]string{"'self'"}, connect...),
		" ") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// WindowPolicy is ContentPolicy for a page that this server does not serve and
// that talks to it.
func (s *Server) WindowPolicy() string {
	return ContentPolicy("http://"+s.Addr(), "ws://"+s.Addr())
}

// page serves the built frontend. The files are the same for everybody and
// hold no secret; the token is in the address's fragment, which a browser
// never sends.
func page(files fs.FS) http.Handler {
	var server http.Handler
	if files != nil {
		if _, err := fs.Stat(files, "index.html"); err == nil {
			server = http.FileServerFS(files)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		// Older WebKits do not count sockets as the page's own origin. The front
		// door knows the Host.
		h.Set("Content-Security-Policy", ContentPolicy("ws://"+r.Host))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		if server == nil {
			http.Error(w, "This build of Loop has no page in it. Run “make build” and start it again.", http.StatusNotFound)
			return
		}
		if r.URL.Path != "/" && strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r) // a folder: there is nothing to list for anybody
			return
		}
		if strings.HasPrefix(r.URL.Path, "/assets/") {
			h.Set("Cache-Control", "public, max-age=31536000, immutable") // names carry a content hash
		} else {
			h.Set("Cache-Control", "no-store")
		}
		server.ServeHTTP(w, r)
	})
}
