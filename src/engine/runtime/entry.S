/* The doors between the code cache and the engine's C++.

   engine_dispatch   a block was left: save the program's state, call engine_dispatch_c, go on
   engine_resume     restore the program's state and jump to context->resume
   engine_indirect_miss   an indirect branch found no block for its target
   engine_syscall    a system call: in place when harmless, else through engine_dispatch_c
   engine_door       the program speaks to the engine (door.hpp)

   The program's stack is never touched: it may have a red zone, or be no stack at all. */
#include "engine/runtime/offsets.h"

  .text
  .macro save_register index, register
  mov \register, %gs:(CTX_REGS + 8 * \index)
  .endm
  .macro load_register index, register
  mov %gs:(CTX_REGS + 8 * \index), \register
  .endm
  .macro general_registers action
  \action 0, %rax
  \action 1, %rcx
  \action 2, %rdx
  \action 3, %rbx
  \action 5, %rbp
  \action 6, %rsi
  \action 7, %rdi
  \action 8, %r8
  \action 9, %r9
  \action 10, %r10
  \action 11, %r11
  \action 12, %r12
  \action 13, %r13
  \action 14, %r14
  \action 15, %r15
  .endm

  .globl engine_indirect_miss
engine_indirect_miss: /* rax: target; the program's rax and rcx are spilled */
  mov %rax, %gs:CTX_NEXT_PC
  mov %gs:CTX_SPILL1, %rcx
  mov %gs:CTX_SPILL0, %rax
  movq $REASON_INDIRECT, %gs:CTX_REASON
  jmp save_state

  .globl engine_region_leave
engine_region_leave: /* the same, and the target is outside of the region */
  mov %rax, %gs:CTX_NEXT_PC
  mov %gs:CTX_SPILL1, %rcx
  mov %gs:CTX_SPILL0, %rax
  movq $REASON_LEAVE, %gs:CTX_REASON
  jmp save_state

  .globl engine_region_enter
engine_region_enter: /* context->next_pc is set, and the region starts there; rcx is spilled */
  mov %gs:CTX_SPILL1, %rcx
  movq $REASON_ENTER, %gs:CTX_REASON
  jmp save_state

  .globl engine_changed
engine_changed: /* context->next_pc is set; what was translated there has changed */
  movq $REASON_CHANGED, %gs:CTX_REASON
  jmp save_state

  .globl engine_threshold
engine_threshold: /* context->resume and ->exit_link are set: where to go on, and which threshold */
  movq $REASON_THRESHOLD, %gs:CTX_REASON
  jmp save_state

  .globl engine_leave_for_signal
engine_leave_for_signal: /* context->next_pc is set; the state is the program's */
  movq $REASON_SIGNAL, %gs:CTX_REASON
  jmp save_state

  .globl engine_dispatch
engine_dispatch:
  movq $REASON_LINK, %gs:CTX_REASON
save_state:
  mov %rsp, %gs:(CTX_REGS + 8 * 4)
  mov %gs:CTX_ENGINE_STACK, %rsp
  pushfq
  popq %gs:CTX_FLAGS
state_of_syscall:
  general_registers save_register
  pushq $2 /* no direction, no trap, no alignment check while we are here */
  popfq
  rdfsbase %rax
  mov %rax, %gs:CTX_PROGRAM_FS
  mov %gs:CTX_ENGINE_FS, %rax
  wrfsbase %rax
  mov %gs:CTX_XSAVE, %rcx
  mov $-1, %eax
  mov $-1, %edx
  cmpq $0, %gs:CTX_XSAVE_COMPACT
  je 1f
  xsavec64 (%rcx)
  jmp 2f
1:
  xsave64 (%rcx)
2:
  mov %gs:CTX_SELF, %rdi
  call engine_dispatch_c

  /* From here to the jump everything comes from the context, so a signal may start it again. */
  .globl engine_resume
engine_resume:
  mov %gs:CTX_ENGINE_STACK, %rsp
  cmpq $0, %gs:CTX_PENDING
  jne resume_with_signal
  mov %gs:CTX_XSAVE, %rcx
  mov $-1, %eax
  mov $-1, %edx
  xrstor64 (%rcx)
  mov %gs:CTX_PROGRAM_FS, %rax
  wrfsbase %rax
  pushq %gs:CTX_FLAGS
  general_registers load_register
  popfq
  mov %gs:(CTX_REGS + 8 * 4), %rsp
  jmp *%gs:CTX_RESUME
  .globl engine_resume_end
engine_resume_end:

  /* The same, but into the signal handler with all state the program's and next_pc its place. */
resume_with_signal:
  mov %gs:CTX_XSAVE, %rcx
  mov $-1, %eax
  mov $-1, %edx
  xrstor64 (%rcx)
  mov %gs:CTX_PROGRAM_FS, %rax
  wrfsbase %rax
  pushq %gs:CTX_FLAGS
  general_registers load_register
  popfq
  mov %gs:(CTX_REGS + 8 * 4), %rsp
  int3
  .globl engine_trapped
engine_trapped:
  ud2

/* The program's `syscall`. rcx and r11 are free: the instruction destroys them anyway. */
  .globl engine_syscall
engine_syscall:
  mov %rsp, %gs:CTX_SPILL2
  .globl engine_syscall_stack
engine_syscall_stack:
  mov %gs:CTX_ENGINE_STACK, %rsp
  pushfq
  .globl engine_syscall_flags
