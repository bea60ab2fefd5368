package keytrial

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"loop/backend/core"
)

// PublicAPI is asked where the settings name no other model.
const PublicAPI = "https://api.anthropic.com"

// Limit is how long a trial may take in all.
const Limit = 12 * time.Second

const (
	version     = "2023-06-01"
	oauthBeta   = "oauth-2025-04-20" // the API takes tokens of a subscription with it alone
	smallModel  = "claude-haiku-4-5" // one that is not there says as much of the key
	maxDiscard  = 64 << 10
	maxHeader   = 64 << 10
	connectWait = 8 * time.Second
)

// Outcome is what a trial says of a key.
type Outcome string

const (
	Accepted  Outcome = "accepted"
	Refused   Outcome = "refused"   // 401 or 403
	Unsure    Outcome = "unsure"    // an answer that says nothing of the key
	Unreached Outcome = "unreached" // no answer
)

// Asking is what is tried, and by which way.
type Asking struct {
	Base   string      // empty: PublicAPI
	Key    core.Secret // with Token empty, too: an API that wants none is asked without
	Token  core.Secret // of a subscription; it wins
	Roots  *x509.CertPool
	Proxy  Proxy
	Budget time.Duration // 0: Limit
}

// Proxy has the settings' proxies; what is empty is taken from this computer's environment.
type Proxy struct {
	HTTP, HTTPS string
	Except      []string
}

// Answer is what became of a trial.
type Answer struct {
	Outcome Outcome
	Host    string
	Status  int   // 0 where there was no answer
	Err     error // why there was none; it never holds the key
}

// Try asks. An address that is none is an error; everything else is an Answer, also the end
// of ctx, which is Unreached.
func Try(ctx context.Context, a Asking) (Answer, error) {
	base := strings.TrimSuffix(cmp.Or(a.Base, PublicAPI), "/")
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Answer{}, core.Fail(core.CodeConfig, err, "anthropic_base_url is not an address.", "Use the form https://host/path.")
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(a.Budget, Limit))
	defer cancel()
	transport := a.transport(u.Hostname())
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport,
		// A redirect would carry the key to a host that nobody named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	out := Answer{Host: u.Host}
	status, err := a.ask(ctx, client, http.MethodGet, base+"/v1/models", "")
	if err == nil && status != http.StatusOK && status != http.StatusUnauthorized && status < 500 && status != http.StatusTooManyRequests {
		// A gateway without a list of models; a token that may not read it.
		first := status
		status, err = a.ask(ctx, client, http.MethodPost, base+"/v1/messages/count_tokens",
			`{"model":"`+smallModel+`","messages":[{"role":"user","content":"Hi"}]}`)
		if err == nil && status == http.StatusNotFound && first == http.StatusNotFound {
			out.Status, out.Outcome = first, Unsure // nothing of the Messages API is there
			return out, nil
		}
		if err == nil && (status == http.StatusBadRequest || status == http.StatusNotFound) {
			out.Status, out.Outcome = status, Accepted // it found fault with the model, after the key
			return out, nil
		}
	}
	switch out.Status = status; {
	case err != nil:
		out.Outcome, out.Err = Unreached, a.plain(err)
	case status == http.StatusOK:
		out.Outcome = Accepted
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		out.Outcome = Refused
	default:
		out.Outcome = Unsure
	}
	return out, nil
}

// ask sends one request with the key, and reads no more of the answer than its status.
func (a Asking) ask(ctx context.Context, client *http.Client, method, address, body string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("anthropic-version", version)
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	switch {
	case a.Token != "":
		req.Header.Set("Authorization", "Bearer "+a.Token.Reveal())
		req.Header.Set("anthropic-beta", oauthBeta)
	case a.Key != "":
		req.Header.Set("x-api-key", a.Key.Reveal())
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, res.Body, maxDiscard)
	_ = res.Body.Close()
	return res.StatusCode, nil
}

// plain is an error of the network without the key, should a proxy or a resolver repeat it.
func (a Asking) plain(err error) error {
	text := err.Error()
	for _, secret := range []core.Secret{a.Key, a.Token} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret.Reveal(), "(the key)")
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		text = "no answer in time"
	}
	return errors.New(core.Shortened(text, 400))
}

func (a Asking) transport(host string) *http.Transport {
	d := &net.Dialer{Timeout: connectWait}
	tr := &http.Transport{
		Proxy: a.Proxy.choose, DialContext: d.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: connectWait, MaxResponseHeaderBytes: maxHeader,
		TLSClientConfig: &tls.Config{RootCAs: a.Roots, MinVersion: tls.VersionTLS12},
	}
	if core.ThisComputer(host) { // under whatever name containers have for it
		tr.Proxy = nil
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
			if err != nil {
				if six, serr := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); serr == nil {
					return six, nil
				}
			}
			return conn, err
		}
	}
	return tr
}

// choose is the proxy of a request, as containers have it: the settings' or the environment's.
func (p Proxy) choose(r *http.Request) (*url.URL, error) {
	c := httpproxy.FromEnvironment()
	c.HTTPProxy, c.HTTPSProxy = cmp.Or(p.HTTP, c.HTTPProxy), cmp.Or(p.HTTPS, c.HTTPSProxy)
	c.NoProxy = strings.Join(append(strings.Split(c.NoProxy, ","), p.Except...), ",")
	c.CGI = false
	proxy, err := c.ProxyFunc()(r.URL)
	if err == nil && proxy != nil && core.ThisComputer(proxy.Hostname()) && !core.Loopback(proxy.Hostname()) {
		proxy.Host = net.JoinHostPort("127.0.0.1", cmp.Or(proxy.Port(), "80")) // a name that containers alone know
	}
	return proxy, err
}

// maxRoots bounds one file of certificates.
const maxRoots = 4 << 20

// Roots are the system's certificates and those of further files; read is os.ReadFile, or one
// that says why it leaves a file out. A file that cannot be used is left out.
func Roots(paths []string, read func(string) ([]byte, error)) *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, path := range paths {
		if certs, err := read(path); err == nil {
			pool.AppendCertsFromPEM(certs)
		}
	}
	return pool
}

// ReadPEM reads a file of certificates, as far as one may be large.
func ReadPEM(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no ordinary file: %w", path, err)
	}
	return io.ReadAll(io.LimitReader(f, maxRoots))
}
