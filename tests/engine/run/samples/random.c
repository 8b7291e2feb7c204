// Runs random blocks of instructions and prints what each left behind: registers, flags, vector
// registers and memory. Natively and under the engine it must print the same.
//   random SEED BLOCKS
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// What a block starts with and leaves: rax rcx rdx rbx rbp rsi rdi r8..r15, flags, xmm0..7.
struct State {
  uint64_t general[15];
  uint64_t flags;
  uint8_t vector[8][16];
} state;
uint64_t saved_stack;
void (*block)(void);

void run_block(void);
__asm__(
    ".text\n.globl run_block\n.type run_block, @function\nrun_block:\n"
    " push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp, saved_stack(%rip)\n"
    " movdqu state+128(%rip), %xmm0\n movdqu state+144(%rip), %xmm1\n"
    " movdqu state+160(%rip), %xmm2\n movdqu state+176(%rip), %xmm3\n"
    " movdqu state+192(%rip), %xmm4\n movdqu state+208(%rip), %xmm5\n"
    " movdqu state+224(%rip), %xmm6\n movdqu state+240(%rip), %xmm7\n"
    " push state+120(%rip)\n popf\n"
    " mov state(%rip), %rax\n mov state+8(%rip), %rcx\n mov state+16(%rip), %rdx\n"
    " mov state+24(%rip), %rbx\n mov state+32(%rip), %rbp\n mov state+40(%rip), %rsi\n"
    " mov state+48(%rip), %rdi\n mov state+56(%rip), %r8\n mov state+64(%rip), %r9\n"
    " mov state+72(%rip), %r10\n mov state+80(%rip), %r11\n mov state+88(%rip), %r12\n"
    " mov state+96(%rip), %r13\n mov state+104(%rip), %r14\n mov state+112(%rip), %r15\n"
    " call *block(%rip)\n"
    " mov %rax, state(%rip)\n mov %rcx, state+8(%rip)\n mov %rdx, state+16(%rip)\n"
    " mov %rbx, state+24(%rip)\n mov %rbp, state+32(%rip)\n mov %rsi, state+40(%rip)\n"
    " mov %rdi, state+48(%rip)\n mov %r8, state+56(%rip)\n mov %r9, state+64(%rip)\n"
    " mov %r10, state+72(%rip)\n mov %r11, state+80(%rip)\n mov %r12, state+88(%rip)\n"
    " mov %r13, state+96(%rip)\n mov %r14, state+104(%rip)\n mov %r15, state+112(%rip)\n"
    " pushf\n pop state+120(%rip)\n mov saved_stack(%rip), %rsp\n"
    " movdqu %xmm0, state+128(%rip)\n movdqu %xmm1, state+144(%rip)\n"
    " movdqu %xmm2, state+160(%rip)\n movdqu %xmm3, state+176(%rip)\n"
    " movdqu %xmm4, state+192(%rip)\n movdqu %xmm5, state+208(%rip)\n"
    " movdqu %xmm6, state+224(%rip)\n movdqu %xmm7, state+240(%rip)\n cld\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
    ".size run_block, .-run_block\n");

static uint64_t seed;
static unsigned pick(unsigned below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(seed >> 33) % below;
}

static uint8_t* at;
static uint8_t* data;  // rbx points to its middle; 4 KiB
static void put(unsigned byte) { *at++ = (uint8_t)byte; }
static void put_32(uint32_t value) { memcpy(at, &value, 4), at += 4; }

// A register that a block may change: neither rsp nor rbx.
static unsigned target(void) {
  static const unsigned char kFree[] = {0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return kFree[pick(sizeof kFree)];
}

// The bytes from the prefixes to the displacement: reg, and a register or memory around rbx or
// relative to rip. `imm` bytes follow it.
static void modrm(int wide, int has_0f, unsigned opcode, unsigned reg, int memory, unsigned imm) {
  const unsigned other = target();
  const unsigned form = memory ? 1 + pick(2) : 0;
  const unsigned rex = 0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0) | (!form && other >= 8 ? 1 : 0);
  put(rex);
  if (has_0f) put(0x0F);
  put(opcode);
  if (form == 0) {
    put(0xC0 | (reg & 7) << 3 | (other & 7));
  } else if (form == 1) {
    put(0x83 | (reg & 7) << 3), put_32((uint32_t)(8 * (int)pick(200) - 800));
  } else {
    put(0x05 | (reg & 7) << 3);
    put_32((uint32_t)(data + 8 * pick(400) - (at + 4 + imm)));
  }
}

