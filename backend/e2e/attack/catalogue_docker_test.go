//go:build docker

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const readsPass = "the policy lets every file be read, so that a forbidden program can be copied"

// ungated: what a program of the person's shell makes is closed to agents, which
// agentimage/guest/supervise tests (TestActingThroughOthers).
const ungated = "the other program has no policy; a container of the gate starts none like that"

// corpus lists the attacks. The ids A, B and E are those of Loop's catalogue of attacks
// on the gate; X are more.
func corpus() []entry {
	race := [2]int{2000, 100_000}
	list := []entry{
		{id: "A1", what: "a thread changes the path of an open for reading", rounds: race},
		{id: "A1-write", what: "a thread changes the path of an open for writing", rounds: race},
		{id: "A2-plain", what: "a program that may not run"},
		{id: "A2", what: "a thread changes the path of an exec", rounds: [2]int{300, 20_000}},
		{id: "A3", what: "an argument changes after the command was approved", allows: true, broken: markerOnly},
		{id: "A4", what: "io_uring opens, renames and connects"},
		{id: "A5", what: "open by int 0x80", absent: "this kernel has no calls of 32-bit programs"},
		{id: "A6", what: "open by a number of x32", free: "this kernel has no x32"},
		{id: "A7", what: "openat2 with every way to resolve"},
		{id: "A8", what: "a forbidden program copied into memory"},
		{id: "A9", what: "/proc/self/fd, /dev/fd and links to them"},
		{id: "A10", what: "the dynamic linker runs a forbidden program"},
		{id: "A11", what: "copies, links and renames of a forbidden program", writes: readsPass},
		{id: "A12", what: "links, “..”, “//”, relative names, trailing dots"},
		{id: "A13", what: "a script whose interpreter may not run"},
		{id: "A13-swap", what: "a script names another interpreter after it was approved", allows: true, broken: markerOnly},
		{id: "A14", what: "ptrace of a program without a gate", neighbour: "hold", memory: true},
		{id: "A15", what: "process_vm_writev into a program without a gate", neighbour: "hold", memory: true},
		{id: "A16", what: "/proc/PID/mem of a program without a gate", neighbour: "hold", memory: true},
		{id: "A17", what: "a listener of its own, which lets every call go on"},
		{id: "A18", what: "filters of its own, without a listener"},
		{id: "A19", what: "a process with the same memory changes the path", rounds: race},
		{id: "A20", what: "paths that end where no memory is", free: "there is nothing to gain", must: map[string]int{"alive": 1}},
		{id: "A21", what: "names with newlines, bidi, bad UTF-8; 4,096 bytes", must: map[string]int{"free": 9}},
		{id: "A22", what: "the folder is swapped for a link before the answer", allows: true, swap: swapFolder},
		{id: "A23", what: "hard links to closed files"},
		{id: "A24", what: "reopens a descriptor for writing by every name"},
		{id: "A25", what: "takes a descriptor from a program without a gate", neighbour: "serve", limit: ungated, writes: ungated},
		{id: "A26", what: "a program with the set-user-id bit", free: "no_new_privs"},
		{id: "A27", what: "every call that takes a path"},
		{id: "A28", what: "/proc/self is the caller's own", free: "nothing is attacked", succeeded: []string{"other"}, must: map[string]int{"own": 12}},
		{id: "A29", what: "namespaces", free: "the engine's profile refuses them", succeeded: []string{"left"}},
		{id: "A30", what: "signals, traces and slows Loop's own processes", free: "they have another uid", succeeded: []string{"succeeded"}},

		{id: "X1", what: "a race between two files of one folder: a free one and .git/config", rounds: race},
		{id: "X3", what: "a race of a link in the path", rounds: race},
		{id: "X4", what: "a race of an exchanged folder", rounds: race},
		{id: "X5", what: "openat2 RESOLVE_IN_ROOT with links that are absolute there"},
		{id: "X6", what: "descriptors and working folders in the closed folder"},
		{id: "X7", what: "roots and working folders in /proc"},
		{id: "X8", what: "shells, find, env, perl and git run a forbidden program"},
		{id: "X9", what: "programs that are told that there is no gate"},
		{id: "X10", what: "descriptors of a program without a gate in /proc, pidfd_getfd", neighbour: "hold"},
		{id: "X11", what: "ptrace and process_vm of its own child", succeeded: []string{"traced", "read", "written", "opened mem"}},
		{id: "X12", what: "PR_SET_MM, and hides its memory by PR_SET_DUMPABLE", succeeded: []string{"forged"}},
		{id: "X13", what: "O_TMPFILE, then linkat"},
		{id: "X14", what: "renameat2 with every flag"},
		{id: "X15", what: "renames folders above closed files"},
		{id: "X16", what: "case and other variants of .git/config, and its lock renamed"},
		{id: "X17", what: "an O_PATH descriptor sent to itself"},
		{id: "X18", what: "writes to a file while its rename is approved", allows: true, broken: evilText},
		{id: "X19", what: "the same by memory that is the file", allows: true, broken: evilText},
		{id: "X32", what: "writes to the file once the approved rename is done", allows: true, swap: pause, broken: approvedText},
		{id: "X20", what: "open_by_handle_at", free: "it needs CAP_DAC_READ_SEARCH"},
		{id: "X21", what: "fchmod, fchown, fsetxattr, utimensat of a read-only descriptor"},
		{id: "X22", what: "copies, clones and flags of a read-only descriptor", free: "the kernel looks at the descriptor"},
		{id: "X23", what: "the folder of a new file is swapped before the answer", allows: true, swap: swapFolder},
		{id: "X24", what: "userfaultfd, FUSE, and a path in a file that shrinks", free: "they are closed to the agent", succeeded: []string{"stalls"}, must: map[string]int{"alive": 1}},
		{id: "X25", what: "connects to a closed socket by every spelling"},
		{id: "X26", what: "has a shell without a gate act for it (tmux), by path and abstract", neighbour: "serve", limit: ungated, writes: ungated},
		{id: "X27", what: "datagrams to a program without a gate", neighbour: "serve"},
		{id: "X28", what: "binds sockets to closed names"},
		{id: "X29", what: "types into its terminal (TIOCSTI)", tty: true, succeeded: []string{"typed"}},
		{id: "X30", what: "writes to the terminal of a program without a gate", tty: true, neighbour: "hold", succeeded: []string{"written"}, limit: ungated, writes: ungated},
		{id: "X31", what: "writes programs and runs each at once", free: "nothing is attacked", must: map[string]int{"ran": 100}},

		{id: "B1", what: "16 threads wait for FIFOs, others work on", free: "nothing is attacked", must: map[string]int{"opened": 200, "woke": 16}},
		{id: "B1-lease", what: "12 threads wait for a leased file, others work on", free: "nothing is attacked", must: map[string]int{"unhindered": 1}},
		{id: "B2", what: "a signal every 10 ms while a call is held", free: "nothing is attacked", allows: true, swap: pause, broken: writtenOnce},
		{id: "B4", what: "callers that die in their calls", free: "nothing is attacked", must: map[string]int{"alive": 1}, broken: nothing},
		{id: "B8", what: "100 threads wait at a time", free: "nothing is attacked", rounds: [2]int{100, 200}},
		{id: "B9", what: "no process is left in the container", must: map[string]int{"alive": 1}},

		{id: "E7", what: "the policy file by other names", free: "there is none without a gate", succeeded: []string{"changed"}},
		{id: "E11", what: "names that look alike: composed and decomposed, ligatures, zero-width"},
		{id: "E12", what: "its policy file, and the folders of Loop's", free: "they belong to another user", succeeded: []string{"changed"}},
		{id: "E13", what: "the log of decisions", free: "it is not in the container", succeeded: []string{"reached"}},
	}
	return list
}

