/* The ways from the code cache into calls.cpp and region_change.cpp, and back. Only what C++ without vector registers can
   change is saved; it is kept in the context, so that the way back can be started again.

   engine_call_enter   at a watched function; rcx: its CallEntry, the program's rcx is in spill1
   engine_call_leave   behind a return or in front of an indirect jump whose rsp is above a call's;
                       rax: the target, rcx: where to go on; the program's are in spill0 and spill1
   engine_region_enter_fast, engine_region_leave_fast   the same of the region, once a thread has both
                       its contexts; rcx is where to go on. Behind the C++, gs is the other context */
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

  /* All that C++ may change, and the stack of the engine. */
  .macro save_call_state
  lahf
  seto %al
  mov %rax, %gs:CALLS_FLAGS
  call_registers save_call
  mov %rsp, %gs:(CALLS_SAVED + 8 * 7)
  .endm
  .macro call_engine function
  mov %gs:CTX_ENGINE_STACK, %rsp
  mov %gs:CTX_SELF, %rdi
  call \function
  .endm
  /* From the label to the jump everything comes from the context: it may be started again. A signal
     that waits comes first. */
  .macro back_behind_entry name
  .globl engine_\name\()_tail
engine_\name\()_tail:
  mov %gs:CTX_ENGINE_STACK, %rsp
  cmpq $0, %gs:CTX_PENDING
  jne 1f
  load_call_state
  mov %gs:CALLS_RAX, %rax
  mov %gs:CTX_SPILL1, %rcx
  jmp *%gs:CALLS_BACK
  .globl engine_\name\()_end
engine_\name\()_end:
1:
  .endm
  .macro back_to_lookup name
  .globl engine_\name\()_tail
engine_\name\()_tail:
  cmpq $0, %gs:CTX_PENDING
  jne 1f
  load_call_state
  mov %gs:CTX_NEXT_PC, %rax
  jmp *%gs:CALLS_BACK
  .globl engine_\name\()_end
engine_\name\()_end:
1:
  load_call_state
  mov %gs:CTX_NEXT_PC, %rax
  jmp engine_indirect_miss
  .endm
  .macro go_to_signal
  load_call_state
  mov %gs:CALLS_RAX, %rax
  mov %gs:CTX_SPILL1, %rcx
  jmp engine_leave_for_signal
  .endm

  .globl engine_call_enter
engine_call_enter:
  mov %rax, %gs:CALLS_RAX
  save_call_state
  mov %rsp, %rsi
  xor %edx, %edx
  .globl engine_call_peek
engine_call_peek: /* may fault where the program has no stack */
  mov (%rsp), %rdx
  .globl engine_call_peeked
engine_call_peeked:
  call_engine engine_call_entered
  back_behind_entry call_entered
  mov %gs:CTX_SELF, %rdi
  call engine_call_interrupted
  go_to_signal

  .globl engine_call_leave
engine_call_leave:
  mov %rcx, %gs:CALLS_BACK
  mov %rax, %gs:CTX_NEXT_PC
  save_call_state
  mov %rsp, %rsi
  mov %gs:CTX_NEXT_PC, %rdx
  call_engine engine_call_left
  back_to_lookup call_left

  .globl engine_region_enter_fast
engine_region_enter_fast:
  mov %rcx, %gs:CALLS_BACK
  mov %rax, %gs:CALLS_RAX
  save_call_state
  mov %rsp, %rsi
  call_engine engine_region_entered
  back_behind_entry region_entered
  go_to_signal

  .globl engine_region_leave_fast
engine_region_leave_fast:
  mov %rcx, %gs:CALLS_BACK
  mov %rax, %gs:CTX_NEXT_PC
  save_call_state
  call_engine engine_region_left
  back_to_lookup region_left

  .section .note.GNU-stack, "", @progbits
