// A window: some thousand instructions as they were executed, with what the models said about each.
// It is all that core/timing.hpp needs, and a plain file that can be kept and timed again.
//
//   Window window;
//   window.instructions.push_back({.address = 0x401000, .op = Op::fp_fma, .sources = vector_reg(0),
//                                  .destinations = vector_reg(0)});
//   window.executions.push_back({.instruction = 0});
//   const std::vector<std::byte> bytes = serialize(window);
//   LOFT_TRY(const Window same, parse_window(bytes));
//
// Instructions are listed once, executions refer to them by number; so do accesses and executions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/branch.hpp"
#include "core/hierarchy.hpp"
#include "core/tlb.hpp"

namespace loft::core {

// What an instruction does apart from its accesses to memory, as far as units and latencies go.
enum class Op : std::uint8_t {
  none,  // nothing is executed: nop, a move that renaming does, a plain load or store
  int_alu,
  int_shift,
  int_bits,  // popcnt, lzcnt, bsf, ...
  int_mul,
  int_div,
  branch,
  fp_add,  // also min, max
  fp_mul,
  fp_fma,
  fp_div_single,
  fp_div_double,
  fp_sqrt_single,
  fp_sqrt_double,
  fp_compare,
  fp_convert,
  vector_logic,  // also moves between vector registers that are not renamed
  vector_shuffle,
  vector_int,
  vector_int_mul,
  vector_shift,
  vector_to_int,  // moves between the register files, also masks
  int_to_vector,
  crypto,
  x87,
  x87_slow,   // transcendental
  microcode,  // string instructions, cpuid and others that take many operations
  system,     // syscall and what waits for everything before it
  count_
};
inline constexpr std::size_t kOps = static_cast<std::size_t>(Op::count_);

// A set of registers, one bit each.
using Registers = std::uint64_t;
constexpr Registers general_reg(int number) { return Registers{1} << number; }        // 0 to 15
constexpr Registers vector_reg(int number) { return Registers{1} << (16 + number); }  // 0 to 31
constexpr Registers mask_reg(int number) { return Registers{1} << (48 + number); }    // 0 to 7
inline constexpr Registers kFlags = Registers{1} << 56;  // all arithmetic flags but carry
inline constexpr Registers kCarry = Registers{1} << 57;
inline constexpr Registers kX87 = Registers{1} << 58;
inline constexpr Registers kTiles = Registers{1} << 59;
inline constexpr int kRegisters = 60;

struct Instruction {
  std::uint64_t address = 0;
  std::uint32_t block = 0;  // one of Window::blocks
  std::uint8_t length = 4;  // bytes
  Op op = Op::none;
  BranchKind branch = BranchKind::none;
  std::uint8_t uops = 1;  // slots of the front end; 0: fused with the instruction before it
  bool is_atomic = false;
  bool is_fence = false;
  std::uint16_t vector_bits = 0;    // 0: no vectors
  Registers address_registers = 0;  // that the addresses of its loads and stores are made of
  // Other registers it reads and those it writes. The stack pointer of push, pop, call and ret is
  // in none of them: the front end keeps count of it.
  Registers sources = 0;
  Registers destinations = 0;

  bool operator==(const Instruction&) const = default;
};

// Whether it does nothing at all, but for its accesses to memory.
[[nodiscard]] bool is_nop(const Instruction& instruction);

struct WindowAccess {
  std::uint64_t address = 0;
  std::uint32_t size = 0;  // bytes; longer ones are split
  bool is_store = false;
  bool is_past = false;  // a store past the caches
  Access cache;
  Translated translation;

  bool operator==(const WindowAccess&) const = default;
};

struct Execution {
  std::uint32_t instruction = 0;
  std::uint32_t first_access = 0;
  std::uint16_t accesses = 0;
  bool is_taken = false;  // of branches
  bool is_mispredicted = false;
  bool is_mispredicted_anew = false;  // by a predictor that knows what the warm-up taught alone
  Level fetched_from = Level::l1;
  Level fetched_nearest = Level::l1;  // before warm-up is complete it may have been nearer
  Translation code = Translation::first;
  Translation code_nearest = Translation::first;

  bool operator==(const Execution&) const = default;
};

struct Window {
  std::vector<Instruction> instructions;
  std::vector<Execution> executions;
  std::vector<WindowAccess> accesses;
  std::vector<std::uint64_t> blocks = {0};  // what the writer of the window calls each block

  static constexpr std::size_t kMostExecutions = 1 << 24;
  bool operator==(const Window&) const = default;
};

// Whether every number refers to something.
[[nodiscard]] Result<void> check(const Window& window);

// Little-endian: "loftwin3", the numbers of blocks, instructions, executions and accesses, and the
// records in that order, each of a fixed size.
[[nodiscard]] std::vector<std::byte> serialize(const Window& window);
// Refuses whatever check() refuses, too.
[[nodiscard]] Result<Window> parse_window(std::span<const std::byte> bytes);

[[nodiscard]] std::string_view to_string(Op op);

}  // namespace loft::core
