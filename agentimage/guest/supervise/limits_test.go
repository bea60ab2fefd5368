//go:build linux

package supervise

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/backend/policy"
	"loop/backend/wire"
)

// These tests show what docs/limits.md says of the supervisor. When one of them fails
// because the gate covers more, the page is to be changed with it.

// meanwhile is a judge that does something the n-th time that it is asked about a removal.
type meanwhile struct {
	*rules
	n  int
	do func()
}

func (m *meanwhile) File(op policy.Operation, path string) policy.Verdict {
	if op == policy.Delete {
		if m.n--; m.n == 0 {
			m.do()
		}
	}
	return m.rules.File(op, path)
}

func init() {
	acts["remove"] = func(args []string) { fmt.Println(name(unix.Unlink(args[0]))) }
}

// TestRemovalOfAnotherFile: a file that comes to have the name after the answer is not
// removed by it.
func TestRemovalOfAnotherFile(t *testing.T) {
	if !keeper(t) {
		return
	}
	file := filepath.Join(os.Getenv(dirVar), "file")
	asAgent(t, func() { _ = os.WriteFile(file, []byte("shown"), 0o644) })
	var texts []string
	p := start(t, Options{
		Judge: &meanwhile{&rules{list: []rule{{policy.Delete, file, policy.Approve}}}, 2, func() {
			_ = os.WriteFile(file+".new", []byte("another"), 0o644)
			_ = os.Rename(file+".new", file)
		}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			texts = append(texts, string(a.Before.Text))
			return wire.Answer{ID: 1, Allow: len(texts) == 1}
		},
	}, "remove", file)
	got := p.wait(t)
	data, err := os.ReadFile(file)
	if got != "EACCES\n" || strings.Join(texts, " ") != "shown another" || string(data) != "another" || err != nil {
		t.Errorf("got %q, asked about %q, the file says %q, %v", got, texts, data, err)
	}
}

// TestRemovalIsByName: the kernel has no call that removes a certain file. With one, the
// instant between the last look at a name and its removal could be closed.
func TestRemovalIsByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	for what, err := range map[string]error{
		"an empty path": unix.Unlinkat(fd, "", unix.AT_EMPTY_PATH), "its descriptor": unix.Unlink(descriptorPath(fd)),
	} {
		if err == nil {
			t.Errorf("the kernel removes a file by %s", what)
		}
	}
	if _, err := os.Lstat(file); err != nil {
		t.Error(err)
	}
}

// freeMeanwhile is a judge under which every program may run, which does something when
// that is found out.
type freeMeanwhile struct {
	rules
	do func()
}

func (f *freeMeanwhile) ExecMatters() bool { f.do(); return false }

func init() {
	acts["exchanged"] = func([]string) {
		mem := must(unix.MemfdCreate("code", 0))
		_, _ = unix.Write(mem, must(os.ReadFile("/bin/echo")))
		_ = unix.Dup3(mem, 99, 0)
		_ = os.Symlink("/bin/true", "program")
		fmt.Println(name(unix.Exec("program", []string{"echo", "from memory"}, nil)))
	}
}

// TestProgramInMemoryWithoutRules: where no rule for commands counts, a name that is
// exchanged after it was judged starts even a program that is only in memory.
func TestProgramInMemoryWithoutRules(t *testing.T) {
	if !keeper(t) {
		return
	}
	program := filepath.Join(os.Getenv(dirVar), "program")
	got := trace(t, &freeMeanwhile{do: func() {
		if os.Remove(program) == nil {
			_ = os.Symlink("/proc/self/fd/99", program)
		}
	}}, "exchanged").wait(t)
	if got != "from memory\n" {
		t.Errorf("got %q", got)
	}
}

func init() {
	acts["disguise"] = func(args []string) { // overwrites what it was called with
		old := unsafe.Slice(unsafe.StringData(os.Args[2]), len(os.Args[2]))
		copy(old, "harmless")
		actOpenOne([]string{"asked"})
	}
}

