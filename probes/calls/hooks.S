/* The fast ways through the agent: position independent, and what loft copies in front of each function.
 *
 * Compilers may know that a function of the same file leaves a register or the flags alone (-fipa-ra), so
 * everything that is touched is put back. What has to be kept meanwhile lies below the red zone. */
#include "wire.h"

#define RED_ZONE 0x80

        .macro save_three
        leaq    -RED_ZONE(%rsp), %rsp
        pushq   %rax
        pushq   %rdx
        pushq   %rcx
        lahf
        seto    %al
        pushq   %rax
        .endm
        .macro restore_three
        popq    %rax
        addb    $0x7f, %al
        sahf
        popq    %rcx
        popq    %rdx
        popq    %rax
        leaq    RED_ZONE(%rsp), %rsp
        .endm
#define SAVED_THREE (RED_ZONE + 32)

        /* Behind save_three: the other registers that C may change; rdi, rsi, rdx are free then. */
        .macro save_others
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        pushq   %rbp
        movq    %rsp, %rbp
        andq    $-16, %rsp
        .endm
        .macro restore_others
        movq    %rbp, %rsp
        popq    %rbp
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        .endm

        .section .text.head, "ax"
        .globl  loft_calls_head
loft_calls_head:
        .long   0x746c6163
        .long   entry_template - loft_calls_head
        .long   entry_template_end - entry_template
        .long   entry_start - entry_template
        .long   entry_slow_call + 1 - entry_template
        .long   entry_node_call + 1 - entry_template
        .long   entry_key + 3 - entry_template
        .long   on_node - loft_calls_head
        .long   entry_slow_id + 1 - entry_template
        .long   entry_id + 3 - entry_template
        .long   entry_open + 5 - entry_template
        .long   count_template - loft_calls_head
        .long   count_template_end - count_template
        .long   count_load + 5 - count_template
        .long   count_store + 5 - count_template
        .long   on_entry - loft_calls_head
        .long   on_exit - loft_calls_head
        .long   on_switch - loft_calls_head
        .long   switch_template - loft_calls_head
        .long   switch_template_end - switch_template
        .long   switch_arguments + 1 - switch_template
        .long   switch_call + 1 - switch_template
        .long   loader_template - loft_calls_head
        .long   loader_template_end - loader_template
        .long   loader_call + 1 - loader_template
        .long   on_loader - loft_calls_head
        .long   loader_trap - loft_calls_head

/* In front of a function's first instructions. */
entry_template:
entry_slow:
entry_slow_id:
        movl    $0x12345678, %edx
entry_slow_call:
        call    on_entry
        jmp     entry_done
entry_node:
entry_node_call:
        call    on_node
        jmp     entry_clock
entry_start:
        save_three
        movq    %gs:LOFT_CALLS_TOP, %rcx
        leaq    SAVED_THREE(%rsp), %rax
        movq    (%rax), %rdx
        notq    %rax
        cmpq    LOFT_CALLS_NOT_SLOT(%rcx), %rax
        jbe     entry_slow
        leaq    LOFT_CALLS_FRAME_SIZE(%rcx), %rcx
        cmpq    %gs:LOFT_CALLS_LIMIT, %rcx
        ja      entry_slow
        movq    %rcx, %gs:LOFT_CALLS_TOP
entry_id:
        movl    $0x12345678, LOFT_CALLS_FUNCTION(%rcx)
        movq    %rdx, LOFT_CALLS_RETURN(%rcx)
        movl    %gs:LOFT_CALLS_STACK, %edx
        movl    %edx, LOFT_CALLS_ON_STACK(%rcx)
        movq    $0, LOFT_CALLS_CHILD(%rcx)
entry_open:
        incq    %gs:0x12345678
        movq    %rax, LOFT_CALLS_NOT_SLOT(%rcx)
        movl    LOFT_CALLS_NODE - LOFT_CALLS_FRAME_SIZE(%rcx), %edx
        shlq    $32, %rdx
entry_key:
        orq     $0x12345678, %rdx
        imulq   $LOFT_CALLS_NODE_HASH, %rdx, %rax
        shrq    $(64 - LOFT_CALLS_NODE_BITS), %rax
        shll    $5, %eax
        movl    %eax, LOFT_CALLS_NODE(%rcx)
        addq    %gs:LOFT_CALLS_NODES, %rax
        cmpq    %rdx, (%rax)
        jne     entry_node
entry_clock:
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        movq    %rax, LOFT_CALLS_BEGIN(%rcx)
        movq    %gs:LOFT_CALLS_SKEW, %rdx
        subq    %rdx, %rax
        movq    %rax, LOFT_CALLS_START(%rcx)
        addq    %gs:LOFT_CALLS_FLOOR, %rdx
        movq    %rdx, %gs:LOFT_CALLS_SKEW
entry_done:
        restore_three
entry_template_end:

/* Where calls are counted and nothing else: no flag is changed. */
count_template:
        leaq    -RED_ZONE(%rsp), %rsp
        pushq   %rax
count_load:
        movq    %gs:0x12345678, %rax
        leaq    1(%rax), %rax
count_store:
        movq    %rax, %gs:0x12345678
        popq    %rax
        leaq    RED_ZONE(%rsp), %rsp
count_template_end:

/* In front of functions of enum loft_calls_leave. */
switch_template:
        save_three
switch_arguments:
        movl    $0x12345678, %eax
switch_call:
        call    on_switch
        restore_three
switch_template_end:

/* In front of the function by which the loader tells debuggers of libraries. */
loader_template:
        save_three
loader_call:
        call    on_loader
        restore_three
loader_template_end:

        .text
