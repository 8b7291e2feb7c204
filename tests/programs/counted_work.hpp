// The work that programs of tests count: a loop of 4 instructions a round, one of which adds two
// numbers of double precision.
#pragma once

extern "C" void work(long rounds);
asm(R"(
  .text
  .globl work
  .type work, @function
work: pxor %xmm0, %xmm0
1: addsd %xmm0, %xmm0
  nop
  dec %rdi
  jnz 1b
  ret
)");
