package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"

	"loop/backend/core"
)

const (
	// tryTimeout bounds the attempt on one candidate: a local socket answers a
	// ping in milliseconds, and a person waits for the sum of all candidates.
	tryTimeout = 3 * time.Second
	// statusTimeout bounds the question a page waits for: far above what a busy
	// engine takes to say its version.
	statusTimeout = 5 * time.Second
	// answerTimeout bounds every other call that an engine answers at once. One
	// that builds an image on a slow disk has been seen to take ten seconds to
	// inspect one; one that takes longer than this hangs.
	answerTimeout = 30 * time.Second
	// minAPI is Docker 19.03, the oldest that has what Create uses.
	minAPI = "1.40"
)

// Options say where the engine is looked for.
type Options struct {
	Host string // explicit host (config docker_host); when set nothing else is tried
	// Folder is Loop's own. An engine that sees something else there is refused when
	// it is to make a container. Empty tries nothing.
	Folder string
	Log    *slog.Logger // nil discards
	env    *environment // tests
}

// Docker is a container engine reached through the Docker Engine API. Methods
// may be called from any goroutine. The engine is looked for on the first call
// and, once found, kept; while none was found every call looks again, so an
// engine started after Loop is picked up. Close it when done.
type Docker struct {
	opts Options
	env  *environment
	log  *slog.Logger

	mu      sync.Mutex // guards all below; held during discovery so that it happens once
	cli     *client.Client
	at      candidate
	known   core.EngineTraits
	knownAt string // the version that known is of

	vetted vetted // images that have been looked at
	files  files
	wg     sync.WaitGroup // trials and their clean-up
}

// Open returns a Docker that has not looked for its engine yet.
func Open(opts Options) *Docker {
	return &Docker{opts: opts, env: cmp.Or(opts.env, hostEnvironment()), log: cmp.Or(opts.Log, slog.New(slog.DiscardHandler))}
}

// Close waits for clean-up and drops idle connections. Streams already open stay
// with their owners.
func (d *Docker) Close() error {
	d.wg.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cli == nil {
		return nil
	}
	return d.cli.Close()
}

// Host returns the engine's address and how it was found; empty before the
// first success. The address is fit for DOCKER_HOST.
func (d *Docker) Host() (host, source string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at.host, d.at.source
}

func (d *Docker) client(ctx context.Context) (*client.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cli != nil {
		return d.cli, nil
	}
	cands, err := d.env.candidates(d.opts.Host)
	if err != nil {
		return nil, err
	}
	var tried []attempt
	for _, c := range cands {
		cli, reason := d.try(ctx, c)
		if reason == nil {
			d.log.Info("engine found", "host", c.host, "source", c.source, "api", cli.ClientVersion())
			d.cli, d.at = cli, c
			return cli, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.log.Debug("engine candidate refused", "host", c.host, "source", c.source, "err", reason)
		tried = append(tried, attempt{c, reason})
	}
	return nil, noEngine(d.env, tried)
}

// try opens one candidate and pings it.
func (d *Docker) try(ctx context.Context, c candidate) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	// The client library replaces a dial error by a generic sentence, so the
	// socket is opened by hand first to learn the real reason.
	if path, ok := strings.CutPrefix(c.host, "unix://"); ok {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		_ = conn.Close()
	}
	cli, err := newClient(c)
	if err != nil {
		return nil, err
	}
	ping, err := cli.Ping(ctx)
	switch {
	case err != nil:
	case ping.OSType != "" && ping.OSType != "linux":
		err = errors.New("it runs " + ping.OSType + " containers; Loop needs Linux containers")
	case ping.APIVersion != "" && versions.LessThan(ping.APIVersion, minAPI):
		err = errors.New("it speaks API " + ping.APIVersion + "; Loop needs " + minAPI + " (Docker 19.03) or newer")
	default:
		cli.NegotiateAPIVersionPing(ping)
		return cli, nil
	}
	_ = cli.Close()
	return nil, err
}

func newClient(c candidate) (*client.Client, error) {
	if strings.HasPrefix(c.host, "ssh://") {
		return nil, errors.New("ssh hosts cannot be used, because directories of this machine cannot be mounted there")
	}
	opts := []client.Opt{client.WithVersionFromEnv(), client.WithAPIVersionNegotiation()}
	if c.tls != nil {
		cfg, err := tlsconfig.Client(*c.tls)
		if err != nil {
			return nil, err
		}
		tr := &http.Transport{TLSClientConfig: cfg, MaxIdleConns: 6, IdleConnTimeout: 30 * time.Second} // the client's own figures
		opts = append(opts, client.WithHTTPClient(&http.Client{Transport: tr, CheckRedirect: client.CheckRedirect}))
	}
	return client.NewClientWithOpts(append(opts, client.WithHost(c.host))...) // last: it configures the transport
}

// do has the engine do something, as long as that takes. step completes “could
// not …” in the error.
func (d *Docker) do(ctx context.Context, step string, call func(context.Context, *client.Client) error) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	return failed(step, call(ctx, cli))
}

// ask is do for what an engine answers at once, which answerTimeout bounds.
func (d *Docker) ask(ctx context.Context, step string, call func(context.Context, *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return d.do(ctx, step, call)
}

// Status asks the engine who it is. It never fails: what went wrong is in
// EngineStatus.Failure.
func (d *Docker) Status(ctx context.Context) core.EngineStatus {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return core.EngineStatus{Failure: core.AsFailure(failed("look for the engine", err))}
	}
	host, source := d.Host()
	st := core.EngineStatus{Host: host, Source: source}
	v, err := cli.ServerVersion(ctx)
	if err != nil {
		st.Failure = core.AsFailure(failed("ask the engine's version", err))
		return st
	}
	st.OK, st.Name, st.Version, st.OS, st.Arch = true, "Docker", v.Version, v.Os, v.Arch
	st.APIVersion = cli.ClientVersion()
	for _, c := range v.Components {
		if strings.HasPrefix(c.Name, "Podman") {
			st.Name, st.Version = "Podman", c.Version
		}
	}
	st.Traits = d.traits(ctx, v.Version+" "+v.KernelVersion)
	st.Rootless = st.Traits.Rootless
	return st
}
