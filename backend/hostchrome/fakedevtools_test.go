package hostchrome

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/coder/websocket"
)

// devtools serves a handler as a Chrome's DevTools, and returns the folder of user data
// that names it.
func devtools(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return folderFor(t, netip.MustParseAddrPort(s.Listener.Addr().String()).Port())
}

// folderFor is a folder of user data that names a port.
func folderFor(t *testing.T, port uint16) string {
	t.Helper()
	return folderWith(t, strconv.Itoa(int(port))+"\n/devtools/browser/"+someID)
}

func folderWith(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, portFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// deadPort is one on which nothing listens, and which nothing else gets while the test runs:
// the near end of a connection has it.
func deadPort(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return netip.MustParseAddrPort(c.LocalAddr().String()).Port()
}

// speak is a handler that accepts the WebSocket and does something with it.
func speak(t *testing.T, do func(ctx context.Context, ws *websocket.Conn) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || r.URL.Path != "/devtools/browser/"+someID {
			t.Errorf("%s with Origin %q", r.URL, r.Header.Get("Origin"))
		}
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		ws.SetReadLimit(-1)
		if err := do(r.Context(), ws); err != nil {
			t.Error(err)
		}
		_ = ws.CloseNow()
	}
}
