//go:build linux

package supervise

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"ls", "-l", "/a_b@c%d+e=f:g,h.i"}, "ls -l /a_b@c%d+e=f:g,h.i"},
		{[]string{"rm", "-rf", "a b"}, "rm -rf 'a b'"},
		{[]string{"rm", "-rf", "a", "b"}, "rm -rf a b"},
		{[]string{"", ""}, "'' ''"},
		{[]string{"A=b", "A=b"}, "'A=b' A=b"},
		{[]string{"it's", "$HOME", "~", "a\\b", "ä"}, `'it'\''s' '$HOME' '~' 'a\b' 'ä'`},
		{[]string{"a\nb\x1b[2J\x7f1", "\xff'\\\t\r\x00"}, `$'a\nb\e[2J\1771' $'\377\'\\\t\r\000'`},
		{[]string{"\u202egnp", "\ufffd"}, `$'\U0000202egnp' $'` + "\ufffd'"},
	} {
		if got := commandLineOf(c.argv, commandText); got != c.want {
			t.Errorf("%q: got %s, want %s", c.argv, got, c.want)
		}
	}
}

// What is left out is named, and a character is not cut into two.
func TestLongCommandLine(t *testing.T) {
	long := strings.Repeat("x", 12_345)
	for _, c := range []struct {
		argv  []string
		limit int
		want  string
	}{
		{[]string{"ab", "cd"}, 5, "ab cd"},
		{[]string{"ab", "cde"}, 5, "ab cd… (1 bytes more)"},
		{[]string{"ab", "cd", long}, 6, "ab cd … (12,345 bytes more)"},
		{[]string{"ää"}, 4, "'ä… (3 bytes more)"},
		{[]string{"\n" + strings.Repeat("y", 1_234_567)}, 4, `$'\n… (1,234,568 bytes more)`},
	} {
		if got := commandLineOf(c.argv, c.limit); got != c.want {
			t.Errorf("%.20q: got %.80s", c.argv, got)
		}
	}
}

// A shell reads the line as the arguments that it was made of.
func FuzzCommandLine(f *testing.F) {
	f.Add("a b", "c'd\n\x1b\xff")
	f.Add("A=b", "$'x\\")
	f.Fuzz(func(t *testing.T, a, b string) {
		argv := []string{strings.ReplaceAll(a, "\x00", ""), strings.ReplaceAll(b, "\x00", "")}
		line := commandLineOf(argv, 1<<20)
		out, err := exec.Command("/bin/bash", "-c", `printf '%s\0' `+line).Output()
		if got := string(out); err != nil || got != argv[0]+"\x00"+argv[1]+"\x00" {
			t.Errorf("%q became %s, and that %q, %v", argv, line, got, err)
		}
	})
}

func init() {
	acts["longexecs"] = func(args []string) { // many threads that execute with long arguments
		n, _ := strconv.Atoi(args[0])
		one := mustBytes(strings.Repeat("a", 100<<10))
		argv := append(append([]*byte{mustBytes("true")}, slices.Repeat([]*byte{one}, 20)...), nil) // 2 MiB
		var all sync.WaitGroup
		var denied atomic.Int32
		for range n {
			all.Go(func() {
				_, _, e := unix.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(mustBytes("/bin/true"))), uintptr(unsafe.Pointer(&argv[0])), 0)
				if e == unix.EACCES {
					denied.Add(1)
				}
			})
		}
		all.Wait()
		fmt.Println(denied.Load())
	}
	acts["alike"] = func([]string) { // commands that look alike
		_ = os.Mkdir("elsewhere", 0o755)
		for _, c := range []struct {
			dir  string
			argv []string
		}{
			{".", []string{"x", "a b"}}, {".", []string{"x", "a", "b"}}, {"elsewhere", []string{"x", "a b"}}, {".", []string{"x", "a b"}},
			{".", []string{"x", strings.Repeat("a", 20_000)}}, {".", []string{"x", strings.Repeat("a", 19_999) + "b"}},
		} {
			cmd := exec.Cmd{Path: "/bin/true", Args: c.argv, Dir: c.dir}
			fmt.Println(name(cmd.Run()))
		}
	}
	acts["moving"] = func([]string) { // the folder changes while the call is held
		_ = os.Mkdir("elsewhere", 0o755)
		go func() {
			for {
				if _, err := os.Stat("go"); err == nil {
					_ = os.Chdir("elsewhere")
					_ = os.WriteFile("there", nil, 0o644)
					return
				}
			}
		}()
		argv := []*byte{mustBytes("sh"), mustBytes("-c"), mustBytes("echo >ran"), nil}
		_, _, e := unix.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(mustBytes("/bin/sh"))), uintptr(unsafe.Pointer(&argv[0])), 0)
		fmt.Println(name(e))
	}
}

