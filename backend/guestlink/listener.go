package guestlink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/wire"
)

// listenerFile is in the Loop folder: the key that tokens are made of and the
// port, so that containers that outlive Loop find it again. A token itself is
// never stored.
const listenerFile = "guest-tcp.json"

type listenerState struct {
	Key  string `json:"key"`
	Port int    `json:"port,omitempty"`
}

// Runs is where a run is looked up; core.ErrNotFound says that there is none.
type Runs interface {
	Run(ctx context.Context, id core.RunID) (core.Run, error)
}

// ListenerOptions of a Listener.
type ListenerOptions struct {
	Home      string // Loop's folder
	Callbacks Callbacks
	Browsers  Browsers // nil: none
	Runs      Runs
	Network   Network // nil where Host is set
	// Host makes it a listener for runs on this computer itself: “127.0.0.1”. It asks no
	// engine then, and serves them the demo's model, too.
	Host      string
	DemoModel http.Handler
	Log       *slog.Logger
}

// file is in the Loop folder.
func (o ListenerOptions) file() string {
	if o.Host != "" {
		return filepath.Join(o.Home, "host-tcp.json")
	}
	return filepath.Join(o.Home, listenerFile)
}

// Listener serves guest callbacks over TCP to the runs whose settings ask for it.
// The port is bound when the first of them asks and closed when none needs it any
// more. Its methods may be called from any goroutine, and with a nil Listener
// they do nothing.
type Listener struct {
	o ListenerOptions
	// here reports whether an address is one of this machine's.
	here func(ip net.IP) bool

	// Callbacks may need mu, so nobody waits for them while holding it.
	mu     sync.Mutex
	closed bool
	server *TCP
	host   string // it is bound to
	ending sync.WaitGroup
}

// NewListener makes a listener that is not bound yet.
func NewListener(o ListenerOptions) *Listener {
	return &Listener{o: o, here: ofThisMachine}
}

// Wish is the part of a run's settings that is about callbacks over TCP.
type Wish struct {
	TCP          bool
	AdvertiseURL string // where containers reach Loop; empty: host.docker.internal
	NoNetwork    bool   // the container has none
	Rootless     bool   // the engine is
}

// Access is what the programs of a run need to call over TCP. Without a URL the
// link carries their calls.
type Access struct {
	URL    string
	Token  core.Secret
	Notice string // why the wish could not be met, for the person
}

// Env are the variables that an agent's programs read for callbacks over TCP.
func (a Access) Env() []core.EnvVar {
	if a.URL == "" {
		return nil
	}
	return []core.EnvVar{
		{Name: "API_URL", Value: a.URL, Lane: "app"},
		{Name: wire.TokenEnv, Value: a.Token.Reveal(), Lane: "app", Secret: true},
	}
}

