package hostchrome

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

const (
	// reachTimeout bounds the connection itself, which is within this computer.
	reachTimeout = 3 * time.Second
	// allowTimeout bounds the handshake: where remote debugging was switched on at
	// chrome://inspect, Chrome asks the person each time, and answers when they have.
	allowTimeout = time.Minute
	// maxHead bounds the head of Chrome's answer, in bytes.
	maxHead = 16 << 10
)

// how is the remedy of every failure to reach a Chrome: how one is started or switched on.
const how = "In Chrome 144 or later open chrome://inspect/#remote-debugging and switch remote debugging on. Or start Chrome with " +
	"--remote-debugging-port=0 --user-data-dir=FOLDER and set browser.host_profile to that folder: Chrome 136 and later ignore the port " +
	"with the usual profile. Then restart the browser here."

// Chrome is a connection to a Chrome that runs. Whoever made it closes both streams.
type Chrome struct {
	Folder string // of its user data
	Port   uint16 // on which its DevTools listen
	In     io.WriteCloser
	Out    io.ReadCloser
}

// Connect finds a Chrome that the person has started and connects to it, on 127.0.0.1
// and nowhere else. profile is the folder of its user data, or one of the profiles in
// that; empty looks at the folders of usual, of which the first that answers counts.
// Errors are *core.Failure.
func Connect(ctx context.Context, profile string, usual []string) (*Chrome, error) {
	folders := usual
	if profile != "" {
		folders = []string{profile, filepath.Dir(profile)}
	}
	var looked []string
	for _, folder := range folders {
		at, err := readPortFile(folder)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err == nil {
			var c *Chrome
			if c, err = dial(ctx, at, allowTimeout); err == nil {
				c.Folder = folder
				return c, nil
			}
		}
		if stops, ok := errors.AsType[*core.Failure](err); ok {
			return nil, stops
		}
		looked = append(looked, fmt.Sprintf("%s: %v", folder, err))
	}
	f := core.Fail(core.CodeNotFound, nil, "No Chrome of yours with remote debugging was found.", how)
	switch {
	case len(looked) > 0:
		f.Cause = "The Chrome that was to be shown does not answer: it has ended, or its file " + portFile + " is damaged."
		f.Detail = strings.ToValidUTF8(strings.Join(looked, "\n"), "\uFFFD")
	case profile != "":
		f.Cause = "No Chrome with remote debugging uses the folder “" + strings.ToValidUTF8(profile, "\uFFFD") + "”."
	default:
		f.Detail = "No file " + portFile + " is in any of:\n" + strings.Join(folders, "\n")
	}
	return nil, f
}

// dial connects to the DevTools of this computer. A *core.Failure says that a Chrome is
// there and does not want.
func dial(ctx context.Context, at Endpoint, allow time.Duration) (*Chrome, error) {
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port).String()
	reach := net.Dialer{Timeout: reachTimeout}
	transport := &http.Transport{
		// Whatever an address might say, this is where it goes: no proxy, no name.
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return reach.DialContext(ctx, "tcp4", addr) },
		MaxResponseHeaderBytes: maxHead, DisableKeepAlives: true,
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	hctx, cancel := context.WithTimeout(ctx, allow)
	defer cancel()
	u := url.URL{Scheme: "ws", Host: addr, Path: at.Path}
	// It is without an Origin, which Chrome would refuse.
	//nolint:bodyclose // Dial closes the body itself and leaves a copy in memory
	ws, resp, err := websocket.Dial(hctx, u.String(), &websocket.DialOptions{HTTPClient: client})
	switch {
	case err == nil:
		s := newSocket(ctx, ws)
		return &Chrome{Port: at.Port, In: &commands{socket: s}, Out: &answers{socket: s}}, nil
	case ctx.Err() != nil:
		return nil, core.Fail(core.CodeCancelled, ctx.Err(), "The connection to your Chrome was given up.", "")
	case errors.Is(err, context.DeadlineExceeded) && hctx.Err() != nil:
		return nil, core.Fail(core.CodeTimeout, err, "Your Chrome did not let Loop in within a minute.",
			"Choose “Allow” where Chrome asks whether remote debugging is allowed, and restart the browser here.")
	case resp != nil && resp.StatusCode == http.StatusForbidden:
		return nil, core.Fail(core.CodeForbidden, err, "Your Chrome refused the connection.",
			"Choose “Allow” where Chrome asks whether remote debugging is allowed, and restart the browser here.")
	case resp != nil:
		return nil, fmt.Errorf("port %d answers with HTTP status %d, as another program would: %w", at.Port, resp.StatusCode, err)
	}
	return nil, fmt.Errorf("connect to port %d: %w", at.Port, err)
}