// TestCommandLineIsTheProcesssOwnWord: the command line of a question is what the process
// says, and its program is what the kernel says.
func TestCommandLineIsTheProcesssOwnWord(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	asAgent(t, func() { _ = os.WriteFile(path, nil, 0o644) })
	var who wire.Process
	p := start(t, Options{
		Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			who = a.Processes[0]
			return wire.Deny(1, "seen")
		},
	}, "disguise", "evil-app")
	own, err := os.Executable()
	if got := p.wait(t); got != "EACCES\n" || !strings.HasSuffix(who.Command, " harmless") || who.Exe != own || err != nil {
		t.Errorf("got %q, the question names %+v", got, who)
	}
}

func init() {
	acts["adopt"] = func(args []string) { // as service managers do
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
		acts["shell"](args)
	}
}

// TestOrphanOfAnAgent: a process that had made no call before its agent ended, and that a
// program of the person's then adopts, is the person's.
func TestOrphanOfAnAgent(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	script := `exec 2>/dev/null; cp /bin/sh agent; rm -f go ready; mkfifo go ready; exec 5<>ready 6<>go
./agent -c 'exec 3<>go 4<>ready; echo $$ >pid; : | { echo up >&4; read x <&3; echo x >>secret && echo orphan wrote; echo done >&4; }; :' &
read x <&5; kill -9 $(cat pid); wait; echo >&6; read x <&5; echo over`
	for act, want := range map[string]string{"adopt": "orphan wrote\nover\nended ok\n", "shell": "over\nended ok\n"} {
		got := trace(t, &stacked{files: []string{dir + "/agent"}, stricter: &rules{list: []rule{{"", dir + "/secret", policy.Deny}}}}, act, script).wait(t)
		if got != want {
			t.Errorf("%s: got %q", act, got)
		}
	}
}

func init() {
	acts["own fence"] = func([]string) {
		runtime.LockOSThread()
		f, err := filter.Landlock()
		fmt.Println("fence", f.ABI > 0, name(err))
		fmt.Println("write", name(os.WriteFile("file", nil, 0o644)))
	}
}

// TestOwnFenceDoesNotBindTheSupervisor: what a program forbids itself with Landlock is done
// for it all the same, where the policy lets it pass.
func TestOwnFenceDoesNotBindTheSupervisor(t *testing.T) {
	if !keeper(t) {
		return
	}
	free := launch(t, "none", "own fence")
	free.let(t)
	want := "fence true ok\nwrite EACCES\n"
	if got := free.wait(t); got != want {
		t.Errorf("without a supervisor: %q", got)
	}
	if got := start(t, Options{}, "own fence").wait(t); got != strings.Replace(want, "EACCES", "ok", 1) {
		t.Errorf("got %q", got)
	}
}

// TestNoCoreFile: a crash leaves no file, where the kernel would make one.
func TestNoCoreFile(t *testing.T) {
	if !keeper(t) {
		return
	}
	const script = `exec 2>/dev/null; mkdir crash; cd crash; ulimit -c unlimited; sh -c 'kill -SEGV $$'; ls`
	pattern := strings.TrimSpace(string(must(os.ReadFile("/proc/sys/kernel/core_pattern"))))
	if !strings.HasPrefix(pattern, "|") && !strings.HasPrefix(pattern, "/") {
		free := launch(t, "none", "shell", script)
		free.let(t)
		if got := free.wait(t); !strings.Contains(got, strings.SplitN(pattern, "%", 2)[0]) {
			t.Errorf("without a fence: %q", got)
		}
		asAgent(t, func() { _ = os.RemoveAll(filepath.Join(os.Getenv(dirVar), "crash")) })
	}
	if got := start(t, Options{}, "shell", script).wait(t); got != "ended ok\n" {
		t.Errorf("got %q", got)
	}
}