// Calls that wait keep no arguments.
func TestHeldExecsAreSmall(t *testing.T) {
	if !keeper(t) {
		return
	}
	const many = 100
	release := make(chan struct{})
	var asked []wire.Approval
	p := start(t, Options{Judge: &rules{list: []rule{{"exec", "*/true", policy.Approve}}},
		Ask: func(ctx context.Context, a wire.Approval) wire.Answer {
			asked = append(asked, a)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return wire.Deny(1, "no")
		}}, "longexecs", strconv.Itoa(many))
	until(t, func() bool {
		p.desk.mu.Lock()
		defer p.desk.mu.Unlock()
		return p.desk.held == many
	})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	close(release)
	if got := p.wait(t); got != strconv.Itoa(many)+"\n" {
		t.Errorf("got %s", got)
	}
	t.Logf("%d KiB in use, %d KiB from the system", m.HeapAlloc>>10, m.HeapSys>>10)
	if m.HeapAlloc > 8<<20 {
		t.Errorf("%d bytes in use", m.HeapAlloc)
	}
	if len(asked) != 1 || !strings.HasSuffix(asked[0].Target, " bytes more)") {
		t.Errorf("asked %d times", len(asked))
	}
}

// An answer to one command covers no other that looks like it.
func TestAnswerCoversNoOtherCommand(t *testing.T) {
	if !keeper(t) {
		return
	}
	var asked []wire.Approval
	p := start(t, Options{Judge: &rules{list: []rule{{"exec", "*/true", policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			asked = append(asked, a)
			return wire.Answer{ID: 1, Allow: true}
		}}, "alike")
	if got := p.wait(t); got != strings.Repeat("ok\n", 6) || len(asked) != 6 {
		t.Fatalf("got %s, asked %d times", got, len(asked))
	}
	for i, a := range asked {
		for j, b := range asked[:i] {
			if same := i == 3 && j == 0; (a.Act == b.Act) != same || (a.CacheKey == b.CacheKey) != same {
				t.Errorf("%d and %d: %v", j, i, !same)
			}
		}
	}
	if asked[0].Target != "x 'a b'" || asked[1].Target != "x a b" || filepath.Base(asked[2].Details["folder"]) != "elsewhere" {
		raw, _ := json.Marshal(asked[:3])
		t.Errorf("asked %s", raw)
	}
}

// A command that was allowed in one folder does not run in another one.
func TestAllowedCommandStaysInItsFolder(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asked := 0
	p := start(t, Options{Judge: &rules{list: []rule{{"exec", "*sh", policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			if asked++; asked > 1 {
				return wire.Deny(1, "elsewhere")
			}
			asAgent(t, func() { _ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o644) })
			until(t, func() bool { _, err := os.Stat(filepath.Join(dir, "elsewhere/there")); return err == nil })
			return wire.Answer{ID: 1, Allow: true}
		}}, "moving")
	if got := p.wait(t); got != "EACCES\n" || asked != 2 {
		t.Errorf("got %s, asked %d times", got, asked)
	}
}

// Before a program runs, its arguments and its folder are compared with what was asked.
func TestExecutionIsWhatWasAsked(t *testing.T) {
	var exe, here, elsewhere unix.Stat_t
	for path, st := range map[string]*unix.Stat_t{"/proc/self/exe": &exe, ".": &here, "/": &elsewhere} {
		if err := unix.Stat(path, st); err != nil {
			t.Fatal(err)
		}
	}
	own := argumentsOf(os.Args)
	for _, c := range []struct {
		x    execution
		want string
	}{
		{execution{argv: own}, ""},
		{execution{argv: own, folder: &here}, ""},
		{execution{argv: own, folder: &elsewhere}, "it would run in another folder"},
		{execution{argv: argumentsOf(os.Args[1:])}, "the arguments are others"},
		{execution{argv: argumentsOf(append(os.Args[:len(os.Args):len(os.Args)], ""))}, "the arguments are others"},
	} {
		c.x.file = &object{st: exe}
		got := ""
		if err := c.x.check(os.Getpid()); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func init() {
	acts["edited"] = func([]string) { fmt.Println(name(exec.Command("./deploy").Run())) }
}

// A program that is written to while a person looks at the question is asked about anew,
// also where no time says so: a page that is mapped and was written to before.
func TestAllowedProgramIsNotEdited(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "deploy")
	write := func(text string) {
		asAgent(t, func() {
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Error(err)
			}
		})
	}
	write("#!/bin/true\n")
	var page []byte
	mapped := func() {
		asAgent(t, func() {
			fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err == nil {
				page, err = unix.Mmap(fd, 0, 12, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
				_ = unix.Close(fd)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		page[0] = '#'
	}
	for what, edit := range map[string]func(){
		"a write": func() { write("#!/bin/echo\n") }, // as long as before
		"a page": func() {
			copy(page, "#!/bin/date\n")
			if err := unix.Munmap(page); err != nil {
				t.Error(err)
			}
		},
	} {
		if what == "a page" {
			mapped()
		}
		asked := 0
		p := start(t, Options{Judge: &rules{list: []rule{{"exec", path, policy.Approve}}},
			Ask: func(context.Context, wire.Approval) wire.Answer {
				if asked++; asked > 1 {
					return wire.Deny(1, "another one")
				}
				edit()
				return wire.Answer{ID: 1, Allow: true}
			}}, "edited")
		if got := p.wait(t); got != "EACCES\n" || asked != 2 {
			t.Errorf("%s: got %s, asked %d times", what, got, asked)
		}
	}
}
