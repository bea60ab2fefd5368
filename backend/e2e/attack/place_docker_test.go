//go:build docker

package main_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/policy"
)

// place is the folder of one attack, on this computer and in the container.
type place struct {
	b         *box
	host      string
	inside    string
	secret    string // what only the closed files hold
	before    map[string]string
	connected atomic.Int32 // connections to the closed socket
}

// closed are the parts that no attack may change. What is approved lies in mid.
var closed = []string{"deny", "ask", "bin", "box/inner", ".git/config", "deny.sock"}

// place lays a new folder out.
func (b *box) place(tb testing.TB) *place {
	tb.Helper()
	b.made++
	name := fmt.Sprintf("p%d", b.made)
	p := &place{b: b, host: filepath.Join(b.places, name), inside: "/arena/" + name, secret: "SECRET " + core.NewID()}
	check := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, dir := range []string{"", "deny", "deny/sub", "dent", "ask", "mid", "mid/sub", ".git", "box", "box/inner", "open", "ran", "bin", "tight", "root"} {
		check(os.Mkdir(filepath.Join(p.host, dir), 0o755))
	}
	free := strings.Repeat("GOOD ", 8) + "\n"
	for file, text := range map[string]string{
		"deny/secret": p.secret, "dent/secret": free, "ask/file": "as it was before anybody asked\n", ".git/config": "[core]\n", ".git/good": free,
		"box/inner/secret": p.secret, "open/good": free, "mid/sub/secret": "mid\n", "tight/file": free, "tight/filf": "",
	} {
		check(os.WriteFile(filepath.Join(p.host, file), []byte(text), 0o644))
	}
	for file, program := range map[string]string{"bin/denied": "touch", "bin/denief": "true", "bin/askrun": "touch", "open/setuid": "touch"} {
		check(copyFile(filepath.Join(b.places, "programs", program), filepath.Join(p.host, file), 0o755))
	}
	check(unix.Setxattr(filepath.Join(p.host, "deny/secret"), "user.there", []byte("1"), 0))
	check(unix.Setxattr(filepath.Join(p.host, "ask/file"), "user.there", []byte("1"), 0))
	p.listen(tb)
	check(filepath.WalkDir(p.host, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			b.own(tb, path)
		}
		return err
	}))
	if os.Getuid() == 0 { // a program that would run as root, and a folder that only its owner enters
		check(os.Lchown(filepath.Join(p.host, "open/setuid"), 1234, 1234))
		check(os.Chmod(filepath.Join(p.host, "open/setuid"), 0o755|fs.ModeSetuid))
		check(os.Lchown(filepath.Join(p.host, "root"), 1234, 1234))
		check(os.Chmod(filepath.Join(p.host, "root"), 0o700)) //nolint:gosec // a folder
	}
	p.before = p.look(tb)
	return p
}

// listen answers at the closed socket from outside of the container.
func (p *place) listen(tb testing.TB) {
	// The path would be too long for an address.
	dir, err := os.Open(p.host)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/deny.sock", dir.Fd()))
	_ = dir.Close()
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.connected.Add(1)
			_ = c.Close()
		}
	}()
	tb.Cleanup(func() { _ = l.Close(); <-done })
}

// look describes every closed file: name, inode, mode, owner, times, attributes, text.
func (p *place) look(tb testing.TB) map[string]string {
	tb.Helper()
	seen := make(map[string]string)
	for _, part := range closed {
		root := filepath.Join(p.host, part)
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(p.host, path)
			if err != nil {
				seen[rel] = "gone"
				return nil //nolint:nilerr // which is what is told
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			st, _ := info.Sys().(*syscall.Stat_t)
			attrs := make([]byte, 4096)
			n, _ := unix.Llistxattr(path, attrs)
			text := ""
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				text = string(data[:min(len(data), 256)])
			}
			seen[rel] = fmt.Sprintf("inode %d, %v, %d:%d, %d links, %d bytes, %v, attributes %q, %q", st.Ino, info.Mode(), st.Uid, st.Gid,
				map[bool]uint64{true: 0, false: uint64(st.Nlink)}[info.IsDir()], info.Size(), info.ModTime().UnixNano(), attrs[:max(n, 0)], text)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return seen
}

const secretRead = "the secret was read"

// broken says what happened that must not: by what is on the disk, who was connected
// to, and whether the secret came back.
func (p *place) broken(tb testing.TB, output string) []string {
	tb.Helper()
	var out []string
	after := p.look(tb)
	for name, was := range p.before {
		if after[name] != was {
			out = append(out, fmt.Sprintf("%s was %s, is %s", name, was, after[name]))
		}
	}
	for name, is := range after {
		if _, known := p.before[name]; !known {
			out = append(out, fmt.Sprintf("%q was made: %s", name, is))
		}
	}
	if strings.Contains(output, p.secret) {
		out = append(out, secretRead)
	}
	for _, marker := range []string{"ran/marker", "root/marker"} {
		if _, err := os.Lstat(filepath.Join(p.host, marker)); err == nil {
			out = append(out, marker+": the forbidden program ran")
		}
	}
	if n := p.connected.Load(); n > 0 {
		out = append(out, fmt.Sprintf("%d connections to the closed socket", n))
	}
	slices.Sort(out)
	return out
}

// changes are the operations of a rule about changing.
var changes = []policy.Operation{policy.Write, policy.Create, policy.Delete, policy.Chmod, policy.Chown, policy.Link}

// rules is the policy of the attacks: what is closed, what is asked, and the rest is
// free. With reads, closed files may not be read either, and Loop's own rules for agents
// stand above, as they do for every run.
func rules(tb testing.TB, reads bool) []byte {
	tb.Helper()
	p := places(reads)
	if !reads {
		return p.Encode()
	}
	shipped, err := policy.Baseline(policy.NameAgent, policy.Place{Home: "/tmp/home"})
	if err != nil {
		tb.Fatal(err)
	}
	p.Name = ""
	shipped.Tighten = []policy.Policy{p}
	return shipped.Encode()
}

func places(reads bool) policy.Policy {
	ops := changes
	if reads {
		ops = nil // every operation
	}
	return policy.Policy{
		Name: "agent", DefaultDecision: policy.Allow,
		FileRules: []policy.FileRule{
			{ID: "closed", Decision: policy.Deny, Operations: ops,
				Paths: []string{"/arena/*/deny", "/arena/*/deny/**", "/arena/*/box/inner/**", "/arena/*/bin/denied", "/arena/*/deny.sock"}},
			{ID: "config", Decision: policy.Deny, Operations: changes, Paths: []string{"/arena/*/.git/config", "/arena/*/bin/**"}},
			{ID: "asked", Decision: policy.Approve, Operations: changes, Category: policy.Startup, Paths: []string{"/arena/*/ask/**", "/arena/*/mid/**"}},
		},
		PathRules: []policy.PathRule{{ID: "socket", Decision: policy.Deny, Pattern: "/arena/*/deny.sock", Category: policy.Socket}},
		CommandRules: []policy.CommandRule{
			{ID: "program", Decision: policy.Deny, Commands: []string{"denied"}},
			{ID: "asked-program", Decision: policy.Approve, Commands: []string{"askrun", "askscript"}},
		},
	}
}
