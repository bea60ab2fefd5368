package runner

import (
	"testing"

	"loop/backend/runner/transcript"
)

// TestUnreachable has the messages of CLI 2.1.197 when it got no answer at all, and
// whether waiting helps.
func TestUnreachable(t *testing.T) {
	for text, want := range map[string]because{
		"API Error: Can't reach the API server \u2014 check your internet or DNS (ENOTFOUND)":                         becauseBusy,
		"API Error: No internet route \u2014 check your connection or VPN (ENETUNREACH)":                              becauseBusy,
		"API Error: Connection refused \u2014 a firewall or proxy may be blocking it (ConnectionRefused)":             becauseBusy,
		"API Error: Connection dropped (EPIPE)":                                                                       becauseBusy,
		"API Error: Couldn't connect through your proxy (ERR_PROXY_TUNNEL) \u2014 the proxy refused the tunnel":       becauseBusy,
		"API Error: Unable to connect to API. Check your internet connection":                                         becauseBusy,
		"API Error: Connection to the API was lost (ECONNRESET). This is usually temporary \u2014 try again.":         becauseBusy,
		"API Error: Unable to connect to API: Self-signed certificate detected":                                       becauseEnd,
		"API Error: Unable to connect to API: SSL certificate verification failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE).": becauseEnd,
		"API Error: Unable to connect to API: SSL error (EPROTO)":                                                     becauseEnd,
	} {
		if f, why := resultFailure(&transcript.Result{Text: text}, nil, ""); why != want || f.Remedy == "" {
			t.Errorf("%s: %v, %s", text, why, f.Cause)
		}
	}
}
