//go:build linux

package filter

import (
	"encoding/binary"
	"testing"
)

// data is struct seccomp_data.
type data struct {
	number, arch uint32
	pointer      uint64
	args         [6]uint64
}

func (d data) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, d.number)
	b = binary.LittleEndian.AppendUint32(b, d.arch)
	b = binary.LittleEndian.AppendUint64(b, d.pointer)
	for _, a := range d.args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

// Operations of linux/bpf_common.h, those that the filters have.
const (
	loadWord   = 0x20 // BPF_LD | BPF_W | BPF_ABS
	and        = 0x54 // BPF_ALU | BPF_AND | BPF_K
	always     = 0x05 // BPF_JMP | BPF_JA
	ifEqual    = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	ifAtLeast  = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	returnWord = 0x06 // BPF_RET | BPF_K
)

// simulate runs a committed program as the kernel would on a computer of that
// architecture.
func simulate(t *testing.T, program []byte, d data) verdict {
	t.Helper()
	in := d.bytes()
	var acc uint32
	for pc := 0; pc*instructionSize < len(program); pc++ {
		b := program[pc*instructionSize:]
		k := binary.LittleEndian.Uint32(b[4:])
		branch := func(yes bool) {
			if yes {
				pc += int(b[2])
			} else {
				pc += int(b[3])
			}
		}
		switch op := binary.LittleEndian.Uint16(b); op {
		case loadWord:
			acc = binary.LittleEndian.Uint32(in[k:])
		case and:
			acc &= k
		case always:
			pc += int(k)
		case ifEqual:
			branch(acc == k)
		case ifAtLeast:
			branch(acc >= k)
		case returnWord:
			return verdict(k)
		default:
			t.Fatalf("operation %#x at %d", op, pc)
		}
	}
	t.Fatal("the program has no end")
	return kill
}