// Admit makes what the programs of one run need. A run that does not wish for TCP
// gets nothing.
func (l *Listener) Admit(ctx context.Context, from core.Caller, w Wish) (Access, error) {
	if l == nil || from.RunID == "" { // only runs have tokens
		return Access{}, nil
	}
	if !w.TCP {
		l.settle(ctx)
		return Access{}, nil
	}
	if w.NoNetwork {
		return Access{Notice: "guest_transport is tcp, which a container with container_network none cannot use: " +
			"its programs call Loop over the link."}, nil
	}
	if w.Rootless && w.AdvertiseURL == "" {
		return Access{}, core.Fail(core.CodeConfig, nil,
			"guest_transport is tcp, and a rootless engine keeps containers away from this computer's ports.",
			"Set guest_transport to link, which needs no port, or set api_advertise_url to an address that containers reach.")
	}
	host, err := l.address(ctx)
	if err != nil {
		return Access{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(host); err != nil {
		return Access{}, err
	}
	url := strings.TrimSuffix(w.AdvertiseURL, "/")
	switch {
	case l.o.Host != "":
		url = "http://" + l.server.Addr().String()
	case url == "":
		url = "http://host.docker.internal:" + strconv.Itoa(portOf(l.server.Addr()))
	}
	return Access{URL: url, Token: l.server.Grant(ctx, from)}, nil
}

// settle closes a listener that no run needs any more.
func (l *Listener) settle(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server != nil && l.server.Idle(ctx) {
		l.end()
	}
}

// end frees the port at once; Close waits for the callbacks that are under way.
// l is locked, and has a listener.
func (l *Listener) end() {
	s := l.server
	l.server = nil
	s.Stop()
	l.ending.Go(s.Close)
}

// Close ends the listener for good and waits for its callbacks.
func (l *Listener) Close() {
	l.mu.Lock()
	l.closed = true
	if l.server != nil {
		l.end()
	}
	l.mu.Unlock()
	l.ending.Wait()
}

// address is where containers reach this machine as host.docker.internal: the
// bridge's own address where it is this machine's, and loopback where the engine
// is in a virtual machine that forwards to it.
func (l *Listener) address(ctx context.Context) (string, error) {
	if l.o.Host != "" {
		return l.o.Host, nil
	}
	if runtime.GOOS != "linux" {
		return "127.0.0.1", nil
	}
	gateway, err := l.o.Network.GatewayIP(ctx)
	if err != nil {
		return "", fmt.Errorf("find the engine's bridge: %w", err)
	}
	if ip := net.ParseIP(gateway); ip != nil && l.here(ip) {
		return gateway, nil
	}
	return "127.0.0.1", nil
}

func ofThisMachine(ip net.IP) bool {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(list, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// open binds the listener unless it is there; l is locked. An engine that came
// back with another bridge gets another listener.
func (l *Listener) open(host string) error {
	if l.closed {
		return errors.New("open guest listener: Loop is closing")
	}
	if l.server != nil {
		if l.host == host {
			return nil
		}
		l.end()
	}
	st, err := readListener(l.o.file())
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(st.Port)))
	if err != nil && st.Port != 0 { // somebody took it meanwhile
		l.o.Log.Warn("the guest listener's port is taken; containers of the last start cannot call back", "port", st.Port, "err", err)
		ln, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		if l.o.Host != "" {
			return core.Fail(core.CodeConfig, err, "Loop could not listen on "+host+" for runs on this computer itself.",
				"Check what keeps programs from listening there.")
		}
		return core.Fail(core.CodeConfig, err, fmt.Sprintf("guest_transport is tcp, and Loop could not listen on %s, the engine's bridge.", host),
			"Set guest_transport to link, which needs no port.")
	}
	if port := portOf(ln.Addr()); port != st.Port {
		st.Port = port
		if err := writeListener(l.o.file(), st); err != nil {
			_ = ln.Close()
			return err
		}
	}
	l.host = host
	l.server = ServeTCP(ln, TCPOptions{
		Key: core.Secret(st.Key), Callbacks: l.o.Callbacks, Browsers: l.o.Browsers, DemoModel: l.o.DemoModel, Live: l.live, Log: l.o.Log,
	})
	l.o.Log.Info("guest callbacks over tcp", "addr", ln.Addr().String())
	return nil
}

func (l *Listener) live(ctx context.Context, id core.RunID) (bool, error) {
	run, err := l.o.Runs.Run(ctx, id)
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

// readListener reads the listener's file. One that cannot be used is replaced: a
// new key only makes the tokens of containers under way worthless.
func readListener(path string) (listenerState, error) {
	var st listenerState
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &st)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return st, fmt.Errorf("read the guest listener's key: %w", err)
	}
	if err == nil && len(st.Key) == 64 && st.Port >= 0 && st.Port < 1<<16 {
		return st, nil
	}
	st = listenerState{Key: core.NewID() + core.NewID()}
	return st, writeListener(path, st)
}

func writeListener(path string, st listenerState) error {
	b, _ := json.Marshal(st) // always encodes
	if err := atomicfile.Replace(path, b); err != nil {
		return fmt.Errorf("write the guest listener's key: %w", err)
	}
	return nil
}
