//go:build linux

package spawn

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loop/backend/wire"
)

const tableHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

// row is one of a table, as a computer with little-endian words shows it.
func row(local, state, inode string) string {
	return "   0: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000  1000        0 " + inode +
		" 1 0000000000000000 100 0 0 10 0\n"
}

func TestListeningReadsTables(t *testing.T) {
	for text, want := range map[string][]listener{
		tableHead:                                                  nil,
		row("0100007F:1F90", "0A", "17"):                           {{8080, 17}},
		row("00000000:0050", "0A", "18"):                           {{80, 18}},
		row(strings.Repeat("0", 32)+":1F90", "0A", "7"):            {{8080, 7}},
		row("00000000000000000000000001000000:1F90", "0A", "8"):    {{8080, 8}}, // [::1]
		row("0000000000000000FFFF00000100007F:1F90", "0A", "9"):    {{8080, 9}}, // ::ffff:127.0.0.1
		row("0200007F:1F90", "0A", "17"):                           nil,         // 127.0.0.2
		row("020011AC:1F90", "0A", "17"):                           nil,         // 172.17.0.2
		row("0100007F:1F90", "01", "17"):                           nil,         // a connection
		row("0100007F:0000", "0A", "17"):                           nil,
		row("0100007F:1F90", "0A", "x"):                            nil,
		row("0100007F:1F90", "0A", "-1"):                           nil,
		row("0100007:1F90", "0A", "17"):                            nil,
		row("0100007F1F90", "0A", "17"):                            nil,
		row("0100007F:11F90", "0A", "17"):                          nil,
		row("+100007F:1F90", "0A", "17"):                           nil,
		strings.TrimSuffix(row("0100007F:1F90", "0A", "17"), "\n"): nil, // cut
		row("0100007F:1F90", "0A", "17")[:60] + "\n":               nil,
		"\n\x00\xff\n" + row("0100007F:1F90", "0A", "17"):          {{8080, 17}},
	} {
		if got := listening([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// FuzzListening: whatever stands in a table, each listener comes from a row of its own.
func FuzzListening(f *testing.F) {
	f.Add([]byte(tableHead + row("0100007F:1F90", "0A", "17")))
	f.Add([]byte(row("0000000000000000FFFF00000100007F:1F90", "0A", "18446744073709551615")))
	f.Fuzz(func(t *testing.T, table []byte) {
		list := listening(table)
		if len(list) > strings.Count(string(table), "\n") || slices.ContainsFunc(list, func(l listener) bool { return l.port == 0 }) {
			t.Fatalf("%v", list)
		}
	})
}

// TestPortsOfSpawns finds what spawns listen on, by the name that their programs have.
func TestPortsOfSpawns(t *testing.T) {
	m := newTable(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(id string, addrs ...string) (ports []uint16) {
		_, err := m.Spawn(t.Context(), id, wire.Spawn{Argv: append([]string{exe, "listen"}, addrs...), Stdio: wire.StdioPipes, OpenStdin: true}, Body{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range strings.Fields(begins(t, m, id)) {
			n, err := strconv.ParseUint(p, 10, 16)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, uint16(n))
		}
		return ports
	}
	one := start("one", "127.0.0.1:0", "0.0.0.0:0")
	two := start("two", "127.0.0.2:0", "127.0.0.1:0")
	for n := 0; slices.Contains(append(slices.Clone(one), two[1]), two[0]); n++ { // another address may have the same port
		two = start(fmt.Sprint("two-", n), "127.0.0.2:0", "127.0.0.1:0")
	}
	find := func() map[uint16]string {
		t.Helper()
		list, err := m.Ports(func(p uint16) bool { return !slices.Contains(slices.Concat(one, two), p) }) // others listen here, too
		if err != nil || len(list) > wire.MaxPorts || !slices.IsSortedFunc(list, func(a, b wire.Port) int { return int(a.Port) - int(b.Port) }) {
			t.Fatalf("%v %v", list, err)
		}
		got := map[uint16]string{}
		for _, p := range list {
			got[p.Port] = p.Process
		}
		return got
	}
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(string(name))
	for range 2 { // the second time from memory
		got := find()
		if got[one[0]] != want || got[one[1]] != want || got[two[1]] != want {
			t.Errorf("%v lacks %v and %v of %q", got, one, two, want)
		}
		if _, is := got[two[0]]; is {
			t.Errorf("%v has what cannot be reached", got)
		}
	}
	if err := m.Kill(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if got := find(); got[one[0]] != "" || got[one[1]] != "" || got[two[1]] != want {
		t.Errorf("%v after the first has ended", got)
	}
}

// listenOn is a program of the test that listens, and prints its ports. It stays until it
// is killed.
func listenOn(addrs ...string) error {
	for _, addr := range addrs {
		ln, err := net.Listen("tcp4", addr)
		if err != nil {
			return err
		}
		defer func() { _ = ln.Close() }()
		fmt.Print(ln.Addr().(*net.TCPAddr).Port, " ")
	}
	fmt.Println()
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
