# 5 014 005 instructions; 3 001 000 conditional branches, of which 1 998 999 are taken.
  .globl _start
_start:
  mov $1000, %ebx          # 1
outer:                     # 1000 times 5014 instructions:
  mov $1000, %ecx          #   1
first:
  add $3, %eax             #   1000 times 3
  dec %ecx
  jnz first                #   999 taken
  mov $1000, %ecx          #   1
second:
  jecxz over               #   1000 times 2: never taken here, except that it ends the loop
  loop second              #   999 taken
over:
  nop                      #   1
  push %rbx                #   1
  call leaf                #   1
  pop %rbx                 #   1
  test %eax, %eax          #   1
  nopl 0(%rax)             #   1
  nopl 0(%rax)             #   1
  nopl 0(%rax)             #   1
  nopl 0(%rax)             #   1
  dec %ebx                 #   1
  jnz outer                #   1, 999 taken
  cld                      # 1
  mov $60, %eax            # 1
  xor %edi, %edi           # 1
  syscall                  # 1
leaf:
  ret                      #   1
  .section .note.GNU-stack, "", @progbits