engine_syscall_flags:
  cmp $512, %rax
  jae 1f
  lea engine_harmless_syscalls(%rip), %rcx
  btq %rax, (%rcx)
  jc 3f
  lea engine_path_syscalls(%rip), %rcx
  btq %rax, (%rcx)
  jnc 1f
  mov %rsi, %rcx
  cmp $5, %rax /* open and stat have their path in front */
  cmovb %rdi, %rcx
  .globl engine_peek
engine_peek: /* may fault: then the long way finds out */
  mov (%rcx), %rcx
  shl $16, %rcx
  cmp engine_proc_text(%rip), %rcx
  je 1f
3:
  cmp engine_own_descriptors(%rip), %edi /* to the program these are not open */
  je 1f
  cmp engine_own_descriptors + 4(%rip), %edi
  je 1f
  popfq
  .globl engine_syscall_unwind
engine_syscall_unwind:
  mov %gs:CTX_SPILL2, %rsp
  mov %rax, %gs:CTX_CALL
  .globl engine_syscall_instruction
engine_syscall_instruction:
  syscall
  .globl engine_syscall_done
engine_syscall_done: /* rcx is free, the flags are not */
  lea 14(%rax), %rcx
  jrcxz 2f /* EFAULT */
  jmp *%gs:CTX_SYSCALL_RETURN
  .globl engine_syscall_end
engine_syscall_end:
2:
  movq $REASON_EFAULT, %gs:CTX_REASON
  jmp save_state
  .globl engine_syscall_long
engine_syscall_long:
1:
  popq %gs:CTX_FLAGS
  .globl engine_syscall_slow
engine_syscall_slow:
  mov %gs:CTX_SPILL2, %rcx
  mov %rcx, %gs:(CTX_REGS + 8 * 4)
  movq $REASON_SYSCALL, %gs:CTX_REASON
  jmp state_of_syscall

/* A door of the program: rdi, rsi and rdx are its arguments, ecx is the block and which door. As
   behind a call, what a function may destroy is free, but for vector registers. */
  .globl engine_door
engine_door:
  mov %rsp, %gs:CTX_SPILL2
  mov %gs:CTX_ENGINE_STACK, %rsp
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  mov %gs:CTX_SELF, %r8
  call engine_door_c
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  mov %gs:CTX_SPILL2, %rsp
  test %eax, %eax
  jz 1f
  jmp *%gs:CTX_DOOR_RETURN
1: /* the long way, where everything is saved */
  mov %rcx, %gs:CTX_EXIT_LINK
  movq $REASON_DOOR, %gs:CTX_REASON
  jmp save_state

/* long engine_safe_copy(void* to, const void* from, long bytes): how many could be read. */
  .globl engine_safe_copy
engine_safe_copy:
  mov %rdx, %rcx
  .globl engine_safe_copy_instruction
engine_safe_copy_instruction:
  rep movsb
  .globl engine_safe_copy_fault
engine_safe_copy_fault:
  mov %rdx, %rax
  sub %rcx, %rax
  ret

/* long engine_same_bytes(const char* ours, const char* theirs, long bytes): 1 when they are the same;
   0 also when theirs cannot be read. */
  .globl engine_same_bytes
engine_same_bytes:
  xor %eax, %eax
1:
  test %rdx, %rdx
  jz 2f
  .globl engine_same_bytes_load
engine_same_bytes_load:
  movzbl -1(%rsi, %rdx), %ecx
  cmpb %cl, -1(%rdi, %rdx)
  jne 3f
  dec %rdx
  jmp 1b
2:
  mov $1, %eax
  .globl engine_same_bytes_fault
engine_same_bytes_fault:
3:
  ret

/* void engine_start(Context*): the first way into the program; gs is the context already. */
  .globl engine_start
engine_start:
  jmp engine_resume

/* The kernel returns from our signal handlers through this. */
  .globl engine_restorer
engine_restorer:
  mov $15, %eax
  syscall

/* void engine_sigreturn(void* frame): a rt_sigreturn with the ucontext at `frame`. */
  .globl engine_sigreturn
engine_sigreturn:
  mov %rdi, %rsp
  mov $15, %eax
  syscall
  ud2

/* long engine_clone(flags, stack, parent_tid, child_tid, tls, Context* child)
   The child starts on the child context's engine stack and goes to engine_resume. */
  .globl engine_clone
engine_clone:
  mov %rcx, %r10 /* child_tid */
  mov %r9, %r11
  push %r12
  mov %r11, %r12
  mov $56, %eax
  syscall
  test %rax, %rax
  jz engine_child
  pop %r12
  ret
/* long engine_clone3(clone_args*, size, Context* child) */
  .globl engine_clone3
engine_clone3:
  push %r12
  mov %rdx, %r12
  mov $435, %eax
  syscall
  test %rax, %rax
  jz engine_child
  pop %r12
  ret
engine_child: /* r12: its context; the kernel has set the program's fs when asked */
  wrgsbase %r12
  mov %gs:CTX_ENGINE_STACK, %rsp
  rdfsbase %rax
  mov %gs:CTX_ENGINE_FS, %rcx
  cmp %rax, %rcx
  je 1f
  mov %rax, %gs:CTX_PROGRAM_FS /* CLONE_SETTLS */
1:
  wrfsbase %rcx
  mov %r12, %rdi
  call engine_child_c
  jmp engine_resume

  .section .rodata
engine_proc_text:
  .ascii "\0\0/proc/"

  .section .note.GNU-stack, "", @progbits
