// What classify() says of an instruction, held against this processor: registers and flags that
// are not named do not change and do not matter, and memory is touched exactly where resolve()
// says, which pages that fault on touch prove.
#include "engine/classify/native.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/file.hpp"
#include "engine/classify/decoded.hpp"
#include "engine/classify/disassemble.hpp"
#include "engine/classify/random_code.hpp"

namespace loft::engine {
namespace {

using Bytes = std::vector<std::uint8_t>;

// What cannot run alone: control flow, the system, what changes the state of the processor beyond
// its registers, and what gives another result each time.
bool may_run(const Decoded& decoded) {
  const InstructionFacts& facts = decoded.facts;
  switch (facts.kind.insn_class()) {
    case InsnClass::interrupt:
    case InsnClass::syscall:
    case InsnClass::system:
    case InsnClass::transaction:
    case InsnClass::cpu_state:
    case InsnClass::random:
    case InsnClass::timer:
    case InsnClass::amx_compute:
    case InsnClass::amx_config:
    case InsnClass::amx_move:
    case InsnClass::x87_control:
    case InsnClass::amd3dnow:
    case InsnClass::other:
      return false;
    default:
      break;
  }
  if (facts.ends_block || facts.is_privileged || facts.is_rip_relative || facts.uses_fs ||
      facts.uses_gs)
    return false;
  for (int i = 0; i < decoded.instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = decoded.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const auto kind = ZydisRegisterGetClass(operand.reg.value);
    if (kind == ZYDIS_REGCLASS_SEGMENT || kind == ZYDIS_REGCLASS_CONTROL) return false;
  }
  // Flags that trap, and the prefetches of memory that may not be there.
  return (facts.flags.written & ZYDIS_CPUFLAG_TF) == 0;
}

// Instructions to try: those of encodings.txt and random ones, each once per kind and form.
std::vector<Decoded> subjects(int random_tries, std::vector<Bytes>& code) {
  std::vector<Decoded> found;
  const auto consider = [&](std::span<const std::uint8_t> bytes) {
    const auto decoded = decode(bytes);
    if (!decoded || !may_run(*decoded)) return;
    found.push_back(*decoded);
    code.emplace_back(bytes.begin(), bytes.begin() + decoded->facts.length);
  };
  const auto text = read_file(LOFT_SOURCE_DIR "/tests/engine/classify/encodings.txt");
  if (text)
    for (const std::string_view line : split(*text, '\n'))
      if (!line.empty() && line[0] != '#') consider(from_hex(trim(split(line, '|')[0])));
  // By hand, LOFT_FUZZ=N tries N times as many, others each time that N is another.
  const char* const wish = std::getenv("LOFT_FUZZ");
  const int times = wish == nullptr ? 1 : std::max(1, std::atoi(wish));
  RandomCode random(static_cast<std::uint32_t>(10 + times));
  for (int i = 0; i < random_tries * times; ++i) consider(random.next());
  return found;
}

class NativeFacts : public testing::Test {
 protected:
  std::uint64_t random64() { return random_(); }

  // Where the register-based part of an access must stand so that it begins at `wanted`.
  static std::uint64_t base_for(const MemoryAccess& access, const RegisterState& state,
                                std::uint64_t wanted) {
    std::vector<Touch> touched;
    InstructionFacts one;
    one.access_count = 1;
    one.accesses[0] = access;
    one.accesses[0].pattern =
        access.pattern == Pattern::bit_string ? Pattern::bit_string : Pattern::plain;
    if (access.pattern == Pattern::vector) one.accesses[0].index = ZYDIS_REGISTER_NONE;
    RegisterState without = state;
    without.general[static_cast<std::size_t>(general_number(access.base))] = 0;
    resolve(one, without, 0, touched);
    return wanted - touched[0].address;
  }

  static bool can_place(const InstructionFacts& facts) {
    for (const MemoryAccess& access : facts.memory()) {
      const int base = general_number(access.base);
      if (base < 0 || base == general_number(access.index) || base == general_number(access.bit))
        return false;
      // The base of one access is no index or bit number of another.
      for (const MemoryAccess& other : facts.memory())
        if (general_number(other.index) == base || general_number(other.bit) == base) return false;
    }
    return true;
  }

