// Inner loops of systems that people build, with one bottleneck each; nobody tuned the timing model
// with these. This part: decoders and interpreters, at the mercy of the branch predictor.
#include <vector>

#include "kernel.hpp"

using kernels::g_integer;
using kernels::kKiB;
using kernels::memory;
using kernels::random_below;

// A block of LZ4: literals and matches, short and long ones.
namespace {
constexpr int kSequences = 65536;
std::vector<unsigned char> g_block;
template <bool kRandom>
void prepare_lz4() {
  g_block.clear();
  for (int i = 0; i < kSequences; ++i) {
    const std::uint64_t literals = kRandom ? random_below(15) : i % 2 == 0 ? 4 : 10;
    const std::uint64_t match = kRandom ? random_below(15) : i % 2 == 0 ? 2 : 12;
    g_block.push_back(static_cast<unsigned char>(literals << 4 | match));
    for (std::uint64_t k = 0; k < literals; ++k) g_block.push_back('x');
    const std::uint64_t offset = 1024 + random_below(3072);
    g_block.push_back(static_cast<unsigned char>(offset));
    g_block.push_back(static_cast<unsigned char>(offset >> 8));
  }
  g_block.resize(g_block.size() + 32);
}
__attribute__((always_inline)) inline void copy_eight(char* to, const void* from) {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  std::memcpy(to, &word, 8);
  asm volatile("" : : : "memory");
}
__attribute__((noinline)) void decode_lz4() {
  const unsigned char* from = g_block.data();
  char* const start = memory(20 * kKiB) + 4096;
  char* to = start;
  for (int i = 0; i < kSequences; ++i) {
    const unsigned token = *from++;
    const unsigned literals = token >> 4, match = (token & 15) + 4;
    copy_eight(to, from);
    if (literals > 7) copy_eight(to + 8, from + 8);
    from += literals, to += literals;
    const char* back = to - (from[0] | from[1] << 8);
    from += 2;
    copy_eight(to, back);
    if (match > 8) {
      copy_eight(to + 8, back + 8);
      copy_eight(to + 16, back + 16);
    }
    to += match;
    if (to > start + 12 * kKiB) to = start;
  }
  g_integer = static_cast<std::uint64_t>(*to);
}
}  // namespace
KERNEL(lz4_block, "mispredictions", kSequences, prepare_lz4<true>) { decode_lz4(); }
RELIEVED(lz4_block, kSequences, prepare_lz4<false>) { decode_lz4(); }

namespace {
std::vector<unsigned char> g_json;
template <bool kSorted>
void prepare_json() {
  const char* characters = "{}[],:\"0123 x-";
  g_json.clear();
  for (int i = 0; i < 262144; ++i)
    g_json.push_back(static_cast<unsigned char>(characters[random_below(14)]));
  if (kSorted) std::sort(g_json.begin(), g_json.end());
}
__attribute__((noinline)) void scan_json() {
  std::uint64_t depth = 0, members = 0, strings = 0, number = 0, spaces = 0, others = 0;
  for (const unsigned char c : g_json) switch (c) {
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        --depth;
        break;
      case ',':
        members += 2;
        break;
      case ':':
        members ^= depth;
        break;
      case '"':
        strings = ~strings;
        break;
      case '0':
      case '1':
      case '2':
      case '3':
        number = number * 2 + c;
        break;
      case ' ':
        spaces += 3;
        break;
      case '-':
        number = ~number;
        break;
      default:
        others += c;
    }
  g_integer = depth + members + strings + number + spaces + others;
}
}  // namespace
KERNEL(json_scan, "mispredictions", 262144, prepare_json<false>) { scan_json(); }
RELIEVED(json_scan, 262144, prepare_json<true>) { scan_json(); }

namespace {
constexpr int kOperations = 65536;
std::vector<unsigned char> g_bytecode;
template <bool kRandom>
void prepare_bytecode() {
  g_bytecode.resize(kOperations + 1);
  for (int i = 0; i < kOperations; ++i)
    g_bytecode[static_cast<std::size_t>(i)] =
        static_cast<unsigned char>(kRandom ? random_below(8) : static_cast<std::uint64_t>(i) % 8);
  g_bytecode[kOperations] = 8;
}
}  // namespace
namespace {
__attribute__((noinline)) void run_bytecode() {
  static const void* const labels[] = {&&add,  &&subtract, &&exclusive, &&shift, &&either,
                                       &&both, &&negate,   &&increase,  &&stop};
  const unsigned char* at = g_bytecode.data();
  std::uint64_t a = g_integer, b = 7;
#define LOFT_NEXT goto* labels[*at++]
  LOFT_NEXT;
add:
  a += b;
  LOFT_NEXT;
subtract:
  b -= a;
  LOFT_NEXT;
exclusive:
  a ^= b;
  LOFT_NEXT;
shift:
  a >>= 1;
  LOFT_NEXT;
either:
  b |= 9;
  LOFT_NEXT;
both:
  b &= 0xffff;
  LOFT_NEXT;
negate:
  a = ~a;
  LOFT_NEXT;
increase:
  b += 5;
  LOFT_NEXT;
stop:
#undef LOFT_NEXT
  g_integer = a + b;
}
}  // namespace
KERNEL(goto_interpreter, "mispredictions", kOperations, prepare_bytecode<true>) { run_bytecode(); }
RELIEVED(goto_interpreter, kOperations, prepare_bytecode<false>) { run_bytecode(); }

