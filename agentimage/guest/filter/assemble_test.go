//go:build linux

package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A filter is a tree: tests on the number, below them tests on arguments, and at its
// ends what becomes of the call.
type node interface {
	// assemble gives instructions that begin and end by themselves, so that trees are
	// put one after the other without labels.
	assemble() []unix.SockFilter
}

// verdict ends a call.
type verdict uint32

const (
	pass   = verdict(unix.SECCOMP_RET_ALLOW)
	notify = verdict(unix.SECCOMP_RET_USER_NOTIF)
	kill   = verdict(unix.SECCOMP_RET_KILL_PROCESS)
)

func deny(e unix.Errno) verdict { return verdict(unix.SECCOMP_RET_ERRNO | uint32(e)) }

func (v verdict) assemble() []unix.SockFilter {
	return []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: uint32(v)}}
}

func (v verdict) String() string {
	switch v {
	case pass:
		return "pass"
	case notify:
		return "notify"
	case kill:
		return "kill"
	}
	return unix.ErrnoName(unix.Errno(v &^ unix.SECCOMP_RET_ERRNO))
}

// Offsets in struct seccomp_data, whose words are the computer's own: little endian here.
const (
	numberAt = 0
	archAt   = 4
	argsAt   = 16
)

// below splits by the number, which is loaded.
type below struct {
	number   uint32
	yes, not node
}

func (s below) assemble() []unix.SockFilter {
	low, high := s.yes.assemble(), s.not.assemble()
	return append(append(jump(unix.BPF_JGE, s.number, len(low)), low...), high...)
}

// word tests 32 bits: those of mask, that they are want.
type word struct {
	at         uint32
	mask, want uint32
	yes, not   node
}

func (w word) assemble() []unix.SockFilter {
	code := []unix.SockFilter{load(w.at)}
	if w.mask != math.MaxUint32 {
		code = append(code, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: w.mask})
	}
	not, yes := w.not.assemble(), w.yes.assemble()
	code = append(code, jump(unix.BPF_JEQ, w.want, len(not))...)
	return append(append(code, not...), yes...)
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

// jump skips n instructions if the condition holds; a conditional jump reaches 255.
func jump(cond uint16, value uint32, n int) []unix.SockFilter {
	branch := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | cond, K: value}
	if n <= math.MaxUint8 {
		branch.Jt = uint8(n)
		return []unix.SockFilter{branch}
	}
	branch.Jf = 1
	return []unix.SockFilter{branch, {Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(n)}}
}

// lowWord is where the lower half of an argument is. The kernel itself looks at no more
// of an int, so whatever the upper half holds must not matter.
func lowWord(arg int) uint32 { return argsAt + 8*uint32(arg) }

// has is true where all bits of a flag are in an argument that is an int.
func has(arg int, flag uint32, yes, not node) node {
	return word{lowWord(arg), flag, flag, yes, not}
}

// none is true where no bit of mask is in an argument that is an int.
func none(arg int, mask uint32, yes, not node) node {
	return word{lowWord(arg), mask, 0, yes, not}
}

// is compares an argument that is an int.
func is(arg int, value uint32, yes, not node) node {
	return word{lowWord(arg), math.MaxUint32, value, yes, not}
}

// isOne is is for several values.
func isOne(arg int, values []uint32, yes, not node) node {
	for _, v := range slices.Backward(values) {
		not = is(arg, v, yes, not)
	}
	return not
}

// null tests a pointer, so both halves.
func null(arg int, yes, not node) node {
	return is(arg, 0, word{lowWord(arg) + 4, math.MaxUint32, 0, yes, not}, not)
}

// architecture is what a table of numbers belongs to.
type architecture struct {
	name string
	word uint32 // AUDIT_ARCH_*
	x32  bool
	// directory is O_DIRECTORY, which is O_DIRECT on the other one.
	directory uint32
}

var architectures = []architecture{
	{"amd64", unix.AUDIT_ARCH_X86_64, true, 0o200000},
	{"arm64", unix.AUDIT_ARCH_AARCH64, false, 0o40000},
}

// x32Bit marks numbers of x32, which share the architecture's word with amd64.
const x32Bit = 0x40000000

// tree is the whole filter.
func tree(t *testing.T, calls []call, a architecture, v Variant) node {
	t.Helper()
	byNumber := map[uint32]node{}
	last := uint32(0)
	for _, c := range calls {
		if n, ok := c.numbers[a.name]; ok {
			byNumber[n] = c.node(t, v, a)
			last = max(last, n)
		}
	}
	// Neighbours with the same end are one range.
	var starts []uint32
	var ends []node
	for n := range last + 2 { // the last range is what is above the table
		end, ok := byNumber[n]
		if !ok {
			end = deny(unix.ENOSYS)
		}
		if len(ends) == 0 || !same(ends[len(ends)-1], end) {
			starts, ends = append(starts, n), append(ends, end)
		}
	}
	numbers := search(starts, ends)
	if a.x32 {
		// -1 is a call that a tracer took back.
		x32 := word{numberAt, math.MaxUint32, math.MaxUint32, deny(unix.ENOSYS), kill}
		numbers = below{x32Bit, numbers, x32}
	}
	return word{archAt, math.MaxUint32, a.word, loadNumber{numbers}, kill}
}

// loadNumber comes before the first below.
type loadNumber struct{ then node }

func (l loadNumber) assemble() []unix.SockFilter {
	return append([]unix.SockFilter{load(numberAt)}, l.then.assemble()...)
}

// search halves the ranges until one is left.
func search(starts []uint32, ends []node) node {
	if len(ends) == 1 {
		return ends[0]
	}
	half := len(ends) / 2
	return below{starts[half], search(starts[:half], ends[:half]), search(starts[half:], ends[half:])}
}

func same(a, b node) bool {
	va, oka := a.(verdict)
	vb, okb := b.(verdict)
	return oka && okb && va == vb
}

// machineCode is a tree as the kernel takes it.
func machineCode(n node) ([]byte, error) {
	code := n.assemble()
	if len(code) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("assemble: %d instructions are more than the kernel takes", len(code))
	}
	var out []byte
	for _, i := range code {
		out = binary.LittleEndian.AppendUint16(out, i.Code)
		out = append(out, i.Jt, i.Jf)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out, nil
}
