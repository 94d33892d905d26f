#include "textflag.h"

// func pair(a, b *byte, n int, valueA, valueB, maskA, maskB byte) int
TEXT ·pair(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VPBROADCASTB valueA+24(FP), Y0
	VPBROADCASTB valueB+25(FP), Y1
	VPBROADCASTB maskA+26(FP), Y2
	VPBROADCASTB maskB+27(FP), Y3
	SUBQ $64, CX // the last place from where a step is left
	XORQ AX, AX

next:
	VPOR (SI)(AX*1), Y2, Y4
	VPOR (DI)(AX*1), Y3, Y5
	VPOR 32(SI)(AX*1), Y2, Y6
	VPOR 32(DI)(AX*1), Y3, Y7
	VPCMPEQB Y0, Y4, Y4
	VPCMPEQB Y1, Y5, Y5
	VPCMPEQB Y0, Y6, Y6
	VPCMPEQB Y1, Y7, Y7
	VPAND Y4, Y5, Y4
	VPAND Y6, Y7, Y6
	VPOR Y4, Y6, Y8
	VPTEST Y8, Y8
	JNZ found
	ADDQ $64, AX
	CMPQ AX, CX
	JLE next
	NOTQ AX
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET

found:
	VPMOVMSKB Y4, R8
	VPMOVMSKB Y6, R9
	SHLQ $32, R9
	ORQ R9, R8
	BSFQ R8, R8
	ADDQ R8, AX
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET
