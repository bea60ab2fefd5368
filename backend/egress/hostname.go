package egress

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"loop/backend/core"
)

// target is what a host of a request means: the agent's own container, an address, or a
// name to resolve.
type target struct {
	inside bool
	addr   netip.Addr // invalid for a name
	name   string     // lower case, without a dot at the end
}

// maxHost is the longest name in DNS, in bytes.
const maxHost = 253

// parseHost reads a host as it stands in a request: a name, or an address, which has
// brackets where it is IPv6. What another program might read as another address is
// refused: 0x7f.1, 2130706433, 127.1, 017700000001.
func parseHost(host string) (target, error) {
	bad := func(what string) (target, error) {
		return target{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%q is %s.", cut(host), what),
			"Use the name of a site, such as example.com.")
	}
	s := host
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(s, ":") {
			return bad("not a host")
		}
	}
	if len(s) > maxHost+1 {
		return bad("too long for the name of a host")
	}
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Zone() != "" {
			return bad("an address of one network card, which is not public")
		}
		return target{inside: a.Unmap().IsLoopback(), addr: a}, nil
	}
	if s != host {
		return bad("not an address")
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if !plainLabel(l) {
			return bad("not the plain name of a host")
		}
	}
	if last := labels[len(labels)-1]; numeric(last) {
		return bad("an odd spelling of an address")
	}
	return target{inside: insideName(labels), name: s}, nil
}

// insideName reports whether a name means the agent's own container: localhost and what
// is below it, as RFC 6761 has it, and “preview.name”, where name is one label that no
// registry of top-level domains has.
func insideName(labels []string) bool {
	if labels[len(labels)-1] == "localhost" {
		return true
	}
	if len(labels) != 2 || labels[0] != "preview" {
		return false
	}
	_, registered := publicsuffix.PublicSuffix(labels[1])
	return !registered
}

// Inside reports whether a host in the address of a page means the agent's own container.
// An address has no brackets here.
func Inside(host string) bool {
	t, err := parseHost(host)
	return err == nil && t.inside
}

func plainLabel(l string) bool {
	if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	for i := range len(l) {
		if c := l[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// numeric reports whether browsers read a name that ends with this label as an IPv4
// address (URL standard, “ends in a number”).
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// cut bounds what is said of a request.
func cut(s string) string { return s[:min(len(s), 80)] }
