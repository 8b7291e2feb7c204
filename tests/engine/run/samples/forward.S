# Forward branches, seldom taken, and a fault behind one of them in every other round: 12 260
# instructions; 4 500 branches, of which 2 749 are taken.
  .globl _start
_start:
  mov $13, %eax            # 6: rt_sigaction(SIGILL, &action, 0, 8)
  mov $4, %edi
  lea action, %rsi
  xor %edx, %edx
  mov $8, %r10d
  syscall
  mov $1000, %ebx          # 1
round:                     # 1000 times 3
  mov %ebx, %eax
  test $3, %al
  jz quarter               #   250 taken
  test $1, %al             # 750 times 2
  jz half                  #   250 taken
  nop                      # 500 times 6, and the handler
  ud2                      #   does not run
  nop
  nop
  cmp $2000, %ebx
  ja never                 #   never taken
  jmp next
half:
  nop                      # 250 times 2
  jmp next
quarter:
  nop                      # 250 times 1
next:
  dec %ebx                 # 1000 times 2
  jnz round                #   999 taken
  mov $60, %eax            # 3
  xor %edi, %edi
  syscall
never:
  ud2
handler:                   # 500 times 4
  addq $2, 168(%rdx)       # rip of the interrupted place
  ret
restorer:
  mov $15, %eax
  syscall
  .data
action:
  .quad handler
  .quad 0x04000004         # SA_SIGINFO, SA_RESTORER
  .quad restorer
  .quad 0
  .section .note.GNU-stack, "", @progbits