static void arithmetic(void) {
  static const unsigned char kBoth[] = {0x01, 0x03, 0x09, 0x0B, 0x11, 0x13, 0x19, 0x1B, 0x21, 0x23,
                                        0x29, 0x2B, 0x31, 0x33, 0x39, 0x3B, 0x85, 0x87, 0x89, 0x8B};
  if (pick(6) == 0) put(0x66);
  modrm((int)pick(2), 0, kBoth[pick(sizeof kBoth)], target(), (int)pick(2), 0);
}

static void with_immediate(void) {
  switch (pick(4)) {
    case 0:
      modrm((int)pick(2), 0, 0x83, pick(8), (int)pick(2), 1);
      put(pick(256));
      break;
    case 1:
      modrm((int)pick(2), 0, 0x81, pick(8), (int)pick(2), 4);
      put_32(pick(1u << 31));
      break;
    case 2: {  // shifts and rotations; 6 is no instruction of its own
      static const unsigned char kShift[] = {0, 1, 2, 3, 4, 5, 7};
      modrm((int)pick(2), 0, 0xC1, kShift[pick(7)], (int)pick(2), 1);
      put(pick(70));
      break;
    }
    default:
      modrm((int)pick(2), 1, 0xBA, 4 + pick(4), (int)pick(2), 1);
      put(pick(64));
      break;
  }
}

static void other(void) {
  static const unsigned char kTwoByte[] = {0xAF, 0xB6, 0xB7, 0xBE, 0xBF, 0xBC, 0xBD, 0xA5, 0xAD};
  switch (pick(12)) {
    case 0:
      modrm((int)pick(2), 1, kTwoByte[pick(sizeof kTwoByte)], target(), (int)pick(2), 0);
      break;
    case 1:  // cmov
      modrm((int)pick(2), 1, 0x40 | pick(16), target(), (int)pick(2), 0);
      break;
    case 2:  // setcc
      modrm(0, 1, 0x90 | pick(16), 0, (int)pick(2), 0);
      break;
    case 3:  // inc, dec
      modrm((int)pick(2), 0, 0xFF, pick(2), (int)pick(2), 0);
      break;
    case 4:  // not, neg, mul, imul
      modrm((int)pick(2), 0, 0xF7, 2 + pick(4), (int)pick(2), 0);
      break;
    case 5:  // shift by cl
      modrm((int)pick(2), 0, 0xD3, pick(6), (int)pick(2), 0);
      break;
    case 6:  // lahf or sahf, cmc, stc, clc
      put("\x9F\x9E\xF5\xF9\xF8"[pick(5)]);
      break;
    case 7: {  // push and pop
      put(0x50 | pick(4));
      arithmetic();
      put(0x58 | pick(3));
      break;
    }
    case 8:  // lock xadd, cmpxchg
      put(0xF0);
      modrm((int)pick(2), 1, pick(2) ? 0xC1 : 0xB1, target(), 1, 0);
      break;
    case 9:  // pushf; pop
      put(0x9C), put(0x58 | pick(3));
      break;
    case 10: {  // bit string in memory: the bit number is cut to what is ours
      put(0x83), put(0xE1), put(0x7F);
      modrm((int)pick(2), 1, "\xA3\xAB\xB3\xBB"[pick(4)] & 0xFF, 1, 1, 0);
      break;
    }
    default:  // lea
      modrm(1, 0, 0x8D, target(), 1, 0);
      break;
  }
}

