package egress

import "net/netip"

// special are the blocks that are not, or not surely, somebody's public computer, by the
// registries of IANA: iana-ipv4-special-registry and iana-ipv6-special-registry. In IPv6
// everything outside 2000::/3 is refused as a whole, so that only exceptions within it
// are listed.
var special = []struct {
	block netip.Prefix
	what  string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a provider's own network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this computer"},
	{netip.MustParsePrefix("169.254.0.0/16"), "the local link, where clouds keep their metadata"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a block for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a block for documentation"},
	{netip.MustParsePrefix("192.31.196.0/24"), "a block for protocols"},
	{netip.MustParsePrefix("192.52.193.0/24"), "a block for protocols"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay into IPv6"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network"},
	{netip.MustParsePrefix("192.175.48.0/24"), "a block for protocols"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a block for measurements"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a block for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a block for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a group of computers"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved block"},
	// What clouds answer on at a public-looking address: Azure's host, Alibaba's is within
	// 100.64.0.0/10, Oracle's within 192.0.0.0/24.
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's own service"},

	{netip.MustParsePrefix("2001::/23"), "a block for protocols, such as Teredo"},
	{netip.MustParsePrefix("2001:db8::/32"), "a block for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a tunnel of IPv4 (6to4)"},
	{netip.MustParsePrefix("2620:4f:8000::/48"), "a block for protocols"},
	{netip.MustParsePrefix("3fff::/20"), "a block for documentation"},
}

var (
	global6 = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
)

// forbidden says what an address is that may not be dialed; it is empty for a public one.
func forbidden(a netip.Addr) string {
	if a.Zone() != "" {
		return "an address of one network card"
	}
	a = a.Unmap() // ::ffff:10.0.0.1 is 10.0.0.1
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:])) // a gateway turns it into this one
	}
	if a.Is6() && !global6.Contains(a) {
		if a.IsLoopback() {
			return "this computer"
		}
		return "an address that is not public"
	}
	for _, s := range special {
		if s.block.Contains(a) {
			return s.what
		}
	}
	if !a.IsValid() {
		return "no address"
	}
	return ""
}
