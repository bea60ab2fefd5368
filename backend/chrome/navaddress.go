package chrome

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"loop/backend/core"
)

const maxAddress = 8 << 10 // bytes of an address that is navigated to

// hostPort looks like a name with a port, which url.Parse would take for a scheme.
var hostPort = regexp.MustCompile(`^[A-Za-z0-9._-]+:[0-9]{1,5}([/?#]|$)`)

// portAlone is a port of the agent's own container, as people write it: 8080, :8080/login.
var portAlone = regexp.MustCompile(`^:?([0-9]{1,5}(?:[/?#].*)?)$`)

// noHost are schemes that with a number look like a name with a port.
var noHost = regexp.MustCompile(`^(?i:javascript|data|file|chrome|view-source|blob|about|filesystem|devtools|ftp|ws|wss|mailto):`)

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// navAddress makes an address that may be navigated to out of what was given. Errors are
// *core.Failure.
func navAddress(given string) (string, error) {
	s := strings.TrimSpace(given)
	switch {
	case s == "":
		return "", core.Fail(core.CodeInvalid, nil, "The address is empty.", "Give an http or https address.")
	case len(s) > maxAddress:
		return "", core.Fail(core.CodeInvalid, nil, "The address is longer than 8 KiB.", "Give a shorter one.")
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", core.Fail(core.CodeInvalid, nil, "The address has control characters.", "Give an http or https address.")
	case strings.EqualFold(s, "about:blank"):
		return "about:blank", nil
	}
	s = portAlone.ReplaceAllString(s, "localhost:$1")
	if hostPort.MatchString(s) && !noHost.MatchString(s) || strings.HasPrefix(s, "[") || !scheme.MatchString(s) {
		s = strings.TrimLeft(s, "/")
		s = plainScheme(s) + "://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", core.Fail(core.CodeInvalid, err, "“"+clip(given, 200)+"” is not an address.", "Give an http or https address.")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", core.Fail(core.CodeForbidden, nil, "Addresses that begin with “"+clip(u.Scheme, 40)+":” are not opened in this browser.",
			"Only http, https and about:blank are; serve a file over http to see it.")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", core.Fail(core.CodeInvalid, err, "There is no port "+clip(port, 20)+".", "Ports are from 1 to 65535.")
		}
	}
	if u.Hostname() == "" {
		return "", core.Fail(core.CodeInvalid, nil, "The address “"+clip(given, 200)+"” names no host.", "Give an http or https address.")
	}
	return u.String(), nil
}

// plainScheme is http for the names of the agent's own container, and https for others.
func plainScheme(rest string) string {
	host, _, _ := strings.Cut(rest, "/")
	u, err := url.Parse("http://" + host)
	if err != nil {
		return "https"
	}
	if ownHost(u.Hostname()) || strings.HasPrefix(strings.ToLower(u.Hostname()), "preview.") {
		return "http"
	}
	return "https"
}

// ownHost reports whether a name is one of the agent's own container.
func ownHost(name string) bool {
	name = strings.ToLower(name)
	return name == "localhost" || name == "127.0.0.1" || name == "::1" || strings.HasSuffix(name, ".localhost") || name == "preview"
}

// netWords say what Chromium's errors of the network mean.
var netWords = []struct{ code, words, remedy string }{
	{"ERR_CONNECTION_REFUSED", "Nothing answers at %s (connection refused).", "Start the server there, or check the port."},
	{"ERR_NAME_NOT_RESOLVED", "The name in %s could not be resolved.", "Check its spelling."},
	{"ERR_CONNECTION_TIMED_OUT", "%s did not answer in time.", "Check that it runs, and try again."},
	{"ERR_TIMED_OUT", "%s did not answer in time.", "Check that it runs, and try again."},
	{"ERR_CONNECTION_RESET", "%s broke the connection off.", "Look at the server's log."},
	{"ERR_CONNECTION_CLOSED", "%s closed the connection without an answer.", "Look at the server's log."},
	{"ERR_EMPTY_RESPONSE", "%s closed the connection without an answer.", "Look at the server's log."},
	{"ERR_SSL", "%s does not speak TLS as https needs it.", "Try http:// if it is a server of your own."},
	{"ERR_CERT", "The certificate of %s is not trusted.", "Use http:// for a server of your own."},
	{"ERR_TUNNEL_CONNECTION_FAILED",
		"%s could not be reached through Loop's proxy: it is private, does not exist, or was not allowed.",
		"Only public sites and the agent's own container can be reached."},
	{"ERR_PROXY_CONNECTION_FAILED", "Loop's proxy does not answer, so %s cannot be reached.", "Try again in a moment."},
	{"ERR_INTERNET_DISCONNECTED", "The browser has no network, so %s cannot be reached.",
		"The person may have set it offline in the browser's pane; ask them."},
	{"ERR_TOO_MANY_REDIRECTS", "%s redirects without end.", "Look at the server's redirects."},
	{"ERR_UNSAFE_PORT", "The port in %s is one that browsers refuse.", "Serve on another port, such as 8080."},
	{"ERR_BLOCKED", "The browser blocked %s.", "Open another address."},
	{"ERR_INVALID_AUTH_CREDENTIALS", "%s wants a name and a password (HTTP 401).",
		"Put them into the address, as in http://name:password@host/, or log in by the site's own page."},
	{"ERR_HTTP_RESPONSE_CODE_FAILURE", "%s answered with an HTTP error and an empty page.",
		"read_network_requests has its number; look at the server's log."},
	{"ERR_ABORTED", "Loading %s was broken off: it was stopped, is a download, or gave no page (204).",
		"Try again; fetch files with a command instead."},
	{"ERR_INVALID_RESPONSE", "%s answered with something that is not HTTP.", "Check the port."},
	{"ERR_INVALID_HTTP_RESPONSE", "%s answered with something that is not HTTP.", "Check the port."},
}

// netFailure is what a net error of Chromium means for an address.
func netFailure(address, code string) *core.Failure {
	for _, w := range netWords {
		if strings.Contains(code, w.code) {
			return core.Fail(core.CodeNotFound, nil, strings.Replace(w.words, "%s", clip(address, 300), 1), w.remedy)
		}
	}
	return core.Fail(core.CodeNotFound, nil, clip(address, 300)+" could not be opened ("+clip(code, 100)+").", "Check the address.")
}
