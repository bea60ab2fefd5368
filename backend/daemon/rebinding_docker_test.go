//go:build docker

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"loop/backend/chrome"
	"loop/backend/core"
	"loop/backend/egress"
	"loop/backend/provision"
	"loop/backend/sidecar"
)

// hostileNames are a name server whose names are public when they are looked up first and
// private from then on, and what is behind both addresses.
type hostileNames struct {
	site string // address of what is served under public addresses

	mu     sync.Mutex
	second map[string]netip.Addr // what a name becomes; others stay public
	looked map[string]int
	byAddr map[netip.Addr]string // the name of each public address: every name has its own
	led    map[string]bool       // names that a connection to their private address came from
}

// publicOf is the address that a name has at first.
func (w *hostileNames) publicOf(name string) netip.Addr {
	for a, n := range w.byAddr {
		if n == name {
			return a
		}
	}
	a := netip.AddrFrom4([4]byte{93, 184, 216, byte(len(w.byAddr) + 1)})
	w.byAddr[a] = name
	return a
}

func (w *hostileNames) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	name := strings.TrimSuffix(host, ".")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked[name]++
	public := w.publicOf(name)
	if private, rebinds := w.second[name]; rebinds && w.looked[name] > 1 {
		return []netip.Addr{private}, nil
	}
	return []netip.Addr{public}, nil
}

// dial connects to the site whatever the address is, and notes what a private one is of.
func (w *hostileNames) dial(ctx context.Context, name string, a netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	if w.byAddr[a.Addr()] == "" {
		w.led[name] = true
	}
	w.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, "tcp", w.site)
}

// checked is the way out that Loop has, in this world.
func (w *hostileNames) checked() *egress.Proxy {
	return egress.New(egress.Options{Lookup: w.lookup, Dial: func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
		w.mu.Lock()
		name := w.byAddr[a.Addr()]
		w.mu.Unlock()
		return w.dial(ctx, name, a)
	}})
}

// careless is one that checks a name's address, and then dials the name, as the dialers of
// most libraries do.
func (w *hostileNames) careless() *egress.Proxy {
	return egress.New(egress.Options{
		Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			addrs, err := w.lookup(ctx, host)
			if err == nil && w.of(addrs[0]) == "" { // only the first of its two lookups is played
				addrs = []netip.Addr{w.public(strings.TrimSuffix(host, "."))}
			}
			return addrs, err
		},
		Dial: func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
			name := w.of(a.Addr())
			again, err := w.lookup(ctx, name+".")
			if err != nil {
				return nil, err
			}
			return w.dial(ctx, name, netip.AddrPortFrom(again[0], a.Port()))
		},
	})
}

func (w *hostileNames) of(a netip.Addr) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byAddr[a]
}

func (w *hostileNames) public(name string) netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.publicOf(name)
}

// otherWayOut starts containers as always, and gives their programs another way out.
type otherWayOut struct {
	*provision.Service
	serve func(context.Context, net.Conn)
}

func (o otherWayOut) Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error) {
	l, err := o.Service.Ensure(ctx, w)
	if err == nil {
		l.Link = &otherIdentity{l.Link, o.serve}
	}
	return l, err
}

type otherIdentity struct {
	core.Link
	serve func(context.Context, net.Conn)
}

func (l *otherIdentity) Admit(id core.SpawnID, who core.Identity) {
	who.Egress = l.serve
	l.Link.Admit(id, who)
}