  // Random registers, with small indices, and every access in the middle of the arena.
  RegisterState random_state(const InstructionFacts& facts) {
    RegisterState state;
    for (auto& value : state.general) value = random64();
    for (auto& vector : state.vector)
      for (auto& byte : vector) byte = static_cast<std::uint8_t>(random64());
    for (auto& value : state.mmx) value = random64();
    for (auto& value : state.opmask) value = random64() % 4 == 0 ? 0 : random64();
    state.rflags = 0x202 | (random64() & kStatusFlags);
    if (random64() % 2 == 0) state.rflags |= ZYDIS_CPUFLAG_DF;
    for (const UnitSource& source : facts.unit_sources())
      if (source.unit == Unit::iterations) state.general[kRcx] = random64() % 9;
    for (const MemoryAccess& access : facts.memory()) make_indices_small(access, state);
    std::uint64_t place = native_.arena_start() + 1024;
    for (const MemoryAccess& access : facts.memory()) {
      set_base(access, state, place);
      place += 1024;
    }
    return state;
  }

  void make_indices_small(const MemoryAccess& access, RegisterState& state) {
    if (access.pattern == Pattern::vector) {
      auto& indices = state.vector[static_cast<std::size_t>(vector_number(access.index))];
      indices.fill(0);
      for (std::size_t i = 0; i < 64; i += access.index_bytes) {
        const auto value = static_cast<std::int32_t>(random64() % 41) - 20;
        const std::int64_t wide = value;
        std::memcpy(indices.data() + i, &wide, access.index_bytes);
      }
    } else if (const int index = general_number(access.index); index >= 0) {
      state.general[static_cast<std::size_t>(index)] = random64() % 32;
    }
    if (const int bit = general_number(access.bit); bit >= 0)
      state.general[static_cast<std::size_t>(bit)] = random64() % 1000;
  }

  static void set_base(const MemoryAccess& access, RegisterState& state, std::uint64_t wanted) {
    const auto base = static_cast<std::size_t>(general_number(access.base));
    state.general[base] = base_for(access, state, wanted);
  }

  void fill_arena() {
    const auto arena = native_.arena();
    if (pattern_.empty()) {
      pattern_.resize(arena.size());
      for (std::uint8_t& byte : pattern_) byte = static_cast<std::uint8_t>(random64());
    }
    std::memcpy(arena.data(), pattern_.data(), arena.size());
  }

  struct Outcome {
    RegisterState state;
    Bytes memory;
    Fault fault;
  };

  Outcome run(const Bytes& code, const RegisterState& before) {
    fill_arena();
    Outcome outcome{before, {}, {}};
    outcome.fault = native_.run(code, outcome.state);
    outcome.memory.assign(native_.arena().begin(), native_.arena().end());
    return outcome;
  }

  static std::string describe(const Bytes& code) {
    const auto listing = disassemble(std::as_bytes(std::span(code)), 0);
    return to_hex(code) + "  " + listing[0].text;
  }

