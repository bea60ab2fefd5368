package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/sandbox"
)

// Values of guest_transport, and what programs of an agent read for it.
const (
	transportTCP = "tcp"
	apiURLEnv    = "API_URL"
	apiTokenEnv  = "LOOP_API_TOKEN"
)

// guestTCPFile is in the Loop folder: the key that tokens are made of and the
// port, so that containers that outlive Loop find it again. A token itself is
// never stored.
const guestTCPFile = "guest-tcp.json"

type guestTCPState struct {
	Key  string `json:"key"`
	Port int    `json:"port,omitempty"`
}

// guestTCP is the listener for guest_transport "tcp". It is bound when the first
// run asks for it and closed when none needs it any more.
type guestTCP struct {
	home      string
	callbacks guestlink.Callbacks
	run       func(ctx context.Context, id core.RunID) (core.Run, error)
	gateway   func(ctx context.Context) (string, error)
	// here reports whether an address is one of this machine's; nil asks it.
	here func(ip net.IP) bool
	log  *slog.Logger

	// Callbacks may need mu, so nobody waits for them while holding it.
	mu     sync.Mutex
	closed bool
	server *guestlink.TCP
	host   string // it is bound to
	ending sync.WaitGroup
}

// admit makes what the programs of one run need to call over TCP. Without the
// setting it makes nothing, and the link carries their calls.
func (g *guestTCP) admit(ctx context.Context, cfg config.Config, st core.EngineStatus, from core.Caller, network string) (url string, env []core.EnvVar, notice string, err error) {
	if g == nil || from.RunID == "" { // only runs have tokens
		return "", nil, "", nil
	}
	if cfg.GuestTransport != transportTCP {
		g.settle(ctx)
		return "", nil, "", nil
	}
	if network == "none" {
		return "", nil, "guest_transport is tcp, which a container with container_network none cannot use: its programs call Loop over the link.", nil
	}
	if st.Rootless && cfg.APIAdvertiseURL == "" {
		return "", nil, "", core.Fail(core.CodeConfig, nil, "guest_transport is tcp, and a rootless engine keeps containers away from this computer's ports.",
			"Set guest_transport to link, which needs no port, or set api_advertise_url to an address that containers reach.")
	}
	host, err := g.address(ctx)
	if err != nil {
		return "", nil, "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(host); err != nil {
		return "", nil, "", err
	}
	url = strings.TrimSuffix(cfg.APIAdvertiseURL, "/")
	if url == "" {
		url = "http://host.docker.internal:" + strconv.Itoa(portOf(g.server.Addr()))
	}
	token := g.server.Grant(ctx, from)
	return url, []core.EnvVar{
		{Name: apiURLEnv, Value: url, Lane: sandbox.LaneApp},
		{Name: apiTokenEnv, Value: token.Reveal(), Lane: sandbox.LaneApp, Secret: true},
	}, "", nil
}

// attend names the container of a run that was admitted. Others are left out.
func (g *guestTCP) attend(ctx context.Context, from core.Caller) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.server != nil && g.server.Admitted(from.RunID) {
		g.server.Grant(ctx, from)
	}
}

// settle closes a listener that no run needs any more.
func (g *guestTCP) settle(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.server != nil && g.server.Idle(ctx) {
		g.replace()
	}
}

// replace ends a listener while Loop goes on; g is locked, and has one.
func (g *guestTCP) replace() {
	if err := g.end(); err != nil {
		g.log.Warn("close guest listener", "err", err)
	}
}

// end frees the port at once; Close waits for the callbacks that are under way.
// g is locked, and has a listener.
func (g *guestTCP) end() error {
	s := g.server
	g.server = nil
	err := s.Stop()
	g.ending.Go(func() { _ = s.Close() }) // Stop said what there is to say
	return err
}

// Close ends the listener for good and waits for its callbacks.
func (g *guestTCP) Close() (err error) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	g.closed = true
	if g.server != nil {
		err = g.end()
	}
	g.mu.Unlock()
	g.ending.Wait()
	return err
}

// address is where containers reach this machine as host.docker.internal: the
// bridge's own address where it is this machine's, and loopback where the engine
// is in a virtual machine that forwards to it.
func (g *guestTCP) address(ctx context.Context) (string, error) {
	if hostOS != "linux" {
		return "127.0.0.1", nil
	}
	gateway, err := g.gateway(ctx)
	if err != nil {
		return "", fmt.Errorf("find the engine's bridge: %w", err)
	}
	here := g.here
	if here == nil {
		here = ofThisMachine
	}
	if ip := net.ParseIP(gateway); ip != nil && here(ip) {
		return gateway, nil
	}
	return "127.0.0.1", nil
}

func ofThisMachine(ip net.IP) bool {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// open binds the listener unless it is there; g is locked. An engine that came
// back with another bridge gets another listener.
func (g *guestTCP) open(host string) error {
	if g.closed {
		return errors.New("open guest listener: Loop is closing")
	}
	if g.server != nil {
		if g.host == host {
			return nil
		}
		g.replace()
	}
	st, err := readGuestTCP(g.home)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(st.Port)))
	if err != nil && st.Port != 0 { // somebody took it meanwhile
		g.log.Warn("the guest listener's port is taken; containers of the last start cannot call back", "port", st.Port, "err", err)
		ln, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return core.Fail(core.CodeConfig, err, fmt.Sprintf("guest_transport is tcp, and Loop could not listen on %s, the engine's bridge.", host),
			"Set guest_transport to link, which needs no port.")
	}
	if port := portOf(ln.Addr()); port != st.Port {
		st.Port = port
		if err := writeGuestTCP(g.home, st); err != nil {
			_ = ln.Close()
			return err
		}
	}
	g.host = host
	g.server = guestlink.ServeTCP(ln, guestlink.TCPOptions{Key: core.Secret(st.Key), Callbacks: g.callbacks, Live: g.live, Log: g.log})
	g.log.Info("guest callbacks over tcp", "addr", ln.Addr().String())
	return nil
}

func (g *guestTCP) live(ctx context.Context, id core.RunID) (bool, error) {
	run, err := g.run(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return false, nil
	}
	return run.State == core.RunStarting || run.State == core.RunRunning, err
}

func portOf(a net.Addr) int {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.Port
	}
	return 0
}

// readGuestTCP reads the listener's file. One that cannot be used is replaced: a
// new key only makes the tokens of containers under way worthless.
func readGuestTCP(home string) (guestTCPState, error) {
	path := filepath.Join(home, guestTCPFile)
	var st guestTCPState
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &st)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return st, fmt.Errorf("read the guest listener's key: %w", err)
	}
	if err == nil && len(st.Key) == 64 && st.Port >= 0 && st.Port < 1<<16 {
		return st, nil
	}
	st = guestTCPState{Key: newToken()}
	return st, writeGuestTCP(home, st)
}

func writeGuestTCP(home string, st guestTCPState) error {
	b, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode the guest listener's key: %w", err)
	}
	if err := replaceFile(filepath.Join(home, guestTCPFile), b); err != nil {
		return fmt.Errorf("write the guest listener's key: %w", err)
	}
	return nil
}
