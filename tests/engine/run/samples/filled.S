# Fills 256 MiB by one instruction, and copies 800 bytes downwards by another.
  .globl _start
  .text
_start:
  lea memory(%rip), %rdi
  mov $0x10000000, %ecx
  xor %eax, %eax
  rep stosb
  std
  lea memory+792(%rip), %rsi
  lea memory+4096+792(%rip), %rdi
  mov $100, %ecx
  rep movsq
  cld
  xor %edi, %edi
  mov $60, %eax
  syscall
  .bss
  .balign 4096
memory:
  .skip 0x10000000
  .section .note.GNU-stack, "", @progbits
