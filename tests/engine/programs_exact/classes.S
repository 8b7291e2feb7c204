# Every class of instruction that all x86-64 processors have, a known number of times, and exit(0).
# No libc: these are the counts of the whole process. A test reads the lines "# expect".
#
# The outer loop runs 100 times: 99 instructions a round. What one round holds is said beside it.
#
# expect instructions 9905
# expect loads 3400
# expect stores 3100
# expect load_bytes 21900
# expect store_bytes 20400
# expect branches 1000
# expect branches_taken 799
# expect branches_not_taken 201
# expect calls 200
# expect returns 200
# expect flops 1500
# expect x87 500
# expect syscalls 1
# expect atomics 300
# expect string_iterations 1900
# expect repeated_instructions 400
# expect non_temporal_stores 100
# expect non_temporal_store_bytes 1600
# expect flops_sp 900
# expect fp_scalar_sp 100
# expect flops_scalar_sp 100
# expect fp_128_sp 200
# expect flops_128_sp 800
# expect flops_dp 600
# expect fp_scalar_dp 200
# expect flops_scalar_dp 200
# expect fp_128_dp 200
# expect flops_128_dp 400
# expect flops_scalar 300
# expect flops_128 1200
# expect branches_conditional 300
# expect branches_loop 100
# expect branches_jump 100
# expect branches_indirect_jump 100
# expect branches_call 100
# expect branches_indirect_call 100
# expect branches_return 200
# expect branches_conditional_taken 199
# expect branches_conditional_not_taken 101
# expect branches_loop_not_taken 100
# expect loads_1 900
# expect load_bytes_1 900
# expect loads_2 100
# expect load_bytes_2 200
# expect loads_4 200
# expect load_bytes_4 800
# expect loads_8 1900
# expect load_bytes_8 15200
# expect loads_16 300
# expect load_bytes_16 4800
# expect loads_stack 400
# expect load_bytes_stack 3200
# expect loads_absolute 1300
# expect load_bytes_absolute 10000
# expect loads_string 1700
# expect load_bytes_string 8700
# expect stores_1 400
# expect store_bytes_1 400
# expect stores_2 100
# expect store_bytes_2 200
# expect stores_4 700
# expect store_bytes_4 2800
# expect stores_8 1600
# expect store_bytes_8 12800
# expect stores_10 100
# expect store_bytes_10 1000
# expect stores_16 200
# expect store_bytes_16 3200
# expect stores_stack 400
# expect store_bytes_stack 3200
# expect stores_absolute 1100
# expect store_bytes_absolute 7100
# expect stores_string 1600
# expect store_bytes_string 10100
# expect fp_add 200
# expect flops_add 200
# expect fp_add_scalar_sp 100
# expect fp_add_scalar_dp 100
# expect fp_sub 100
# expect flops_sub 200
# expect fp_sub_128_dp 100
# expect fp_mul 200
# expect flops_mul 600
# expect fp_mul_128_sp 100
# expect fp_mul_128_dp 100
# expect fp_sqrt 100
# expect flops_sqrt 100
# expect fp_sqrt_scalar_dp 100
# expect fp_max 100
# expect flops_max 400
# expect fp_max_128_sp 100
# expect simd_int_64 100
# expect simd_int_128 800
# expect class_int_arith 500
# expect class_int_mul 200
# expect class_int_div 100
# expect class_int_logic 702
# expect class_int_shift 200
# expect class_int_bit 200
# expect class_int_compare 300
# expect class_int_move 902
# expect class_int_extend 200
# expect class_lea 700
# expect class_cmov 100
# expect class_setcc 100
# expect class_stack 400
# expect class_string 500
# expect class_flag_control 200
# expect class_cond_branch 300
# expect class_loop_branch 100
# expect class_jump 100
# expect class_indirect_jump 100
# expect class_call 100
# expect class_indirect_call 100
# expect class_return 200
# expect class_syscall 1
# expect class_atomic 300
# expect class_fence 100
# expect class_prefetch 100
# expect class_nop 100
# expect class_x87_arith 100
# expect class_x87_compare 100
# expect class_x87_move 200
# expect class_x87_control 100
# expect class_mmx 100
# expect class_fp_arith 700
# expect class_fp_compare 100
# expect class_fp_convert 200
# expect class_fp_move 300
# expect class_fp_logic 100
# expect class_fp_shuffle 100
# expect class_simd_arith 100
# expect class_simd_mul 100
# expect class_simd_compare 100
# expect class_simd_logic 100
# expect class_simd_shift 100
# expect class_simd_move 200
# expect class_simd_shuffle 100
# expect class_cpu_state 100
# expect class_int_arith_32 500
# expect class_int_arith_loading 100
# expect class_int_arith_load_bytes 400
# expect class_int_arith_storing 100
# expect class_int_arith_store_bytes 400
# expect class_int_mul_32 100
# expect class_int_mul_64 100
# expect class_int_mul_loading 100
# expect class_int_mul_load_bytes 800
# expect class_int_div_32 100
# expect class_int_logic_8 100
# expect class_int_logic_32 602
# expect class_int_logic_loading 100
# expect class_int_logic_load_bytes 100
# expect class_int_logic_storing 100
# expect class_int_logic_store_bytes 100
# expect class_int_shift_64 200
# expect class_int_bit_32 200
# expect class_int_compare_16 100
# expect class_int_compare_32 200
# expect class_int_compare_loading 100
# expect class_int_compare_load_bytes 200
# expect class_int_move_8 200
# expect class_int_move_32 702
# expect class_int_move_storing 200
# expect class_int_move_store_bytes 200
# expect class_int_extend_32 100
# expect class_int_extend_64 100
# expect class_int_extend_loading 100
# expect class_int_extend_load_bytes 100
# expect class_lea_64 700
# expect class_cmov_32 100
# expect class_setcc_8 100
# expect class_stack_64 400
# expect class_stack_loading 300
# expect class_stack_load_bytes 2400
# expect class_stack_storing 200
# expect class_stack_store_bytes 1600
# expect class_string_8 300
# expect class_string_32 100
# expect class_string_64 100
# expect class_string_loading 400
# expect class_string_load_bytes 8700
# expect class_string_storing 400
# expect class_string_store_bytes 10100
# expect class_call_storing 100
# expect class_call_store_bytes 800
# expect class_indirect_call_storing 100
# expect class_indirect_call_store_bytes 800
# expect class_return_loading 200
# expect class_return_load_bytes 1600
# expect class_atomic_32 100
# expect class_atomic_64 200
# expect class_atomic_loading 300
# expect class_atomic_load_bytes 2000
# expect class_atomic_storing 300
# expect class_atomic_store_bytes 2000
# expect class_x87_move_storing 100
# expect class_x87_move_store_bytes 1000
# expect class_x87_control_storing 100
# expect class_x87_control_store_bytes 200
# expect class_fp_arith_scalar 300
# expect class_fp_arith_128 400
# expect class_fp_arith_loading 200
# expect class_fp_arith_load_bytes 3200
# expect class_fp_compare_scalar 100
# expect class_fp_compare_scalar_dp 100
# expect class_fp_convert_scalar 200
# expect class_fp_move_scalar 100
# expect class_fp_move_scalar_dp 100
# expect class_fp_move_128 200
# expect class_fp_move_128_sp 200
# expect class_fp_move_loading 100
# expect class_fp_move_load_bytes 800
# expect class_fp_move_storing 100
# expect class_fp_move_store_bytes 1600
# expect class_fp_logic_128 100
# expect class_fp_logic_128_sp 100
# expect class_fp_shuffle_128 100
# expect class_fp_shuffle_128_sp 100
# expect class_simd_arith_128 100
# expect class_simd_mul_128 100
# expect class_simd_compare_128 100
# expect class_simd_logic_128 100
# expect class_simd_shift_128 100
# expect class_simd_move_128 200
# expect class_simd_move_loading 100
# expect class_simd_move_load_bytes 1600
# expect class_simd_move_storing 100
# expect class_simd_move_store_bytes 1600
# expect class_simd_shuffle_128 100
# expect class_gather 0
# expect class_scatter 0
# expect class_mask 0
# expect class_amx_compute 0
# expect class_crypto 0
# expect class_interrupt 0
# expect class_other 0
# expect flops_hp 0
# expect fp_256_dp 0
# expect fp_512_sp 0
# expect loads_masked 0
# expect stores_masked 0
# expect loads_vector 0
# expect branches_loop_taken 0
# expect masked_instructions 0

