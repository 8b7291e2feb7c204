// What an instruction counts as. A Kind holds everything about an instruction that some event
// counts, and nothing else: two instructions of one kind add the same to every event, so a block
// is a short list of kind numbers (KindTable) and its events are summed only when somebody looks.
//
// A kind adds `fixed` each time it runs. What depends on the data (masked lanes, repetitions,
// taken branches) adds `units[i].each` for every unit that the engine saw at run time; facts.hpp
// says how to see them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loft::engine {

// One of these for every instruction: a partition.
enum class InsnClass : std::uint8_t {
  int_arith,
  int_mul,
  int_div,
  int_logic,
  int_shift,
  int_bit,
  int_compare,
  int_move,
  int_extend,
  lea,
  cmov,
  setcc,
  stack,
  string,
  flag_control,
  cond_branch,
  loop_branch,
  jump,
  indirect_jump,
  call,
  indirect_call,
  ret,
  syscall,
  interrupt,
  atomic,
  fence,
  prefetch,
  cache_control,
  nop,
  x87_arith,
  x87_transcendental,
  x87_compare,
  x87_move,
  x87_control,
  mmx,
  amd3dnow,
  fp_arith,
  fp_compare,
  fp_convert,
  fp_move,
  fp_logic,
  fp_shuffle,
  fp_other,
  simd_arith,
  simd_mul,
  simd_compare,
  simd_logic,
  simd_shift,
  simd_move,
  simd_shuffle,
  simd_convert,
  simd_other,
  gather,
  scatter,
  mask,
  amx_compute,
  amx_move,
  amx_config,
  crypto,
  random,
  timer,
  cpu_state,
  system,
  transaction,
  other,  // decodable, but on no processor that runs 64-bit programs today
  count_
};

// The operation of a floating-point instruction that computes: those that FP_ARITH counts.
enum class FpOp : std::uint8_t {
  none,
  add,
  sub,
  addsub,
  mul,
  div,
  sqrt,
  min,
  max,
  rcp,
  rsqrt,
  fma,
  horizontal,
  dot,
  complex_mul,
  complex_fma,
  quad_fma,
  count_
};

enum class Precision : std::uint8_t { none, half, bfloat16, single, double_, count_ };

// The vector length of an instruction; `scalar` for those that work on the lowest element alone.
enum class Width : std::uint8_t { none, scalar, bits64, bits128, bits256, bits512, tile, count_ };

enum class BranchKind : std::uint8_t {
  none,
  conditional,
  loop,
  jump,
  indirect_jump,
  call,
  indirect_call,
  ret,
  count_
};

// Operand size of a general-purpose instruction.
enum class OperandSize : std::uint8_t { none, bits8, bits16, bits32, bits64, count_ };

// Size of one access. `masked`: contiguous elements under a mask. `other`: 6, 28, 108, 512, ...
enum class AccessSize : std::uint8_t {
  none,
  bytes1,
  bytes2,
  bytes4,
  bytes8,
  bytes10,
  bytes16,
  bytes32,
  bytes64,
  masked,
  other,
  count_
};

// How the address of an access is formed.
enum class AddressForm : std::uint8_t {
  none,
  stack,         // implicit: push, pop, call, return
  absolute,      // a displacement alone
  rip_relative,  //
  base,          // base register and displacement
  indexed,       // with an index register
  segment,       // relative to fs or gs: thread-local
  string,        // rsi, rdi
  vector,        // gather, scatter
  tile,          // rows of a tile
  count_
};

// What of a kind the events ask for. Each has small values; 0 means none or no.
enum class Attribute : std::uint8_t {
  insn_class,
  isa,  // index into isa_names()
  mnemonic,
  width,
  precision,
  fp_op,
  branch,
  operand_size,
  load_size,
  store_size,
  load_form,
  store_form,
  locked,
  repeated,
  masked,
  non_temporal,
  count_
};

// What can be counted of one instruction.
enum class Measure : std::uint8_t {
  instructions,
  loads,
  load_bytes,
  stores,
  store_bytes,
  flops,
  taken,
  not_taken,
  iterations,  // of string instructions
  int_ops,     // on integers, of 64 bits each
  count_
};

inline constexpr std::size_t kAttributes = static_cast<std::size_t>(Attribute::count_);
inline constexpr std::size_t kMeasures = static_cast<std::size_t>(Measure::count_);
inline constexpr std::size_t kMaxUnits = 2;

// A number per measure.
struct Measures {
  std::array<std::int16_t, kMeasures> value{};

  [[nodiscard]] std::int16_t& operator[](Measure m) { return value[static_cast<std::size_t>(m)]; }
  [[nodiscard]] std::int16_t operator[](Measure m) const {
    return value[static_cast<std::size_t>(m)];
  }
  bool operator==(const Measures&) const = default;
};

// What a unit is; see UnitSource in facts.hpp for where it is read.
enum class Unit : std::uint8_t {
  none,
  taken,        // 1 when the branch is taken
  iterations,   // of a repeated string instruction: count register before minus after
  mask_lanes,   // set bits among the lowest `lanes` of an opmask register
  mask_any,     // 1 when at least one of them is set
  mask_fold,    // elements in memory that at least one set bit selects: fold_lanes()
  sign_lanes,   // lanes of a vector register whose sign bit is set
  sign_any,     // 1 when at least one is set
  state_bytes,  // bytes of an xsave area: xsave_bytes()
  tile_rows,    // rows of the tile that is moved
  tile_bytes,   // rows times bytes per row of it
  tile_ops,     // rows × columns × depth of a tile product: tile_operations()
  count_
};

struct UnitEffect {
  Unit unit = Unit::none;
  Measures each;  // added for every unit

  bool operator==(const UnitEffect&) const = default;
};

struct Kind {
  std::array<std::uint16_t, kAttributes> attribute{};
  Measures fixed;                           // added for every execution
  std::array<UnitEffect, kMaxUnits> units;  // unused ones have Unit::none

  template <class E>
  void set(Attribute a, E value) {
    attribute[static_cast<std::size_t>(a)] = static_cast<std::uint16_t>(value);
  }
  [[nodiscard]] std::uint16_t get(Attribute a) const {
    return attribute[static_cast<std::size_t>(a)];
  }
  [[nodiscard]] InsnClass insn_class() const {
    return static_cast<InsnClass>(get(Attribute::insn_class));
  }
  [[nodiscard]] BranchKind branch() const {
    return static_cast<BranchKind>(get(Attribute::branch));
  }
  bool operator==(const Kind&) const = default;
};

// Names as they stand in event names: "int_arith", "128", "sp", "rip_relative", ...
[[nodiscard]] std::string_view name_of(InsnClass value);
[[nodiscard]] std::string_view name_of(FpOp value);
[[nodiscard]] std::string_view name_of(Precision value);
[[nodiscard]] std::string_view name_of(Width value);
[[nodiscard]] std::string_view name_of(BranchKind value);
[[nodiscard]] std::string_view name_of(OperandSize value);
[[nodiscard]] std::string_view name_of(AccessSize value);
[[nodiscard]] std::string_view name_of(AddressForm value);
[[nodiscard]] std::string_view name_of(Unit value);

}  // namespace loft::engine
