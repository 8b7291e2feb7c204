// A function of 3 + 2 n (AMOUNT 1) or 3 + 3 n (AMOUNT 2) instructions.
int in_library(int n);
__asm__(
    ".text\n.globl in_library\n.type in_library, @function\n"
    "in_library:\n xor %eax, %eax\n mov %edi, %ecx\n"
#if AMOUNT == 1
    "1: dec %ecx\n jnz 1b\n"
#else
    "1: add $2, %eax\n dec %ecx\n jnz 1b\n"
#endif
    " ret\n.size in_library, .-in_library\n");