.intel_syntax noprefix
.globl _start

.bss
.balign 64
buffer: .skip 4096
copy:   .skip 4096

.text
_start:
        xor ebp, ebp                    # 1 int_logic, before the loop
        mov r15d, 100                   # 1 int_move, before the loop
round:
        # 2 int_arith on registers, 1 on memory: load and store of 4 bytes
        add eax, 1
        sub ecx, 1
        add dword ptr [buffer], 3
        # 2 int_mul, one loading 8 bytes
        imul eax, ecx
        imul rdx, qword ptr [buffer+8]
        # 1 int_div after 1 int_logic and 2 int_move
        xor edx, edx
        mov eax, 1000
        mov ecx, 7
        div ecx
        # 1 int_logic on memory (1 byte), 2 int_shift, 2 int_bit
        or byte ptr [buffer+16], 1
        shl rax, 3
        shr rax, cl
        bsf ecx, eax
        bt eax, 3
        # 2 int_compare (one loading 2 bytes), 1 setcc, 1 cmov
        cmp eax, ecx
        setz bl
        test word ptr [buffer+32], 15
        cmovz eax, ecx
        # 2 int_extend (one loading 1 byte), 2 lea
        movsxd rax, ecx
        movzx ecx, byte ptr [buffer+1]
        lea rsi, [buffer]
        lea rdi, [copy]
        # 4 stack: 2 stores and 2 loads of 8 bytes; 1 of the stores also loads
        push rax
        push qword ptr [buffer]
        pop rax
        pop rcx
        # 2 flag_control, 1 nop, 1 prefetch, 1 fence
        stc
        cld
        nop
        prefetcht0 [buffer]
        mfence
        # 3 atomic: loads and stores of 4, 8 and 8 bytes; 1 int_move
        lock add dword ptr [buffer+40], 1
        mov eax, 1
        xchg qword ptr [buffer+48], rax
        lock cmpxchg qword ptr [buffer+48], rcx
        # 5 string: 1 byte copied, 10 elements of 8 bytes copied, none copied, 5 elements of 4 bytes
        # stored, and a comparison that ends after 3 of 20 bytes; 5 int_move, 3 lea
        movsb
        mov ecx, 10
        rep movsq
        xor ecx, ecx                    # 1 int_logic
        rep movsb
        lea rdi, [copy]
        mov ecx, 5
        xor eax, eax                    # 1 int_logic
        rep stosd
        lea rsi, [buffer+1024]
        lea rdi, [copy+1024]
        mov byte ptr [buffer+1026], 1   # stores 1 byte
        mov byte ptr [copy+1026], 2     # stores 1 byte
        mov ecx, 20
        repe cmpsb
        # floating point: 4 fp_arith of double (6 operations, one loading 16 bytes), 3 of single (9 operations,
        # one loading 16 bytes), 2 fp_convert, 3 fp_move (8 bytes loaded, 16 stored), 1 each of fp_logic,
        # fp_compare and fp_shuffle
        cvtsi2sd xmm0, r15d
        cvtsd2ss xmm1, xmm0
        movsd xmm2, qword ptr [buffer+64]
        movaps xmm3, xmm0
        addsd xmm0, xmm2
        mulpd xmm3, xmmword ptr [buffer+128]
        subpd xmm3, xmm2
        addss xmm1, xmm1
        mulps xmm1, xmmword ptr [buffer+160]
        maxps xmm1, xmm1
        sqrtsd xmm2, xmm0
        andps xmm1, xmm2
        ucomisd xmm0, xmm2
        unpcklps xmm1, xmm1
        movups xmmword ptr [buffer+192], xmm1
        # integers in vectors: 1 simd_arith, 1 simd_mul, 1 simd_compare, 1 simd_logic, 1 simd_shift, 2 simd_move
        # (16 bytes loaded, 16 stored), 1 simd_shuffle
        movdqa xmm4, xmmword ptr [buffer+256]
        paddd xmm4, xmm5
        pmuludq xmm4, xmm5
        pcmpeqd xmm5, xmm4
        pxor xmm5, xmm4
        pslld xmm4, 2
        pshufd xmm4, xmm4, 27
        movntdq xmmword ptr [buffer+272], xmm4
        # x87: 2 x87_move (10 bytes stored), 1 x87_arith, 1 x87_compare, 1 x87_control (2 bytes stored)
        fld1
        fadd st(0), st(0)
        ftst
        fstp tbyte ptr [buffer+512]
        fnstcw word ptr [buffer+528]
        # mmx: 1 mmx and 1 cpu_state
        paddb mm0, mm1
        emms
        # branches: 1 conditional taken, 1 not taken, 1 jump, 1 indirect jump (1 lea), 1 call, 1 indirect call
        # (1 lea), 2 returns after an int_logic each, 1 loop not taken (1 int_move); 1 int_logic
        xor eax, eax
        jz 1f
        ud2
1:      jnz bad
        jmp 2f
        ud2
2:      lea rax, [rip+3f]
        jmp rax
        ud2
3:      call function
        lea rax, [rip+function]
        call rax
        mov ecx, 1
        loop bad
        # 2 int_arith and 1 int_compare of the loop, and its conditional branch, taken 99 times
        dec r15d
        inc ebp
        test r15d, r15d
        jnz round

        mov eax, 60                     # 1 int_move, after the loop
        xor edi, edi                    # 1 int_logic, after the loop
        syscall                         # 1 syscall
bad:    ud2
function:
        not edx
        ret

.section .note.GNU-stack,"",@progbits
