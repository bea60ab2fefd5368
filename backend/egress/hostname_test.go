package egress

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "name", "EXAMPLE.com.": "name", "a_b.example.com": "name", "xn--bcher-kva.example": "name",
		"intranet": "name", "preview.example.com": "name", "preview.dev": "name", "preview.com": "name", "x.preview": "name",
		"localhost": "inside", "LOCALHOST": "inside", "app.localhost": "inside", "a.b.localhost.": "inside",
		"127.0.0.1": "inside", "127.9.8.7": "inside", "[::1]": "inside", "::1": "inside", "[::ffff:127.0.0.1]": "inside",
		"preview.api-server": "inside", "Preview.API-server": "inside",
		"93.184.216.34": "addr", "[2606:4700::1111]": "addr", "10.0.0.1": "addr",
		"": "bad", ".": "bad", "..": "bad", "a..b": "bad", "-a.com": "bad", "a-.com": "bad", "[example.com]": "bad", "[127.0.0.1]": "bad",
		"[::1": "bad", "::1]": "bad", "[fe80::1%eth0]": "bad", "fe80::1%25eth0": "bad",
		"0x7f.1": "bad", "127.1": "bad", "2130706433": "bad", "0x7f000001": "bad", "017700000001": "bad", "127.0.0.01": "bad",
		"a.1": "bad", "example.0x": "bad", "1.2.3.4.5": "bad", "127.0.0.1.": "bad",
		"exa mple.com": "bad", "example.com\x00": "bad", "example.com/x": "bad", "a@b.com": "bad", "%6c%6f": "bad", "bücher.example": "bad",
		"ⓛocalhost": "bad", "localhost%00.example.com": "bad", "127。0。0。1": "bad",
		strings.Repeat("a", 64) + ".com": "bad", strings.Repeat("abcd.", 51) + "com": "bad",
	} {
		got := "bad"
		if p, err := parseHost(host); err == nil {
			switch {
			case p.inside:
				got = "inside"
			case p.addr.IsValid():
				got = "addr"
			default:
				got = "name"
			}
		}
		if got != want {
			t.Errorf("%q is %s, not %s", host, got, want)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"example.com", "[::1]", "0x7f.1", "a.localhost.", "preview.x", "[fe80::1%1]", "1.1.1.1", strings.Repeat("a.", 130)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parseHost(s)
		if err != nil || p.inside {
			return
		}
		if p.addr.IsValid() {
			if p.addr.IsLoopback() || p.addr.Zone() != "" {
				t.Errorf("%q is the address %s", s, p.addr)
			}
			return
		}
		if _, err := netip.ParseAddr(p.name); err == nil || len(p.name) > maxHost || p.name != strings.ToLower(p.name) ||
			strings.ContainsAny(p.name, " %/\\@:?#[]\x00") || strings.HasSuffix(p.name, "localhost") && strings.HasSuffix("."+p.name, ".localhost") {
			t.Errorf("%q is the name %q", s, p.name)
		}
	})
}

func TestForbidden(t *testing.T) {
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255",
		"168.63.129.16", "::", "::1", "::7f00:1", "::ffff:10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:db8::1", "2002:a00:1::", "2002:7f00:1::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "3fff::1", "4000::1",
	} {
		if forbidden(netip.MustParseAddr(s)) == "" {
			t.Errorf("%s may be dialed", s)
		}
	}
	for _, s := range []string{"93.184.216.34", "1.1.1.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1",
		"2606:4700:4700::1111", "2a00:1450::1", "2400::1"} {
		if what := forbidden(netip.MustParseAddr(s)); what != "" {
			t.Errorf("%s may not be dialed: it is %s", s, what)
		}
	}
	if forbidden(netip.Addr{}) == "" || forbidden(netip.MustParseAddr("2606:4700::1%eth0")) == "" {
		t.Error("no address, or one of a network card, may be dialed")
	}
}
