# Linked so that data and code share their pages, which can be written (ld -N). Counts to 100000 in
# its data; 1 + 100000 * 3 + 5 instructions.
  .globl _start
  .text
_start:
  mov $100000, %ecx
again:
  incq count(%rip)
  dec %ecx
  jnz again
  mov count(%rip), %rdi
  sub $100000, %rdi
  mov $60, %eax
  syscall
  ud2
  .data
count:
  .quad 0
  .section .note.GNU-stack, "", @progbits
