//go:build linux

package spawn

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

const (
	// maxSocketTable bounds what is read of one table of sockets, in bytes: a row has 150.
	// The kernel lists those that listen first.
	maxSocketTable = 256 << 10
	// maxNamedFDs bounds the descriptors that one look for names goes through, which take
	// some hundredths of a second. What is not found by then has no name.
	maxNamedFDs = 1 << 13
)

// listener is a socket that listens where the container's own loopback leads to.
type listener struct {
	port  uint16
	inode uint64
}

// portNames are the programs behind sockets, as the look before found them.
type portNames struct {
	mu sync.Mutex
	by map[uint64]string // by inode
}

// Ports are the TCP ports on which programs listen at 127.0.0.1 or [::1], by number and at
// most wire.MaxPorts. Those that skip names are left out. A port's program is what it
// calls itself.
func (tab *Table) Ports(skip func(port uint16) bool) ([]wire.Port, error) {
	var list []listener
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		rows, err := readSockets(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("look for listening ports: %w", err)
		}
		list = append(list, listening(rows)...)
	}
	list = slices.DeleteFunc(list, func(l listener) bool { return skip(l.port) })
	slices.SortFunc(list, func(a, b listener) int { return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.inode, b.inode)) })
	list = slices.CompactFunc(list, func(a, b listener) bool { return a.port == b.port })
	list = list[:min(len(list), wire.MaxPorts)]
	names := tab.names.of(list)
	out := make([]wire.Port, 0, len(list))
	for _, l := range list {
		out = append(out, wire.Port{Port: l.port, Process: names[l.inode]})
	}
	return out, nil
}

func readSockets(table string) ([]byte, error) {
	f, err := os.Open(table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxSocketTable))
}

// stateListen is TCP_LISTEN of the kernel, as its tables have it.
const stateListen = "0A"

// listening reads a table of sockets, of proc_net_tcp.txt. A row that is cut, or is none, is
// passed over.
func listening(table []byte) (out []listener) {
	for row := range bytes.Lines(table) {
		f := strings.Fields(string(row))
		const local, state, inode = 1, 3, 9
		if len(f) <= inode || f[state] != stateListen || row[len(row)-1] != '\n' {
			continue
		}
		at, ok := socketAddress(f[local])
		n, err := strconv.ParseUint(f[inode], 10, 64)
		if ok && err == nil && at.Port() != 0 && onLoopback(at.Addr().Unmap()) {
			out = append(out, listener{at.Port(), n})
		}
	}
	return out
}

// onLoopback reports whether a connection to 127.0.0.1 or [::1] comes to a listener there.
func onLoopback(a netip.Addr) bool {
	return a.IsUnspecified() || a == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || a == netip.IPv6Loopback()
}

// socketAddress reads an address of these tables: words of 32 bits in the computer's order, a
// colon, and the port, all of it in hex.
func socketAddress(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	if !ok || len(host) != 8 && len(host) != 32 || len(port) != 4 {
		return netip.AddrPort{}, false
	}
	var raw []byte
	for i := 0; i < len(host); i += 8 {
		word, err := strconv.ParseUint(host[i:i+8], 16, 32)
		if err != nil {
			return netip.AddrPort{}, false
		}
		raw = binary.NativeEndian.AppendUint32(raw, uint32(word))
	}
	n, err := strconv.ParseUint(port, 16, 16)
	a, is := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(a, uint16(n)), err == nil && is
}

// of names the programs of sockets. It looks at processes only where there is a socket
// that the look before did not have.
func (n *portNames) of(list []listener) map[uint64]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	next, unknown := make(map[uint64]string, len(list)), map[string]uint64{}
	for _, l := range list {
		if name, known := n.by[l.inode]; known {
			next[l.inode] = name
		} else {
			next[l.inode] = ""
			unknown["socket:["+strconv.FormatUint(l.inode, 10)+"]"] = l.inode
		}
	}
	nameSockets(unknown, next)
	n.by = next
	return next
}

// nameSockets finds the programs that have sockets open, by what /proc shows of these.
func nameSockets(unknown map[string]uint64, names map[uint64]string) {
	all, err := pids()
	if len(unknown) == 0 || err != nil {
		return
	}
	seen := 0
	for _, pid := range all {
		p, err := pin(pid)
		if pid == os.Getpid() || err != nil {
			continue
		}
		for _, link := range socketsOf(p, &seen) {
			if inode, is := unknown[link]; is {
				names[inode] = nameOf(p)
				delete(unknown, link)
			}
		}
		_ = p.Close()
		if len(unknown) == 0 || seen >= maxNamedFDs {
			return
		}
	}
}

// socketsOf are what /proc shows of a process's descriptors, as far as there is room for
// more.
func socketsOf(p *os.Root, seen *int) (links []string) {
	dir, err := p.Open("fd")
	if err != nil {
		return nil // gone
	}
	defer func() { _ = dir.Close() }()
	buf := make([]byte, len("socket:[]")+20) // a longer one is no socket
	for *seen < maxNamedFDs {
		names, err := dir.Readdirnames(fdBatch)
		for _, name := range names {
			if k, err := unix.Readlinkat(int(dir.Fd()), name, buf); err == nil && bytes.HasPrefix(buf[:k], []byte("socket:[")) {
				links = append(links, string(buf[:k]))
			}
		}
		*seen += len(names)
		if err != nil || len(names) == 0 {
			break
		}
	}
	return links
}

// nameOf is what a process calls itself, without what does not belong on a screen.
func nameOf(p *os.Root) string {
	name, err := p.ReadFile("comm") // the kernel bounds it
	if err != nil {
		return ""
	}
	name = bytes.TrimSuffix(name, []byte("\n"))
	text := strings.ToValidUTF8(string(name[:min(len(name), wire.MaxProcess)]), "?")
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
