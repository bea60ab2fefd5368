package core

import (
	"net/netip"
	"slices"
	"strings"
)

// Loopback reports whether a host in an address means the computer it is used on.
func Loopback(host string) bool {
	host = plainHost(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsLoopback() || ip.Unmap().IsUnspecified())
}

// ThisComputer is Loopback, also for the names by which containers know the computer.
func ThisComputer(host string) bool {
	return Loopback(host) || slices.Contains([]string{"host.docker.internal", "gateway.docker.internal"}, plainHost(host))
}

func plainHost(host string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
