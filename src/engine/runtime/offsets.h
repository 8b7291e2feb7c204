/* Where entry.S and the emitted code find the fields of a Context, from gs:0. context.hpp checks
   each against the struct. */
#pragma once

#define CTX_SELF 0x00
#define CTX_NEXT_PC 0x08
#define CTX_EXIT_LINK 0x10
#define CTX_RESUME 0x18
#define CTX_SPILL0 0x20
#define CTX_SPILL1 0x28
#define CTX_SPILL2 0x30
#define CTX_PENDING 0x38
#define CTX_DISPATCH 0x40
#define CTX_ENGINE_STACK 0x48
#define CTX_ENGINE_FS 0x50
#define CTX_PROGRAM_FS 0x58
#define CTX_FLAGS 0x60
#define CTX_XSAVE 0x68
#define CTX_SYSCALL 0x70
#define CTX_SYSCALL_RETURN 0x78
#define CTX_REGS 0x80 /* rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15 */
#define CTX_REASON 0x100
#define CTX_PROGRAM_GS 0x108
#define CTX_XSAVE_COMPACT 0x110
#define CTX_REGION_CHECK 0x118
#define CTX_REGION_OUTSIDE 0x120
#define CTX_REGION_ENTER 0x128
#define CTX_REGION_LEAVE 0x130
#define CTX_STREAM_REGISTER 0x138
#define CTX_TILES 0x140 /* 64 bytes */
#define CTX_CALL 0x180
#define CTX_CHANGED 0x188
#define CTX_THRESHOLD 0x190
#define CTX_ITERATIONS 0x198
#define CTX_DOOR 0x1A0
#define CTX_DOOR_RETURN 0x1A8
#define CTX_LEAVE 0x1B0

/* Calls (calls.hpp), apart from the Context. */
#define CALLS_STATE 0x800
#define CALLS_ENTER 0x800
#define CALLS_LEAVE 0x808
#define CALLS_SAVED 0x810 /* rdx rsi rdi r8 r9 r10 r11 rsp */
#define CALLS_RAX 0x850
#define CALLS_FLAGS 0x858
#define CALLS_BACK 0x860
#define CALLS_MOVED_FROM 0x868

/* CTX_REASON: why the program left the code cache. */
#define REASON_LINK 0
#define REASON_INDIRECT 1
#define REASON_SYSCALL 2
#define REASON_SIGNAL 3
#define REASON_ENTER 4
#define REASON_LEAVE 5
#define REASON_EFAULT 6
#define REASON_CHANGED 7
#define REASON_THRESHOLD 8
#define REASON_DOOR 9
