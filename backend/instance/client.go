package instance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"loop/backend/core"
)

// Codes of failures that only the asking side knows.
const (
	CodeUnauthorized core.Code = "unauthorized"  // the token is wrong, or no Loop answers there
	CodeLost         core.Code = "instance_lost" // nothing answers there any more
)

// Bounds on what is read, in bytes.
const (
	maxFile   = 64 << 10
	maxAnswer = 64 << 20
	maxDetail = 300 // of an answer that is no Failure
)

// Client calls a running instance. Its methods may be called from any goroutine.
type Client struct {
	Info
	Base *url.URL
	// HTTP speaks to this machine only: no proxy sees the token, and no redirect is
	// followed. The owner of the Client closes its idle connections.
	HTTP *http.Client
}

// NewClient is for the instance that i names, and asks it nothing yet. An address
// that is not this machine's, or a token that no header can carry, is an error.
func NewClient(i Info) (*Client, error) {
	u, err := url.Parse(i.URL)
	if err != nil {
		return nil, fmt.Errorf("read instance address: %w", err)
	}
	ip := net.ParseIP(u.Hostname())
	here := u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
	if !here || i.Token == "" || strings.ContainsAny(i.Token, " ,\r\n") {
		return nil, errors.New("read instance address: not a loopback address with a token")
	}
	return &Client{Info: i, Base: u, HTTP: &http.Client{
		Transport:     &http.Transport{Proxy: nil, MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Call calls a bound method, such as “Runs.Prompt”, and returns its answer as
// JSON. A refusal is the Failure that the instance told; an instance that does not
// answer is a Failure with CodeLost.
func (c *Client) Call(ctx context.Context, method string, args ...any) (json.RawMessage, error) {
	if args == nil {
		args = []any{}
	}
	body, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("encode arguments of %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base.JoinPath("api/call", method).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", method, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, c.Lost(ctx, fmt.Errorf("call %s: %w", method, err))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.Lost(ctx, fmt.Errorf("call %s: %w", method, err))
	case len(data) > maxAnswer:
		return nil, core.Fail(core.CodeInternal, nil, "The running Loop gave an answer that is too long.", "Ask for less at a time.")
	case res.StatusCode != http.StatusOK || !json.Valid(data):
		return nil, Refused(method, res.StatusCode, data)
	}
	return data, nil
}

// Refused is the Failure that an answer holds. An answer without one came from
// another program, or from a Loop that did not let the request in.
func Refused(method string, status int, answer []byte) error {
	var f core.Failure
	if err := json.Unmarshal(answer, &f); err == nil && f.Cause != "" {
		return &f
	}
	answer = answer[:min(len(answer), maxDetail)]
	return core.Fail(CodeUnauthorized, fmt.Errorf("%s: status %d: %s", method, status, strings.ToValidUTF8(string(answer), "")),
		"The running Loop refused the call.", "Close it and start it again; if that does not help, run “loop doctor”.")
}

// Lost says that the instance went away, unless ctx has ended.
func (c *Client) Lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return core.Fail(CodeLost, err, fmt.Sprintf("The running Loop (process %d) went away.", c.PID),
		"Start Loop again: runs that were under way go on or are shown as interrupted.")
}
