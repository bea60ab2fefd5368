package api

import (
	"io/fs"
	"net/http"
	"strings"
)

// ContentPolicy lets the page load its own files and talk to its own origin,
// nothing else, in a browser and in the window: agent text that slips through the sanitiser cannot fetch.
// The window's origin is not the listener's, hence the loopback addresses. WebAssembly is for the decoders
// of images in terminals; it allows no script.
const ContentPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self' ws://127.0.0.1:* ws://localhost:* http://127.0.0.1:*; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
		h.Set("Content-Security-Policy", ContentPolicy)
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