namespace {
constexpr int kRuns = 32768;
std::vector<unsigned char> g_runs;
template <bool kRandom>
void prepare_runs() {
  g_runs.clear();
  for (int i = 0; i < kRuns; ++i)
    g_runs.push_back(static_cast<unsigned char>(kRandom ? 1 + random_below(15) : 8));
}
__attribute__((noinline)) void decode_runs() {
  char* const start = memory(16 * kKiB);
  char* to = start;
  for (std::size_t i = 0; i < kRuns; ++i) {
    for (unsigned left = g_runs[i]; left > 0; --left) {
      *to++ = static_cast<char>(i);
      asm volatile("" : : : "memory");
    }
    if (to > start + 16 * kKiB - 32) to = start;
  }
}
}  // namespace
KERNEL(rle_decode, "mispredictions", kRuns, prepare_runs<true>) { decode_runs(); }
RELIEVED(rle_decode, kRuns, prepare_runs<false>) { decode_runs(); }

namespace {
constexpr std::size_t kNames = 32768;
template <bool kRandom>
void prepare_names() {
  char* at = memory(kNames * 32);
  for (std::size_t i = 0; i < kNames; ++i, at += 32) {
    const std::uint64_t common = kRandom ? random_below(15) : 7;
    for (std::uint64_t k = 0; k < 16; ++k) {
      at[k] = static_cast<char>('a' + k);
      at[16 + k] = static_cast<char>('a' + k + (k == common ? 1 : 0));
    }
  }
}
__attribute__((noinline)) void compare_names() {
  const char* at = memory(kNames * 32);
  std::int64_t order = 0;
  for (std::size_t i = 0; i < kNames; ++i, at += 32) {
    int k = 0;
    while (at[k] == at[16 + k]) ++k;
    order += at[k] - at[16 + k] + k;
  }
  g_integer = static_cast<std::uint64_t>(order);
}
}  // namespace
KERNEL(string_order, "mispredictions", kNames, prepare_names<true>) { compare_names(); }
RELIEVED(string_order, kNames, prepare_names<false>) { compare_names(); }

// The range decoder of LZMA. Random bytes are what a good compressor leaves.
namespace {
constexpr std::size_t kStream = 32 * kKiB;
template <bool kRandom>
void prepare_range() {
  char* at = memory(kStream);
  for (std::size_t i = 0; i < kStream; ++i)
    at[i] = kRandom ? static_cast<char>(random_below(256)) : '\0';
}
__attribute__((noinline)) void decode_range() {
  static std::uint16_t chances[256];
  for (auto& chance : chances) chance = 1024;
  const auto* from = reinterpret_cast<const unsigned char*>(memory(kStream));
  std::uint32_t range = 0xffffffff, code = 0x12345678U & (from[0] * 0x01010101U), symbol = 1;
  std::size_t at = 0;
  for (int i = 0; i < 65536; ++i) {
    std::uint16_t& chance = chances[symbol & 255];
    const std::uint32_t bound = (range >> 11) * chance;
    if (code < bound) {
      range = bound;
      chance = static_cast<std::uint16_t>(chance + ((2048 - chance) >> 5));
      symbol <<= 1;
      asm volatile("");
    } else {
      range -= bound, code -= bound;
      chance = static_cast<std::uint16_t>(chance - (chance >> 5));
      symbol = symbol << 1 | 1;
      asm volatile("");
    }
    if (range < 1U << 24) {
      range <<= 8;
      code = code << 8 | from[at++ & (kStream - 1)];
      asm volatile("");
    }
  }
  g_integer = code + symbol;
}
}  // namespace
KERNEL(range_decoder, "mispredictions", 65536, prepare_range<true>) { decode_range(); }
RELIEVED(range_decoder, 65536, prepare_range<false>) { decode_range(); }

LOFT_KERNELS_MAIN
