package egress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"loop/backend/core"
)

// Bounds of one way out.
const (
	maxConns    = 256              // at a time; Chromium opens at most 6 to a site and 32 to a proxy by default
	maxAddrs    = 16               // of one name that are looked at
	maxSites    = 4096             // that were asked about and are remembered; then all are asked about again
	dialTimeout = 20 * time.Second // for a name and all its addresses
	tryTimeout  = 6 * time.Second  // for one address
)

// Options of a Proxy.
type Options struct {
	// Lookup resolves a name; nil is the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that was checked; nil is TCP.
	Dial func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
	// Own lists the addresses of this computer, which may be public; nil asks the system.
	Own func() ([]netip.Addr, error)
	// Inside connects to a port in the agent's own container; nil refuses.
	Inside func(ctx context.Context, port uint16) (net.Conn, error)
	// Ask decides about a site before the first connection to it, and may take its time;
	// an error is shown to the program. nil allows. It is called once for a site however
	// many connections wait, and again after an error.
	Ask func(ctx context.Context, host string, port uint16) error
	Log *slog.Logger // nil for none
}

// Proxy is one container's way out. Methods may be called from any goroutine.
type Proxy struct {
	o     Options
	conns chan struct{} // filled by each connection under way

	mu    sync.Mutex
	sites map[string]*site
}

// site is a host and port that was asked about, or is.
type site struct {
	done chan struct{}
	err  error
}

// New returns a Proxy that starts nothing by itself.
func New(o Options) *Proxy {
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr.String())
		}
	}
	if o.Own == nil {
		o.Own = ownAddresses
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Proxy{o: o, conns: make(chan struct{}, maxConns), sites: map[string]*site{}}
}

// Dial connects to a host as it stands in a request. Errors are *core.Failure: forbidden,
// invalid_input, too_many, not_found where the name or the host does not answer, timeout.
// The caller closes the connection.
func (p *Proxy) Dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	if port == 0 {
		return nil, core.Fail(core.CodeInvalid, nil, "The port 0 is none.", "Use a port from 1 to 65535.")
	}
	t, err := parseHost(host)
	if err != nil {
		return nil, err
	}
	select {
	case p.conns <- struct{}{}:
	default:
		return nil, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("There are %d connections at a time already.", maxConns),
			"Close pages, or wait until some have ended.")
	}
	c, err := p.dial(ctx, t, host, port)
	if err != nil {
		<-p.conns
		return nil, err
	}
	return &counted{Conn: c, free: sync.OnceFunc(func() { <-p.conns })}, nil
}

func (p *Proxy) dial(ctx context.Context, t target, host string, port uint16) (net.Conn, error) {
	if t.inside {
		if p.o.Inside == nil {
			return nil, core.Fail(core.CodeForbidden, nil, "There is no container behind “"+cut(host)+"”.",
				"Start what serves the page in the agent's container first.")
		}
		c, err := p.o.Inside(ctx, port)
		if err != nil {
			return nil, core.Fail(core.CodeNotFound, err, fmt.Sprintf("Nothing listens on port %d in the agent's container.", port),
				"Start the server there, and look which port it prints.")
		}
		return c, nil
	}
	if t.addr.IsValid() { // the person is not asked about what would be refused anyway
		if err := p.check(cut(host), t.addr); err != nil {
			return nil, err
		}
	}
	if err := p.ask(ctx, t, port); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addrs := []netip.Addr{t.addr}
	if !t.addr.IsValid() {
		var err error
		if addrs, err = p.resolve(ctx, t.name); err != nil {
			return nil, err
		}
	}
	return p.connect(ctx, cut(host), addrs, port)
}

// resolve looks a name up, once, and checks every address of it. One that may not be
// dialed spoils the name: a site that lists it means to lead somewhere.
func (p *Proxy) resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	addrs, err := p.o.Lookup(ctx, name+".") // the dot keeps the search domains of this computer out
	if err == nil && len(addrs) == 0 {
		err = errors.New("the name has no address")
	}
	if err != nil {
		return nil, core.Fail(core.CodeNotFound, err, fmt.Sprintf("The name %q could not be resolved.", name),
			"Check its spelling, and this computer's connection to the network.")
	}
	addrs = addrs[:min(len(addrs), maxAddrs)]
	for i, a := range addrs {
		addrs[i] = a.Unmap()
		if err := p.check(name, a); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// check refuses an address that is not a public one of another computer. The program does
// not learn which address a private name has.
func (p *Proxy) check(host string, a netip.Addr) error {
	what := forbidden(a)
	if what == "" {
		own, err := p.o.Own()
		if err != nil {
			return core.Fail(core.CodeForbidden, err, "Loop does not know which addresses this computer has, and connects to none.",
				"Look at Loop's log for the cause.")
		}
		if slices.Contains(own, a.Unmap()) {
			what = "this computer"
		}
	}
	if what == "" {
		return nil
	}
	p.o.Log.Info("refused to connect", "host", host, "address", a, "is", what)
	return core.Fail(core.CodeForbidden, nil, fmt.Sprintf("Loop does not connect to %q: it leads to %s.", host, what),
		"Only public sites and the agent's own container (localhost) can be reached from here.")
}

// ask has a site decided about, once. Whoever waits for an answer that its asker has given
// up asks anew.
func (p *Proxy) ask(ctx context.Context, t target, port uint16) error {
	if p.o.Ask == nil {
		return nil
	}
	host := t.name
	if host == "" {
		host = t.addr.Unmap().String()
	}
	key := net.JoinHostPort(host, strconv.Itoa(int(port)))
	for {
		s, first := p.site(key)
		if first {
			err := p.o.Ask(ctx, host, port)
			p.answered(key, s, err)
			return err
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return core.Fail(core.CodeCancelled, context.Cause(ctx), "The connection was given up.", "")
		}
		if !errors.Is(s.err, context.Canceled) {
			return s.err
		}
	}
}

// site finds what is known of a site, or says that the caller is the first to ask.
func (p *Proxy) site(key string) (s *site, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, known := p.sites[key]; known {
		return s, false
	}
	if len(p.sites) >= maxSites {
		clear(p.sites)
	}
	s = &site{done: make(chan struct{})}
	p.sites[key] = s
	return s, true
}

// answered tells those who wait, and forgets an error.
func (p *Proxy) answered(key string, s *site, err error) {
	p.mu.Lock()
	if err != nil && p.sites[key] == s {
		delete(p.sites, key)
	}
	p.mu.Unlock()
	s.err = err
	close(s.done)
}

// connect tries checked addresses in turn.
func (p *Proxy) connect(ctx context.Context, host string, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var errs error
	for _, a := range addrs {
		try, cancel := context.WithTimeout(ctx, tryTimeout)
		c, err := p.o.Dial(try, netip.AddrPortFrom(a, port))
		cancel()
		if err == nil {
			return c, nil
		}
		errs = errors.Join(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, core.Fail(core.CodeTimeout, errs, fmt.Sprintf("%q did not answer on port %d.", host, port), "Try again later.")
	}
	return nil, core.Fail(core.CodeNotFound, errs, fmt.Sprintf("%q takes no connection on port %d.", host, port),
		"Check the address and the port.")
}

// ownAddresses are those of this computer's network cards now.
func ownAddresses() ([]netip.Addr, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list own addresses: %w", err)
	}
	var out []netip.Addr
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, addr.Unmap())
			}
		}
	}
	return out, nil
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	free func()
}

func (c *counted) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// CloseWrite ends one direction where the connection can do that.
func (c *counted) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}
