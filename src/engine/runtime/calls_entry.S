/* The ways from the code cache into calls.cpp and back. Only what C++ without vector registers can
   change is saved; it is kept in the context, so that the way back can be started again.

   engine_call_enter   at a watched function; rcx: its CallEntry, the program's rcx is in spill1
   engine_call_leave   behind a return or in front of an indirect jump whose rsp is above a call's;
                       rax: the target, rcx: where to go on; the program's are in spill0 and spill1 */
#include "engine/runtime/offsets.h"

  .text
  .macro save_call index, register
  mov \register, %gs:(CALLS_SAVED + 8 * \index)
  .endm
  .macro load_call index, register
  mov %gs:(CALLS_SAVED + 8 * \index), \register
  .endm
  .macro call_registers action
  \action 0, %rdx
  \action 1, %rsi
  \action 2, %rdi
  \action 3, %r8
  \action 4, %r9
  \action 5, %r10
  \action 6, %r11
  .endm
  .macro load_call_state
  call_registers load_call
  mov %gs:CALLS_FLAGS, %rax
  add $127, %al
  sahf
  mov %gs:(CALLS_SAVED + 8 * 7), %rsp
  .endm

  .globl engine_call_enter
engine_call_enter:
  mov %rax, %gs:CALLS_RAX
  lahf
  seto %al
  mov %rax, %gs:CALLS_FLAGS
  call_registers save_call
  mov %rsp, %gs:(CALLS_SAVED + 8 * 7)
  mov %rsp, %rsi
  xor %edx, %edx
  .globl engine_call_peek
engine_call_peek: /* may fault where the program has no stack */
  mov (%rsp), %rdx
  .globl engine_call_peeked
engine_call_peeked:
  mov %gs:CTX_ENGINE_STACK, %rsp
  mov %gs:CTX_SELF, %rdi
  call engine_call_entered
  .globl engine_call_entered_tail
engine_call_entered_tail: /* from here to the jump everything comes from the context */
  mov %gs:CTX_ENGINE_STACK, %rsp
  cmpq $0, %gs:CTX_PENDING
  jne 1f
  load_call_state
  mov %gs:CALLS_RAX, %rax
  mov %gs:CTX_SPILL1, %rcx
  jmp *%gs:CALLS_BACK
  .globl engine_call_entered_end
engine_call_entered_end:
1: /* the signal comes first */
  mov %gs:CTX_SELF, %rdi
  call engine_call_interrupted
  load_call_state
  mov %gs:CALLS_RAX, %rax
  mov %gs:CTX_SPILL1, %rcx
  jmp engine_leave_for_signal

  .globl engine_call_leave
engine_call_leave:
  mov %rcx, %gs:CALLS_BACK
  mov %rax, %gs:CTX_NEXT_PC
  lahf
  seto %al
  mov %rax, %gs:CALLS_FLAGS
  call_registers save_call
  mov %rsp, %gs:(CALLS_SAVED + 8 * 7)
  mov %rsp, %rsi
  mov %gs:CTX_NEXT_PC, %rdx
  mov %gs:CTX_ENGINE_STACK, %rsp
  mov %gs:CTX_SELF, %rdi
  call engine_call_left
  .globl engine_call_left_tail
engine_call_left_tail: /* likewise */
  cmpq $0, %gs:CTX_PENDING
  jne 1f
  load_call_state
  mov %gs:CTX_NEXT_PC, %rax
  jmp *%gs:CALLS_BACK
  .globl engine_call_left_end
engine_call_left_end:
1:
  load_call_state
  mov %gs:CTX_NEXT_PC, %rax
  jmp engine_indirect_miss

  .section .note.GNU-stack, "", @progbits