func markerOnly(t testing.TB, p *place) []string {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(p.host, "ran/marker")); err == nil {
		return []string{"the forbidden program ran"}
	}
	return nil
}

// evilText finds what was written after the person had read it.
func evilText(t testing.TB, p *place) []string {
	t.Helper()
	if text := p.read(t, "ask/file"); strings.Contains(text, "EVIL") {
		return []string{"ask/file says " + text}
	}
	return nil
}

// approvedText is what must be there in the end, and nothing else.
func approvedText(t testing.TB, p *place) []string {
	t.Helper()
	if text := p.read(t, "ask/file"); text != "approved text\n" {
		return []string{"ask/file says " + text}
	}
	return nil
}

func (p *place) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.host, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// swapFolder puts a link to the closed folder in the place of mid/sub, as another
// program of the person's could.
func swapFolder(t testing.TB, p *place) {
	if err := os.Rename(filepath.Join(p.host, "mid/sub"), filepath.Join(p.host, "mid/was")); err != nil {
		t.Error(err)
	}
	if err := os.Symlink("../deny", filepath.Join(p.host, "mid/sub")); err != nil {
		t.Error(err)
	}
}

func nothing(testing.TB, *place) []string { return nil }

// pause is a person who takes 300 ms, thirty of the attack's signals.
func pause(t testing.TB, _ *place) {
	t.Helper()
	<-time.After(300 * time.Millisecond)
}

// writtenOnce is B2's: the call must complete, and only once.
func writtenOnce(t testing.TB, p *place) []string {
	t.Helper()
	if n := strings.Count(p.read(t, "ask/file"), "written by an attack"); n != 1 {
		t.Errorf("the held call wrote %d times", n)
	}
	return nil
}
