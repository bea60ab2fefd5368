package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
)

// colour is one of a terminal's, for both looks or for one.
var colour = regexp.MustCompile(`^((dark|light)\.)?(background|foreground|cursor|selection|` +
	`(bright_)?(black|red|green|yellow|blue|magenta|cyan|white))=#[0-9a-fA-F]{6}$`)

// OwnThemes are the looks that Loop has itself. Any other name is that of an imported theme.
var OwnThemes = []string{"system", "dark", "light", "contrast"}

const maxThemeName = 60

func inRange(f Field, x float64) error {
	low, lowErr := strconv.ParseFloat(f.Min, 64)
	high, highErr := strconv.ParseFloat(f.Max, 64)
	if (lowErr == nil && x < low) || (highErr == nil && x > high) {
		return &wrongError{msg: fmt.Sprintf("must be from %s to %s", f.Min, f.Max)}
	}
	return nil
}

// checkText looks at a text, or at one entry of a list (see wrongError).
func checkText(f Field, s string, entry int) error {
	bad := func(msg, remedy string) error { return &wrongError{msg, remedy, entry} }
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && (f.check != "script" || r != '\n' && r != '\t') }) {
		return bad("contains a control character, such as a line break or a NUL byte", "Remove it.")
	}
	if f.OneOf != nil && !slices.Contains(f.OneOf, s) {
		return bad("must be one of "+strings.TrimPrefix(strings.Join(f.OneOf, ", "), ", "), "") // the empty one is first
	}
	if f.Secret && strings.ContainsFunc(s, unicode.IsSpace) {
		return bad("has spaces in it", "Write the key alone.")
	}
	if s == "" && f.check != "filled" {
		return nil
	}
	switch f.check {
	case "filled":
		if strings.TrimSpace(s) == "" {
			return bad("is empty", "")
		}
	case "theme":
		if utf8.RuneCountInString(s) > maxThemeName {
			return bad(fmt.Sprintf("is longer than %d characters", maxThemeName), "Write the name of a theme.")
		}
	case "word":
		if strings.ContainsFunc(s, unicode.IsSpace) || s[0] == '-' {
			return bad("must be one word that does not begin with “-”", "")
		}
	case "url":
		u, err := url.Parse(s)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
			return bad("must be an http or https address", "Write it like https://api.example.com.")
		}
		if u.User != nil {
			return bad("has a user name or password in it", "Put the credential into anthropic_api_key.")
		}
	case "loopback":
		host, port, err := net.SplitHostPort(s)
		_, perr := strconv.ParseUint(port, 10, 16)
		if err != nil || perr != nil {
			return bad("must be host:port", "Write it like 127.0.0.1:8222.")
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return bad("would let other computers reach Loop", "Use 127.0.0.1 and a port, like 127.0.0.1:8222.")
		}
	case "colour":
		if !colour.MatchString(s) {
			return bad(fmt.Sprintf("has %q, which is no colour of a terminal", core.CleanTitle(s)),
				"Write it like red=#cc0000, or dark.background=#101418 for the dark look alone.")
		}
	case "proxy":
		if strings.ContainsFunc(s, unicode.IsSpace) {
			return bad("must not contain spaces", "Write it like http://proxy.example.com:3128.")
		}
		u, err := url.Parse(s)
		kinds := []string{"http", "https", "socks5", "socks5h"}
		if strings.Contains(s, "://") && (err != nil || u.Hostname() == "" && u.Port() == "" || !slices.Contains(kinds, u.Scheme)) {
			return bad("must be the address of a proxy", "Write it like http://proxy.example.com:3128.")
		}
	case "engine":
		u, err := url.Parse(s)
		if err != nil || !slices.Contains([]string{"unix", "tcp", "npipe", "ssh", "http", "https"}, u.Scheme) {
			return bad("must be the address of a container engine", "Write it like unix:///var/run/docker.sock.")
		}
	default:
		if form, ok := agentForms[f.check]; ok && !form.fits(s) {
			return bad(form.msg, form.remedy)
		}
	}
	return nil
}

// nearest is the known name that differs least from name, if it is near
// enough to be a slip.
func nearest(name string, fields []Field) string {
	if len(name) > 64 {
		return ""
	}
	best, bestDist := "", 1+max(2, len(name)/4)
	for _, f := range fields {
		n := f.Name
		if d := distance(strings.ToLower(name), n); d < bestDist {
			best, bestDist = n, d
		}
	}
	return best
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