// TestRebindingInTheBrowser has Chromium in its container look at names that are public when
// they are checked, and private addresses when they are looked up again: through Loop's way
// out, which leads to none of them, and through one that dials by name, which leads to each.
func TestRebindingInTheBrowser(t *testing.T) {
	d, ch := started(t)
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if to := r.URL.Query().Get("url"); r.URL.Path == "/to" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>Site</title><p>%s", r.Host)
	}))
	site.Config.SetKeepAlivesEnabled(false) // each request is a connection, and a lookup, of its own
	site.Start()
	t.Cleanup(site.Close)
	t.Cleanup(func() {
		if err := d.sidecars().Forget(context.WithoutCancel(t.Context()), ch.ID); err != nil {
			t.Error(err)
		}
	})

	over := func(script string) string {
		return `new Promise((r) => { const over = () => r("over"); setTimeout(over, 3000); ` + script + ` })`
	}
	// Each way has a name of its own, which stands for NAME. It is gone twice: once for the
	// public address and once for the other.
	ways := map[string]string{
		"fetch":          over(`fetch("http://NAME/").then(over, over);`),
		"post":           over(`fetch("http://NAME/", {method: "POST", body: "x", mode: "no-cors"}).then(over, over);`),
		"beacon":         over(`navigator.sendBeacon("http://NAME/", "x"); setTimeout(over, 500);`),
		"image":          over(`const e = new Image(); e.onload = e.onerror = over; e.src = "http://NAME/x.png";`),
		"frame":          over(`const e = document.createElement("iframe"); e.onload = over; e.src = "http://NAME/"; document.body.append(e);`),
		"event-source":   over(`const e = new EventSource("http://NAME/"); e.onopen = e.onerror = () => { e.close(); over(); };`),
		"websocket":      over(`const w = new WebSocket("ws://NAME/"); w.onopen = w.onerror = over;`),
		"wss":            over(`const w = new WebSocket("wss://NAME/"); w.onopen = w.onerror = over;`),
		"https":          over(`fetch("https://NAME/").then(over, over);`),
		"fetch-redirect": over(`fetch("http://site.example/to?url=http://NAME/").then(over, over);`),
		"frame-redirect": over(`const e = document.createElement("iframe"); e.onload = over; e.src = "http://site.example/to?url=http://NAME/"; document.body.append(e);`),
		"turn": over(`const c = new RTCPeerConnection({iceServers: [{urls: "turn:NAME:80?transport=tcp", username: "x", credential: "x"}]});
			c.onicegatheringstatechange = () => { if (c.iceGatheringState === "complete") { c.close(); over(); } };
			c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o));`),
		"navigate": "", "navigate-redirect": "", "own-page": "",
	}
	private := []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "172.17.0.1", "100.100.100.200", "0.0.0.0", "::1", "fd00::1", "fe80::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"}
	names := map[string]string{} // by way
	second := map[string]netip.Addr{}
	for i, way := range slices.Sorted(maps.Keys(ways)) {
		names[way] = way + ".example"
		second[way+".example"] = netip.MustParseAddr(private[i%len(private)])
	}

	for _, guarded := range []bool{false, true} { // the control comes first
		w := &hostileNames{
			site: site.Listener.Addr().String(), second: second,
			looked: map[string]int{}, byAddr: map[netip.Addr]string{}, led: map[string]bool{},
		}
		proxy := w.careless()
		if guarded {
			proxy = w.checked()
		}
		func() {
			car, err := sidecar.New(sidecar.Options{
				Install: d.store.InstallID(), Provision: otherWayOut{d.provision, proxy.Serve}, Containers: d.containers, Links: d.links, Volumes: d.engine,
				Channel: d.store.Channel, CPUs: func(core.Channel) (float64, float64) { return 1.5, 1.5 }, Log: slog.New(slog.DiscardHandler),
			}).Start(t.Context(), ch.ID, true)
			if err != nil {
				t.Fatal(err)
			}
			out, in := car.Pipe()
			b, err := chrome.Open(t.Context(), out, in, chrome.Options{})
			if err != nil {
				_ = car.Close()
				t.Fatal(err)
			}
			defer func() {
				if err := car.Close(); err != nil {
					t.Error(err)
				}
				_ = b.Close()
			}()
			act := func(action string, params map[string]any) core.BrowserResult {
				t.Helper()
				raw, err := json.Marshal(params)
				if err != nil {
					t.Fatal(err)
				}
				return b.Do(t.Context(), core.BrowserAction{Action: action, Params: raw})
			}
			open := func(url string) core.BrowserResult { t.Helper(); return act("navigate", map[string]any{"url": url}) }

			// A person's own ways. What has rebound is refused with a sentence.
			for way, url := range map[string]string{"navigate": "http://NAME/", "navigate-redirect": "http://site.example/to?url=http://NAME/"} {
				url = strings.ReplaceAll(url, "NAME", names[way])
				if res := open(url); guarded && res.Error != "" {
					t.Errorf("%s while it is public: %s", way, res.Error)
				}
				if res := open(url); guarded && !strings.Contains(res.Error, "Loop does not connect to") {
					t.Errorf("%s when it has rebound: %+v", way, res)
				}
			}
			// The classic: a page asks its own name again, which no rule of origins is against.
			if res := open("http://" + names["own-page"] + "/"); guarded && res.Error != "" {
				t.Error(res.Error)
			}
			own := act("evaluate", map[string]any{"expression": `fetch("/secret").then(async (r) => r.status + " " + await r.text(), (e) => "" + e)`})
			if got := strings.Contains(own.Result, "200") && strings.Contains(own.Result, "own-page.example"); got == guarded {
				t.Errorf("guarded=%v: a page read this of what its name has become: %+v", guarded, own)
			}
			if res := open("http://site.example/"); res.Error != "" {
				t.Fatal(res.Error)
			}
			for way, script := range ways {
				for range 2 {
					if script == "" {
						break
					}
					if res := act("evaluate", map[string]any{"expression": strings.ReplaceAll(script, "NAME", names[way])}); res.Error != "" || !strings.Contains(res.Result, "over") {
						t.Errorf("%s: %+v", way, res)
					}
				}
			}
		}()
		w.mu.Lock()
		for way, name := range names {
			switch {
			case w.looked[name] < 2:
				t.Errorf("guarded=%v: %s was looked up %d times, so that it never rebound", guarded, way, w.looked[name])
			case guarded && w.led[name]:
				t.Errorf("%s led to %s", way, second[name])
			case !guarded && !w.led[name]:
				t.Errorf("the control of %s led nowhere private", way)
			}
		}
		w.mu.Unlock()
	}
}