/* Called from loader_template. Whoever traces the program finds it behind loader_trap; where nobody does any more, a
 * trap would end the program. */
on_loader:
        save_others
        call    loft_calls_is_traced
        testl   %eax, %eax
        je      1f
        int3
loader_trap:
1:      restore_others
        ret

/* Called from entry_slow. The function in edx, the slot in rax. */
on_entry:
        leaq    SAVED_THREE + 8(%rsp), %rax
        save_others
        movq    %gs:LOFT_CALLS_SELF, %rdi
        movq    %rax, %rsi
        call    loft_calls_entry
        restore_others
        ret

/* Called from entry_node. The frame in rcx, the key of its node in rdx. */
on_node:
        save_others
        movq    %gs:LOFT_CALLS_SELF, %rdi
        movq    %rdx, %rsi
        pushq   %rcx
        pushq   %rcx
        call    loft_calls_node_of
        popq    %rcx
        popq    %rcx
        movl    %eax, LOFT_CALLS_NODE(%rcx)
        restore_others
        ret

/* Instead of a ret. */
on_exit:
        save_three
        movq    %gs:LOFT_CALLS_TOP, %rcx
        leaq    SAVED_THREE(%rsp), %rdx
        notq    %rdx
        cmpq    LOFT_CALLS_NOT_SLOT(%rcx), %rdx
        jne     exit_other
        cmpq    $0, %gs:LOFT_CALLS_RING
        jne     exit_slow
exit_again:
        pushq   %rsi
        pushq   %rdi
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        subq    %gs:LOFT_CALLS_SKEW, %rax
        subq    LOFT_CALLS_START(%rcx), %rax
        movl    LOFT_CALLS_FUNCTION(%rcx), %edi
        andl    $~LOFT_CALLS_FACTS, %edi
        addq    %gs:LOFT_CALLS_SELF, %rdi
        cmpq    LOFT_CALLS_LARGE(%rdi), %rax
        ja      exit_large                      /* or less than the clock itself takes */
        movq    %rax, %rsi
        subq    LOFT_CALLS_CHILD(%rcx), %rsi
        movl    LOFT_CALLS_NODE(%rcx), %edx
        addq    %gs:LOFT_CALLS_NODES, %rdx
        incq    LOFT_CALLS_NODE_CALLS(%rdx)
        addq    %rax, LOFT_CALLS_NODE_SUM(%rdx)
        addq    %rsi, LOFT_CALLS_NODE_OWN(%rdx)
        movl    LOFT_CALLS_FUNCTION(%rcx), %edx
        andl    $~LOFT_CALLS_FACTS, %edx
        imulq   $(LOFT_CALLS_HISTOGRAM_SIZE / LOFT_CALLS_SUMS_SIZE), %rdx, %rdx
        addq    %gs:LOFT_CALLS_STEPS, %rdx
        movq    $0, LOFT_CALLS_NOT_SLOT(%rcx)
        leaq    -LOFT_CALLS_FRAME_SIZE(%rcx), %rcx
        movq    %rcx, %gs:LOFT_CALLS_TOP
        addq    %rax, LOFT_CALLS_CHILD(%rcx)
        addq    %rsi, LOFT_CALLS_OWN(%rdi)
        incq    LOFT_CALLS_CALLS(%rdi)
        addq    %rax, LOFT_CALLS_SUM(%rdi)
        decq    LOFT_CALLS_OPEN(%rdi)
        jne     1f
        addq    %rax, LOFT_CALLS_TOTAL(%rdi)
1:      movq    %rax, %rsi
        notq    %rsi
        cmpq    LOFT_CALLS_NOT_MIN(%rdi), %rsi
        jbe     3f
        movq    %rsi, LOFT_CALLS_NOT_MIN(%rdi)
3:      /* The step: base/log_linear.hpp. rdx is where histograms would begin for offset 0. */
        cmpq    $8, %rax
        jb      4f
        bsrq    %rax, %rdi
        leal    -3(%rdi), %edi
        pushq   %rcx
        movl    %edi, %ecx
        shrq    %cl, %rax
        popq    %rcx
        leaq    (%rax,%rdi,8), %rax
4:      incq    -(LOFT_CALLS_SUMS * (LOFT_CALLS_HISTOGRAM_SIZE / LOFT_CALLS_SUMS_SIZE))(%rdx,%rax,8)
        popq    %rdi
        popq    %rsi
        leaq    SAVED_THREE(%rsp), %rdx
        notq    %rdx
        cmpq    LOFT_CALLS_NOT_SLOT(%rcx), %rdx
        je      exit_again              /* a call that had jumped to the one that returns */
exit_done:
        restore_three
        ret
exit_large:
        popq    %rdi
        popq    %rsi
        leaq    SAVED_THREE(%rsp), %rdx
        notq    %rdx
        jmp     exit_slow
exit_other:
        jb      exit_slow
        cmpl    $0, %gs:LOFT_CALLS_SWITCHED
        je      exit_done
exit_slow:
        save_others
        movq    %gs:LOFT_CALLS_SELF, %rdi
        movq    %rdx, %rsi
        notq    %rsi
        call    loft_calls_exit
        restore_others
        jmp     exit_done

/* Called from switch_template. What the function does in eax; its own arguments are in rdi and rsi. */
on_switch:
        leaq    SAVED_THREE + 8(%rsp), %rcx
        save_others
        movq    %rsi, %rdx
        movq    %rdi, %rsi
        movq    %gs:LOFT_CALLS_SELF, %rdi
        movq    %rcx, %r8
        movl    %eax, %ecx
        call    loft_calls_leave
        restore_others
        ret

        .section .note.GNU-stack, "", @progbits
