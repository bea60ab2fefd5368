//go:build docker

package e2e

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

// engineProxy is a socket in front of the engine, for one test. Through it an engine
// can go away, hang or refuse without touching the real one.
type engineProxy struct {
	t        *testing.T
	path     string
	upstream string

	// started is called after the engine has started a container and before the
	// app hears of it.
	started func(id core.ContainerID)

	mu    sync.Mutex
	ln    net.Listener
	conns map[net.Conn]struct{}
	hold  chan struct{} // closed while bytes may pass
	wg    sync.WaitGroup
}

func newEngineProxy(t *testing.T) *engineProxy {
	t.Helper()
	// A socket's path is at most 107 bytes, which t.TempDir exceeds easily.
	dir, err := os.MkdirTemp("", "loop-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &engineProxy{t: t, path: filepath.Join(dir, "engine.sock"), upstream: "/var/run/docker.sock", conns: map[net.Conn]struct{}{}}
	if h, ok := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://"); ok {
		p.upstream = h
	}
	p.hold = make(chan struct{})
	close(p.hold)
	p.restore()
	t.Cleanup(func() {
		p.cut()
		p.resume()
		p.wg.Wait()
		_ = os.RemoveAll(dir)
	})
	return p
}

func (p *engineProxy) config() string { return `"docker_host":"unix://` + p.path + `"` }

// restore makes the engine answer, also after cut or suspend.
func (p *engineProxy) restore() {
	ln, err := net.Listen("unix", p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.ln = ln
	p.mu.Unlock()
	p.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			p.serve(c)
		}
	})
}

// cut ends every connection and closes the socket, as an engine does that stops.
func (p *engineProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ln != nil {
		_ = p.ln.Close() // this removes the socket's file too
		p.ln = nil
	}
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// drop ends every connection; new ones may be made at once.
func (p *engineProxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// suspend stops all traffic in both directions, like an engine that hangs.
func (p *engineProxy) suspend() {
	p.mu.Lock()
	p.hold = make(chan struct{})
	p.mu.Unlock()
}

func (p *engineProxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.hold:
	default:
		close(p.hold)
	}
}

func (p *engineProxy) pass() {
	p.mu.Lock()
	hold := p.hold
	p.mu.Unlock()
	<-hold
}

func (p *engineProxy) serve(app net.Conn) {
	engine, err := net.Dial("unix", p.upstream)
	if err != nil {
		_ = app.Close()
		return
	}
	p.mu.Lock()
	gone := p.ln == nil
	p.conns[app], p.conns[engine] = struct{}{}, struct{}{}
	p.mu.Unlock()
	if gone {
		p.close(app, engine)
		return
	}
	starting := make(chan core.ContainerID, 16)
	p.wg.Go(func() {
		p.copy(engine, app, func(b []byte) {
			// The client library begins a new write for each request.
			if m := startCall.FindSubmatch(b); m != nil {
				starting <- core.ContainerID(m[1])
			}
		})
	})
	p.wg.Go(func() {
		p.copy(app, engine, func([]byte) {
			select {
			case id := <-starting:
				if p.started != nil {
					p.started(id)
				}
			default:
			}
		})
		p.close(app, engine) // the engine is the last to end a connection
	})
}

var startCall = regexp.MustCompile(`^POST \S*/containers/([0-9a-f]{64})/start`)

// copy moves bytes until one end is closed, and passes a half close on.
func (p *engineProxy) copy(to, from net.Conn, look func([]byte)) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			look(buf[:n])
			p.pass()
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = errors.Join(err, werr)
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				p.pass()
			}
			_ = to.(*net.UnixConn).CloseWrite()
			return
		}
	}
}

func (p *engineProxy) close(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}
