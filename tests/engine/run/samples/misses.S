# A program whose misses can be worked out by hand: no library, no stack, four functions.
    .globl _start, stream, resident, write_all, alternate
    .section .note.GNU-stack,"",@progbits
    .bss
    .balign 4096
data:
    .zero 1048576
    .text

# Reads 1 MiB twice, a byte of each line: 32,768 accesses.
    .balign 64
    .type stream, @function
stream:
    mov $2, %ecx
1:  lea data(%rip), %rax
    mov $16384, %edx
2:  movb (%rax), %bl
    add $64, %rax
    dec %edx
    jnz 2b
    dec %ecx
    jnz 1b
    jmp after_stream
    .size stream, . - stream

# Reads 4 KiB a hundred times: 6,400 accesses.
    .balign 64
    .type resident, @function
resident:
    mov $100, %ecx
1:  lea data(%rip), %rax
    mov $64, %edx
2:  movb (%rax), %bl
    add $64, %rax
    dec %edx
    jnz 2b
    dec %ecx
    jnz 1b
    jmp after_resident
    .size resident, . - resident

# One string instruction over 1 MiB.
    .balign 64
    .type write_all, @function
write_all:
    lea data(%rip), %rdi
    mov $1048576, %ecx
    xor %eax, %eax
    rep stosb
    jmp after_write
    .size write_all, . - write_all

# A branch that is taken every second time, 2,000 times.
    .balign 64
    .type alternate, @function
alternate:
    mov $2000, %ecx
1:  test $1, %ecx
    jz 2f
    nop
2:  dec %ecx
    jnz 1b
    jmp after_alternate
    .size alternate, . - alternate

    .balign 64
_start:
    jmp stream
after_stream:
    jmp resident
after_resident:
    jmp write_all
after_write:
    jmp alternate
after_alternate:
    mov $60, %eax
    xor %edi, %edi
    syscall