static void vector(void) {
  static const unsigned char kOps[] = {0x54, 0x57, 0x14, 0xD4, 0xFE, 0xEF, 0xDB, 0x60, 0x74, 0xF4};
  if (pick(2))
    put(0x66), put(0x0F), put(kOps[pick(sizeof kOps)]);
  else
    put(pick(2) ? 0xF3 : 0xF2), put(0x0F), put("\x58\x59\x5C\x5D"[pick(4)]);
  put(0xC0 | pick(8) << 3 | pick(8));
}

static void string(void) {  // rdi and rsi inside of data, rcx small, perhaps backwards
  put(0x48), put(0x8D), put(0xBB), put_32(pick(256));
  put(0x48), put(0x8D), put(0xB3), put_32(pick(256));
  put(0xB9), put_32(pick(12));
  const int down = pick(4) == 0;
  if (down) put(0xFD);
  put("\xF3\xF2"[pick(2)]);
  put("\xA4\xA5\xA6\xAE\xAA\xAB"[pick(6)]);
  if (down) put(0xFC);
}

static void instruction(void) {
  switch (pick(10)) {
    case 0:
      with_immediate();
      break;
    case 1:
    case 2:
      other();
      break;
    case 3:
      vector();
      break;
    case 4:
      if (pick(4) == 0)
        string();
      else
        with_immediate();
      break;
    default:
      arithmetic();
      break;
  }
}

// A branch over some instructions, a loop, a call, or a jump through a register.
static void branch(void) {
  uint8_t* hole = NULL;
  switch (pick(5)) {
    case 0:  // jcc
    case 1:
      put(0x70 | pick(16)), put(0), hole = at;
      instruction();
      hole[-1] = (uint8_t)(at - hole);
      break;
    case 2: {  // a loop that the flags cannot prolong
      put(0xB9), put_32(1 + pick(9));
      uint8_t* top = at;
      put(0x48), put(0x89), put(0xC8 | 2);  // mov rdx, rcx
      put(0xE2), put(0), at[-1] = (uint8_t)(top - at);
      break;
    }
    case 3:  // call over a function of two instructions, then call it
      put(0xEB), put(0), hole = at;
      {
        uint8_t* function = at;
        arithmetic();
        put(0xC3);
        hole[-1] = (uint8_t)(at - hole);
        put(0xE8), put_32((uint32_t)(function - (at + 4)));
      }
      break;
    default:  // lea rax, [rip + 2 behind]; jmp rax
      put(0x48), put(0x8D), put(0x05), put_32(2 + 3);
      put(0xFF), put(0xE0);
      put(0x0F), put(0x1F), put(0x00);
      break;
  }
}

static uint64_t hash(const void* from, size_t size) {
  uint64_t sum = 0xCBF29CE484222325u;
  for (size_t i = 0; i < size; ++i) sum = (sum ^ ((const uint8_t*)from)[i]) * 0x100000001B3u;
  return sum;
}

int main(int count, char** arguments) {
  seed = strtoull(arguments[1], NULL, 0);
  const int blocks = count > 2 ? atoi(arguments[2]) : 100;
  // At a fixed place: addresses are in registers.
  uint8_t* code = mmap((void*)0x500000000, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (code != (void*)0x500000000) return 1;
  data = code + (1 << 19);
  at = code;
  for (int i = 0; i < 15; ++i) state.general[i] = seed * (uint64_t)(i + 3) ^ (uint64_t)i << 60;
  state.flags = 0x202;
  for (int i = 0; i < blocks; ++i) {
    if (at > code + (1 << 18)) at = code;
    uint8_t* start = at;
    const unsigned length = 1 + pick(20);
    for (unsigned k = 0; k < length; ++k) pick(6) == 0 ? branch() : instruction();
    put(0xC3);
    state.general[3] = (uint64_t)(data + 2048);  // rbx
    memcpy(&block, &start, sizeof block);
    run_block();
    printf("%d %016lx %016lx\n", i, (unsigned long)hash(&state, sizeof state),
           (unsigned long)hash(data, 4096));
  }
  return 0;
}
