package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

var public = netip.MustParseAddr("93.184.216.34")

// world is a network in memory. It remembers which addresses were dialed.
type world struct {
	mu     sync.Mutex
	dialed []netip.AddrPort
	names  func(host string, nth int) ([]netip.Addr, error)
	looked int
}

func (w *world) options() Options {
	return Options{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.looked++
			return w.names(strings.TrimSuffix(host, "."), w.looked)
		},
		Dial: func(_ context.Context, a netip.AddrPort) (net.Conn, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.dialed = append(w.dialed, a)
			c, other := net.Pipe()
			_ = other.Close()
			return c, nil
		},
		Own: func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("198.100.1.1")}, nil },
	}
}

func is(names ...string) func(string, int) ([]netip.Addr, error) {
	return func(string, int) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, n := range names {
			out = append(out, netip.MustParseAddr(n))
		}
		return out, nil
	}
}

func code(err error) core.Code {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f.Code
	}
	return ""
}

func TestDialRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		host  string
		names func(string, int) ([]netip.Addr, error)
		want  core.Code
	}{
		"a private name":             {"router.example", is("192.168.0.1"), core.CodeForbidden},
		"one private address of two": {"mixed.example", is("93.184.216.34", "10.0.0.1"), core.CodeForbidden},
		"metadata":                   {"169.254.169.254", nil, core.CodeForbidden},
		"metadata, mapped":           {"[::ffff:169.254.169.254]", nil, core.CodeForbidden},
		"metadata by name":           {"metadata.google.internal", is("169.254.169.254"), core.CodeForbidden},
		"this computer, public":      {"198.100.1.1", nil, core.CodeForbidden},
		"this computer by name":      {"home.example", is("::ffff:198.100.1.1"), core.CodeForbidden},
		"a name without addresses":   {"none.example", is(), core.CodeNotFound},
		"odd spelling":               {"0x7f.1", nil, core.CodeInvalid},
		"inside, without one":        {"localhost", nil, core.CodeForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{names: c.names}
			conn, err := New(w.options()).Dial(t.Context(), c.host, 80)
			if conn != nil || code(err) != c.want || len(w.dialed) > 0 {
				t.Errorf("%v %v; dialed %v", conn, err, w.dialed)
			}
			if err != nil && strings.Contains(err.Error(), "192.168.0.1") {
				t.Errorf("says which address it is: %v", err)
			}
		})
	}
	o := (&world{names: is("93.184.216.34")}).options()
	o.Own = func() ([]netip.Addr, error) { return nil, errors.New("no list") }
	if _, err := New(o).Dial(t.Context(), "example.com", 80); code(err) != core.CodeForbidden {
		t.Errorf("without knowing its own addresses: %v", err)
	}
	if _, err := New(o).Dial(t.Context(), "example.com", 0); code(err) != core.CodeInvalid {
		t.Errorf("port 0: %v", err)
	}
}

// TestRebinding: a name that is public when it is checked, and this computer when it is
// resolved again, reaches this computer through a dialer that checks first and dials the
// name then. Ours resolves once.
func TestRebinding(t *testing.T) {
	rebinds := func(_ string, nth int) ([]netip.Addr, error) {
		if nth%2 == 1 {
			return []netip.Addr{public}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	naive := &world{names: rebinds}
	o := naive.options()
	first, _ := o.Lookup(t.Context(), "evil.example")
	if forbidden(first[0]) == "" {
		again, _ := o.Lookup(t.Context(), "evil.example")
		_, _ = o.Dial(t.Context(), netip.AddrPortFrom(again[0], 80))
	}
	if len(naive.dialed) != 1 || !naive.dialed[0].Addr().IsLoopback() {
		t.Fatalf("the control did not reach this computer: %v", naive.dialed)
	}

	w := &world{names: rebinds}
	p := New(w.options())
	for range 100 {
		if c, err := p.Dial(t.Context(), "evil.example", 80); err == nil {
			_ = c.Close()
		}
	}
	if len(w.dialed) != 50 {
		t.Errorf("%d connections of 50", len(w.dialed))
	}
	for _, a := range w.dialed {
		if a.Addr() != public {
			t.Errorf("dialed %s", a)
		}
	}
}

func TestInside(t *testing.T) {
	w := &world{}
	o := w.options()
	var ports []uint16
	o.Inside = func(_ context.Context, port uint16) (net.Conn, error) {
		ports = append(ports, port)
		if port != 8080 {
			return nil, errors.New("refused")
		}
		c, other := net.Pipe()
		_ = other.Close()
		return c, nil
	}
	p := New(o)
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "app.localhost", "preview.api"} {
		c, err := p.Dial(t.Context(), host, 8080)
		if err != nil {
			t.Fatal(host, err)
		}
		_ = c.Close()
	}
	if _, err := p.Dial(t.Context(), "localhost", 9); code(err) != core.CodeNotFound || !strings.Contains(err.Error(), "port 9") {
		t.Error(err)
	}
	if len(ports) != 6 || w.looked > 0 || len(w.dialed) > 0 {
		t.Errorf("asked for %v, looked up %d names, dialed %v", ports, w.looked, w.dialed)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	w := &world{names: is("93.184.216.34")}
	p := New(w.options())
	var open []net.Conn
	for range maxConns {
		c, err := p.Dial(t.Context(), "example.com", 80)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if _, err := p.Dial(t.Context(), "example.com", 80); code(err) != core.CodeTooMany {
		t.Fatal(err)
	}
	for _, c := range open {
		_ = c.Close()
		_ = c.Close() // gives its place back once
	}
	if len(p.conns) != 0 {
		t.Errorf("%d places are not given back", len(p.conns))
	}
}

// TestSitesAreAskedAboutOnce also has an asker give up: the next one asks anew.
func TestSitesAreAskedAboutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{names: is("93.184.216.34")}
		o := w.options()
		var asked atomic.Int32
		answer := make(chan error)
		o.Ask = func(ctx context.Context, host string, port uint16) error {
			asked.Add(1)
			select {
			case err := <-answer:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p := New(o)
		dial := func(ctx context.Context, port uint16) chan error {
			out := make(chan error, 1)
			go func() {
				c, err := p.Dial(ctx, "example.com", port)
				if err == nil {
					_ = c.Close()
				}
				out <- err
			}()
			return out
		}
		first, giveUp := context.WithCancel(t.Context())
		one := dial(first, 443)
		synctest.Wait()
		two, three := dial(t.Context(), 443), dial(t.Context(), 443)
		synctest.Wait()
		giveUp()
		if err := <-one; err == nil {
			t.Error("who gave up was connected")
		}
		synctest.Wait()
		if asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
		answer <- nil
		if err := errors.Join(<-two, <-three, <-dial(t.Context(), 443)); err != nil || asked.Load() != 2 {
			t.Errorf("%v; asked %d times", err, asked.Load())
		}
		other := dial(t.Context(), 8443) // another port is another site
		synctest.Wait()
		answer <- errors.New("denied")
		if err := <-other; err == nil || err.Error() != "denied" {
			t.Error(err)
		}
		again := dial(t.Context(), 8443) // a denial is not remembered here
		synctest.Wait()
		answer <- nil
		if err := <-again; err != nil || asked.Load() != 4 {
			t.Errorf("%v; asked %d times", err, asked.Load())
		}
		// What is refused anyway asks nobody.
		if _, err := p.Dial(t.Context(), "10.0.0.1", 443); code(err) != core.CodeForbidden || asked.Load() != 4 {
			t.Errorf("%v; asked %d times", err, asked.Load())
		}
	})
}