// TestFileOfTwoNames: a file is judged by the name by which it was found. A second name
// that an agent makes is judged by both.
func TestFileOfTwoNames(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		_ = os.WriteFile(filepath.Join(dir, "closed"), nil, 0o644)
		_ = os.Link(filepath.Join(dir, "closed"), filepath.Join(dir, "second"))
	})
	p := start(t, Options{Judge: &rules{list: []rule{{"", filepath.Join(dir, "closed"), policy.Deny}}}}, "shell",
		`exec 2>/dev/null; ln closed third || echo not linked; echo x >>closed || echo closed; echo x >>second && echo by the second`)
	if got := p.wait(t); got != "not linked\nclosed\nby the second\nended ok\n" {
		t.Errorf("got %q", got)
	}
}

// formats mounts a place where formats of programs are registered, and registers one.
func formats(dir string) error {
	at := filepath.Join(dir, "formats")
	if err := errors.Join(os.Mkdir(at, 0o755), unix.Mount("formats", at, "binfmt_misc", 0, "")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, "register"), []byte(":loop:M::LOOPFORMAT::/bin/echo:"), 0)
}

// TestRegisteredFormat: what the kernel starts by a registered format is another program
// than was judged, and ends before it runs. A namespace of users has formats of its own
// since Linux 6.7; those of the whole computer are left alone.
func TestRegisteredFormat(t *testing.T) {
	if !keeperIn(t, usersVar+"=own") {
		return
	}
	const script = `exec 2>/dev/null; printf 'LOOPFORMAT\n' >program; chmod +x program; ./program ran; echo $?`
	free := launch(t, "none", "shell", script)
	free.let(t)
	if got := free.wait(t); got != "./program ran\n0\nended ok\n" {
		t.Fatalf("without a supervisor: %q", got)
	}
	if got := trace(t, &rules{}, "shell", script).wait(t); got != "137\nended ok\n" {
		t.Errorf("got %q", got)
	}
}

// endsWith is a program that ends with a status, unless it has a loader, which the kernel
// starts instead.
func endsWith(status uint32, loader string) []byte {
	code := map[string][]uint32{
		"amd64": {0x00003cb8, 0x0000bf00 | status<<16, 0x050f0000}, // mov eax, exit; mov edi, status; syscall
		"arm64": {0xd2800000 | status<<5, 0xd2800ba8, 0xd4000001},  // mov x0, status; mov x8, exit; svc 0
	}[runtime.GOARCH]
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	const head, at = 64, 0x200
	size := uint64(at + 4*len(code))
	var out bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Entry: at, Phoff: head, Ehsize: head, Phentsize: 56, Phnum: 1}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	parts := []elf.Prog64{{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: size, Memsz: size, Align: 0x1000}}
	if loader != "" {
		h.Phnum = 2
		parts = append([]elf.Prog64{{Type: uint32(elf.PT_INTERP), Off: 0x100, Filesz: uint64(len(loader)) + 1}}, parts...)
	}
	_ = binary.Write(&out, binary.LittleEndian, h)
	_ = binary.Write(&out, binary.LittleEndian, parts)
	file := append(out.Bytes(), make([]byte, at-out.Len())...)
	copy(file[0x100:], loader)
	return append(file, must(binary.Append(nil, binary.LittleEndian, code))...)
}

// TestLoaderIsNotJudged: a program that names another one as its loader starts that.
func TestLoaderIsNotJudged(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	closed := filepath.Join(dir, "closed")
	asAgent(t, func() {
		_ = os.WriteFile(closed, endsWith(42, ""), 0o755)
		_ = os.WriteFile(filepath.Join(dir, "loaded"), endsWith(7, closed), 0o755)
	})
	got := trace(t, &rules{list: []rule{{"exec", closed, policy.Deny}}}, "shell", `exec 2>/dev/null; ./closed; echo $?; ./loaded; echo $?`).wait(t)
	if got != "126\n42\nended ok\n" {
		t.Errorf("got %q", got)
	}
}