  Native native_;
  Bytes pattern_;
  std::mt19937_64 random_{4711};
};

bool in_set(std::uint16_t set, std::size_t number) { return (set >> number & 1) != 0; }

TEST_F(NativeFacts, WhatIsNotNamedAsWrittenStaysAsItWas) {
  std::vector<Bytes> code;
  const auto all = subjects(30'000, code);
  std::size_t ran = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const InstructionFacts& facts = all[i].facts;
    if (!can_place(facts)) continue;
    const RegisterState before = random_state(facts);
    const Outcome after = run(code[i], before);
    if (after.fault.signal != 0) continue;
    ++ran;
    SCOPED_TRACE(describe(code[i]));
    for (std::size_t r = 0; r < 16; ++r) {
      if (!in_set(facts.registers.written.general, r)) {
        EXPECT_EQ(after.state.general[r], before.general[r]) << "register " << r;
      }
    }
    const std::uint32_t touched = facts.flags.written | facts.flags.undefined | facts.flags.maybe;
    EXPECT_EQ((after.state.rflags ^ before.rflags) & kStatusFlags & ~touched, 0u)
        << std::hex << after.state.rflags << " from " << before.rflags;
    const std::size_t vectors = native_.has_avx512() ? 32 : 16;
    for (std::size_t v = 0; v < vectors; ++v) {
      if ((facts.registers.written.vector >> v & 1) == 0) {
        const std::size_t bytes = native_.has_avx512() ? 64 : native_.has_avx() ? 32 : 16;
        EXPECT_EQ(std::memcmp(after.state.vector[v].data(), before.vector[v].data(), bytes), 0)
            << "vector " << v;
      }
    }
    if (native_.has_avx512()) {
      for (std::size_t k = 0; k < 8; ++k) {
        if (!in_set(facts.registers.written.opmask, k)) {
          EXPECT_EQ(after.state.opmask[k], before.opmask[k]) << "k" << k;
        }
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(ran, 3'000u);
}

// Runs `before` and `changed`, and expects everything that the instruction writes to be the same.
void expect_same(const InstructionFacts& facts, const RegisterState& one,
                 const RegisterState& other, const Bytes& memory_one, const Bytes& memory_other,
                 std::uint32_t flags) {
  for (std::size_t r = 0; r < 16; ++r) {
    if (in_set(facts.registers.written.general, r)) {
      EXPECT_EQ(one.general[r], other.general[r]) << "register " << r;
    }
  }
  EXPECT_EQ((one.rflags ^ other.rflags) & flags, 0u)
      << std::hex << one.rflags << " and " << other.rflags;
  EXPECT_EQ(memory_one, memory_other);
}

TEST_F(NativeFacts, RegistersThatAreNotNamedAsReadDoNotMatter) {
  std::vector<Bytes> code;
  const auto all = subjects(15'000, code);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const InstructionFacts& facts = all[i].facts;
    if (!can_place(facts)) continue;
    const RegisterState before = random_state(facts);
    const Outcome plain = run(code[i], before);
    if (plain.fault.signal != 0) continue;
    RegisterState changed = before;
    for (std::size_t r = 0; r < 16; ++r)
      if (!in_set(facts.registers.read.general, r)) changed.general[r] ^= random64();
    const Outcome other = run(code[i], changed);
    SCOPED_TRACE(describe(code[i]));
    EXPECT_EQ(other.fault.signal, 0);
    const std::uint32_t flags = facts.flags.written | facts.flags.undefined | facts.flags.maybe;
    expect_same(facts, plain.state, other.state, plain.memory, other.memory, flags & kStatusFlags);
    ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 2'000u);
}

// Counters are placed where flags are dead: a flag that is named as written or undefined must not
// keep its old value, nor may anything depend on one that is not named as read.
TEST_F(NativeFacts, FlagsThatAreNotNamedAsReadDoNotMatter) {
  std::vector<Bytes> code;
  const auto all = subjects(30'000, code);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const InstructionFacts& facts = all[i].facts;
    if (!can_place(facts)) continue;
    RegisterState before = random_state(facts);
    before.rflags &= ~std::uint64_t{kStatusFlags & ~facts.flags.read};
    const Outcome cleared = run(code[i], before);
    if (cleared.fault.signal != 0) continue;
    before.rflags |= kStatusFlags & ~facts.flags.read;
    const Outcome set = run(code[i], before);
    SCOPED_TRACE(describe(code[i]));
    const std::uint32_t dead = (facts.flags.written | facts.flags.undefined) & kStatusFlags;
    expect_same(facts, cleared.state, set.state, cleared.memory, set.memory, dead);
    ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 3'000u);
}

std::uint64_t iterations_done(const InstructionFacts& facts, const RegisterState& before,
                              const RegisterState& after) {
  for (const UnitSource& source : facts.unit_sources())
    if (source.unit == Unit::iterations) return before.general[kRcx] - after.general[kRcx];
  return 0;
}

TEST_F(NativeFacts, StoresChangeNothingElse) {
  std::vector<Bytes> code;
  const auto all = subjects(60'000, code);
  std::size_t stored = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const InstructionFacts& facts = all[i].facts;
    if (facts.access_count == 0 || !can_place(facts)) continue;
    const RegisterState before = random_state(facts);
    const Outcome after = run(code[i], before);
    if (after.fault.signal != 0) continue;
    std::vector<Touch> touched;
    resolve(facts, before, iterations_done(facts, before, after.state), touched);
    fill_arena();
    Bytes expected(native_.arena().begin(), native_.arena().end());
    for (const Touch& touch : touched) {
      if (!touch.is_store) continue;
      ++stored;
      const std::uint64_t at = touch.address - native_.arena_start();
      ASSERT_LE(at + touch.size, expected.size()) << describe(code[i]);
      std::copy_n(after.memory.begin() + static_cast<std::ptrdiff_t>(at), touch.size,
                  expected.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ASSERT_EQ(after.memory, expected) << describe(code[i]);
  }
  EXPECT_GT(stored, 500u);
}

// enter also asks whether the place that it moves the stack pointer to could be written; the
// manuals let byte-masked stores fault on bytes that the mask leaves out. A broadcast of several
// lanes under a mask is taken to read all of them where CPUs leave out those that no lane of the
// result needs.
bool may_reach_otherwise(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.exception_class) {  // those that masks do not keep from faulting
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6NF:
    case ZYDIS_EXCEPTION_CLASS_E9NF:
    case ZYDIS_EXCEPTION_CLASS_E10NF:
      return true;
    default:
      break;
  }
  // Of 16 bits it reads two bytes on Intel's CPUs and four on AMD's; no compiler writes it.
  if (instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD && instruction.operand_width == 16) return true;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEQB:
    case ZYDIS_MNEMONIC_VGF2P8MULB:
    case ZYDIS_MNEMONIC_VBROADCASTF32X2:
    case ZYDIS_MNEMONIC_VBROADCASTF32X4:
    case ZYDIS_MNEMONIC_VBROADCASTF32X8:
    case ZYDIS_MNEMONIC_VBROADCASTF64X2:
    case ZYDIS_MNEMONIC_VBROADCASTF64X4:
    case ZYDIS_MNEMONIC_VBROADCASTI32X2:
    case ZYDIS_MNEMONIC_VBROADCASTI32X4:
    case ZYDIS_MNEMONIC_VBROADCASTI32X8:
    case ZYDIS_MNEMONIC_VBROADCASTI64X2:
    case ZYDIS_MNEMONIC_VBROADCASTI64X4:
      return true;
    default:
      return false;
  }
}

// Moves an access against the page that cannot be touched: at its last byte before it nothing
// happens, one byte on it faults. The same at the other end.
TEST_F(NativeFacts, AccessesReachExactlyAsFarAsResolved) {
  std::vector<Bytes> code;
  const auto all = subjects(60'000, code);
  std::size_t checked = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const InstructionFacts& facts = all[i].facts;
    if (facts.access_count == 0 || !can_place(facts)) continue;
    if (may_reach_otherwise(all[i].instruction)) continue;
    SCOPED_TRACE(describe(code[i]));
    const RegisterState middle = random_state(facts);
    if (const Outcome once = run(code[i], middle); once.fault.signal != 0) continue;
    for (const MemoryAccess& access : facts.memory()) {
      if (access.pattern == Pattern::cache_line) continue;  // a byte on is still the same line
      const auto base = static_cast<std::size_t>(general_number(access.base));
      const auto extent = [&](const RegisterState& state) {
        // Of the accesses that move with this base register.
        std::vector<Touch> touched;
        InstructionFacts own = facts;
        own.access_count = 0;
        for (const MemoryAccess& other : facts.memory())
          if (other.base == access.base) own.accesses[own.access_count++] = other;
        RegisterState after = state;
        fill_arena();
        const Fault fault = native_.run(code[i], after);
        resolve(own, state, fault.signal == 0 ? iterations_done(facts, state, after) : 0, touched);
        std::uint64_t low = ~0ull, high = 0;
        for (const Touch& touch : touched) {
          low = std::min(low, touch.address);
          high = std::max(high, touch.address + touch.size);
        }
        return std::tuple(fault.signal, low, high);
      };
      const auto [signal, low, high] = extent(middle);
      if (signal != 0 || low > high) continue;
      const auto with_base = [&](std::uint64_t moved) {
        RegisterState state = middle;
        state.general[base] += moved;
        return state;
      };
      const std::uint64_t up = native_.arena_end() - high;
      const std::uint64_t down = native_.arena_start() - low;
      // Compares end at the first difference, which moves with the data: only their reach counts.
      const bool by_data = facts.kind.insn_class() == InsnClass::string && facts.flags.maybe != 0;
      if (by_data) continue;
      const auto at = [&](std::uint64_t moved) { return run(code[i], with_base(moved)).fault; };
      // A misaligned operand faults without an address, a division without touching anything.
      const auto touched_outside = [](const Fault& fault) {
        return fault.signal == SIGSEGV && fault.address != 0;
      };
      EXPECT_FALSE(touched_outside(at(up))) << "touched past the end";
      EXPECT_FALSE(touched_outside(at(down))) << "touched before the start";
      EXPECT_EQ(at(up + 1).signal, SIGSEGV) << "nothing touched at the end";
      EXPECT_EQ(at(down - 1).signal, SIGSEGV) << "nothing touched at the start";
      ++checked;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(checked, 1'500u);
}

}  // namespace
}  // namespace loft::engine
