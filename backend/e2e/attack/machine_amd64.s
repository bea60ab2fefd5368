//go:build linux

#include "textflag.h"

// func vforkExec(path, argv, envp unsafe.Pointer) int
// The child shares the memory of the parent until its exec, as the child of vfork does.
TEXT ·vforkExec(SB),NOSPLIT,$0-32
	MOVQ path+0(FP), R12
	MOVQ argv+8(FP), R13
	MOVQ envp+16(FP), BX
	MOVQ $0x4111, DI // CLONE_VFORK|CLONE_VM|SIGCHLD
	XORQ SI, SI
	XORQ DX, DX
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $56, AX
	SYSCALL
	CMPQ AX, $0
	JNE  parent
	MOVQ R12, DI
	MOVQ R13, SI
	MOVQ BX, DX
	MOVQ $59, AX
	SYSCALL
	MOVQ $127, DI
	MOVQ $60, AX
	SYSCALL
parent:
	MOVQ AX, ret+24(FP)
	RET

// func cloneFlipper(word *uint32, a, b uint32, stop *uint32, stack unsafe.Pointer) int
// A process of its own with the same memory writes a and b by turns until stop is set.
TEXT ·cloneFlipper(SB),NOSPLIT,$0-40
	MOVQ word+0(FP), R12
	MOVL a+8(FP), R13
	MOVL b+12(FP), BX
	MOVQ stop+16(FP), R9
	MOVQ stack+24(FP), SI
	MOVQ $0x111, DI // CLONE_VM|SIGCHLD
	XORQ DX, DX
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $56, AX
	SYSCALL
	CMPQ AX, $0
	JNE  parent
flip:
	MOVL R13, (R12)
	PAUSE
	MOVL BX, (R12)
	PAUSE
	CMPL (R9), $0
	JEQ  flip
	XORQ DI, DI
	MOVQ $60, AX
	SYSCALL
parent:
	MOVQ AX, ret+32(FP)
	RET

// func int80(number, a, b, c uint32) int32
TEXT ·int80(SB),NOSPLIT,$0-20
	MOVL number+0(FP), AX
	MOVL a+4(FP), BX
	MOVL b+8(FP), CX
	MOVL c+12(FP), DX
	INT  $0x80
	MOVL AX, ret+16(FP)
	RET
