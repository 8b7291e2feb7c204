// What an instruction reads and writes in memory: each access in order, loads before stores.
#include <algorithm>

#include "engine/classify/describe.hpp"

namespace loft::engine::detail {
namespace {

using C = InsnClass;

AccessSize size_class(const MemoryAccess& access) {
  if (access.pattern == Pattern::masked || access.pattern == Pattern::packed)
    return AccessSize::masked;
  switch (access.size) {
    case 1:
      return AccessSize::bytes1;
    case 2:
      return AccessSize::bytes2;
    case 4:
      return AccessSize::bytes4;
    case 8:
      return AccessSize::bytes8;
    case 10:
      return AccessSize::bytes10;
    case 16:
      return AccessSize::bytes16;
    case 32:
      return AccessSize::bytes32;
    case 64:
      return AccessSize::bytes64;
    default:
      return AccessSize::other;
  }
}

AddressForm form_of(const Subject& subject, const ZydisDecodedOperand& operand) {
  const auto& memory = operand.mem;
  const InsnClass named = subject.mnemonic.insn_class;
  if (subject.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP || named == C::string)
    return AddressForm::string;
  if (memory.type == ZYDIS_MEMOP_TYPE_VSIB) return AddressForm::vector;
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS)
    return AddressForm::segment;
  const bool on_stack = named == C::stack || named == C::call || named == C::ret;
  if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && on_stack) return AddressForm::stack;
  if (memory.base == ZYDIS_REGISTER_RIP || memory.base == ZYDIS_REGISTER_EIP)
    return AddressForm::rip_relative;
  if (memory.index != ZYDIS_REGISTER_NONE) return AddressForm::indexed;
  return memory.base == ZYDIS_REGISTER_NONE ? AddressForm::absolute : AddressForm::base;
}

// The address as it follows from the registers before the instruction.
std::int64_t displacement_of(const Subject& subject, const ZydisDecodedOperand& operand) {
  const auto& memory = operand.mem;
  const bool hidden = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  const bool store = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  const InsnClass named = subject.mnemonic.insn_class;
  const auto bytes = static_cast<std::int64_t>(operand.size / 8);
  // push and call store below the old stack pointer.
  if (hidden && store && (named == C::stack || named == C::call)) return -bytes;
  // pop forms the address of its destination after it has moved the stack pointer.
  const bool of_rsp = memory.base == ZYDIS_REGISTER_RSP || memory.base == ZYDIS_REGISTER_ESP;
  if (subject.is(ZYDIS_MNEMONIC_POP) && !hidden && of_rsp) return memory.disp.value + bytes;
  return memory.disp.value;
}

MemoryAccess access_of(const Subject& subject, const ZydisDecodedOperand& operand, bool is_store) {
  const auto& memory = operand.mem;
  MemoryAccess access;
  access.is_store = is_store;
  access.form = form_of(subject, operand);
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS)
    access.segment = memory.segment;
  access.base = memory.base;
  access.index = memory.index;
  access.scale = memory.scale;
  access.address_bits = subject.instruction.address_width;
  // Implicit accesses of the stack go through all of rsp whatever the address size.
  if (access.form == AddressForm::stack) access.address_bits = 64;
  access.size = static_cast<std::uint16_t>(operand.size / 8);
  access.displacement = displacement_of(subject, operand);
  return access;
}

void add_access(InstructionFacts& facts, const MemoryAccess& access) {
  if (facts.access_count < InstructionFacts::kMaxAccesses)
    facts.accesses[facts.access_count++] = access;
  facts.kind.set(access.is_store ? Attribute::store_size : Attribute::load_size,
                 size_class(access));
  facts.kind.set(access.is_store ? Attribute::store_form : Attribute::load_form, access.form);
}

struct Direction {
  Measure count, bytes;
};

Direction direction_of(const MemoryAccess& access) {
  return access.is_store ? Direction{Measure::stores, Measure::store_bytes}
                         : Direction{Measure::loads, Measure::load_bytes};
}

void add_fixed(InstructionFacts& facts, const MemoryAccess& access, int times = 1) {
  const Direction direction = direction_of(access);
  Measures& fixed = facts.kind.fixed;
  fixed[direction.count] = static_cast<std::int16_t>(fixed[direction.count] + times);
  fixed[direction.bytes] = static_cast<std::int16_t>(fixed[direction.bytes] + times * access.size);
  add_access(facts, access);
}

// Contiguous elements under a mask: one access if any lane is active, the bytes of those that are.
void add_masked(InstructionFacts& facts, const MemoryAccess& access, UnitSource lanes, Unit any) {
  const Direction direction = direction_of(access);
  add_per_unit(facts, lanes, direction.bytes, access.size);
  lanes.unit = any;
  add_per_unit(facts, lanes, direction.count, 1);
  add_access(facts, access);
}

// Each active lane is an access of its own.
void add_per_lane(InstructionFacts& facts, const MemoryAccess& access, const UnitSource& lanes) {
  const Direction direction = direction_of(access);
  add_per_unit(facts, lanes, direction.count, 1);
  add_per_unit(facts, lanes, direction.bytes, access.size);
  add_access(facts, access);
}

// --- gathers and scatters ---

const ZydisDecodedOperand* first_vector_register(const Subject& subject) {
  for (const ZydisDecodedOperand& operand : subject.all())
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && vector_number(operand.reg.value) >= 0)
      return &operand;
  return nullptr;
}

void add_vector_indexed(const Subject& subject, const ZydisDecodedOperand& operand,
                        InstructionFacts& facts) {
  const bool is_store = subject.mnemonic.insn_class == C::scatter;
  MemoryAccess access = access_of(subject, operand, is_store);
  access.pattern = Pattern::vector;
  // vgatherDps, vpgatherQd: the letter after the stem is the size of an index.
  const std::size_t stem = subject.name.find(is_store ? "scatter" : "gather");
  access.index_bytes = subject.name[stem + (is_store ? 7 : 6)] == 'd' ? 4 : 8;
  const ZydisDecodedOperand* data = first_vector_register(subject);
  const auto mode = subject.instruction.machine_mode;
  const unsigned indices = ZydisRegisterGetWidth(mode, access.index) / (access.index_bytes * 8u);
  const unsigned elements = data == nullptr ? 0 : data->size / (access.size * 8u);
  access.lanes = static_cast<std::uint8_t>(std::min(indices, elements));
  UnitSource lanes{.lanes = access.lanes};
  if (const ZydisRegister mask = governing_mask(subject); mask != ZYDIS_REGISTER_NONE) {
    lanes.unit = Unit::mask_lanes;
    lanes.reg = mask;
  } else {
    lanes.unit = Unit::sign_lanes;
    lanes.reg = subject.operands[2].reg.value;
    lanes.lane_bytes = static_cast<std::uint8_t>(access.size);
  }
  add_per_lane(facts, access, lanes);
}

// --- masks ---

// Loads of these classes read all of their operand whatever the mask says.
bool ignores_mask_for_loads(const Subject& subject) {
  switch (subject.instruction.meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_E1NF:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6NF:
    case ZYDIS_EXCEPTION_CLASS_E9NF:
    case ZYDIS_EXCEPTION_CLASS_E10NF:
    case ZYDIS_EXCEPTION_CLASS_E11NF:
      return true;
    default:
      return false;
  }
}

bool is_compress_or_expand(const Subject& subject) {
  const auto category = subject.instruction.meta.category;
  return category == ZYDIS_CATEGORY_COMPRESS || category == ZYDIS_CATEGORY_EXPAND ||
         subject.name.starts_with("vpcompress") || subject.name.starts_with("vpexpand");
}

// vbroadcastf32x4 and its like: several elements, each loaded when one of its copies is active.
void add_repeated_elements(const Subject& subject, MemoryAccess access, ZydisRegister mask,
                           InstructionFacts& facts) {
  const unsigned bytes = subject.name.find("32x") != std::string_view::npos ? 4 : 8;
  const unsigned elements = access.size / bytes;
  access.pattern = Pattern::masked;
  access.size = static_cast<std::uint16_t>(bytes);
  access.lanes = static_cast<std::uint8_t>(elements);
  const UnitSource source{.unit = Unit::mask_fold,
                          .reg = mask,
                          .lanes = static_cast<std::uint8_t>(vector_bits(subject) / 8 / bytes),
                          .elements = static_cast<std::uint8_t>(elements)};
  add_masked(facts, access, source, Unit::mask_any);
}

void add_opmasked(const Subject& subject, const ZydisDecodedOperand& operand, ZydisRegister mask,
                  bool is_store, InstructionFacts& facts) {
  MemoryAccess access = access_of(subject, operand, is_store);
  const bool broadcast = subject.instruction.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID;
  const bool four_sources =
      subject.mnemonic.op == FpOp::quad_fma || subject.name.starts_with("vp4d");
  if (!is_store && ignores_mask_for_loads(subject)) return add_fixed(facts, access);
  if (subject.name.starts_with("vbroadcast") && subject.name.find('x') != std::string_view::npos)
    return add_repeated_elements(subject, access, mask, facts);
  if (broadcast || four_sources) {
    const ZydisDecodedOperand* data = first_vector_register(subject);
    const unsigned lanes = subject.mnemonic.is_scalar ? 1
                           : data == nullptr          ? 1
                                                      : data->element_count;
    access.pattern = Pattern::any_lane;
    access.lanes = static_cast<std::uint8_t>(lanes);
    return add_per_lane(facts, access, {Unit::mask_any, mask, access.lanes, 0});
  }
  access.pattern = is_compress_or_expand(subject) ? Pattern::packed : Pattern::masked;
  access.size = static_cast<std::uint16_t>(operand.element_size / 8);
  access.lanes = static_cast<std::uint8_t>(operand.size / operand.element_size);
  add_masked(facts, access, {Unit::mask_lanes, mask, access.lanes, 0}, Unit::mask_any);
}

// vmaskmovps and its like: the sign bits of the second operand; maskmovdqu: those of its bytes.
void add_sign_masked(const Subject& subject, const ZydisDecodedOperand& operand, bool is_store,
                     InstructionFacts& facts) {
  MemoryAccess access = access_of(subject, operand, is_store);
  const bool bytewise = subject.name.ends_with("dqu") || subject.name.ends_with("maskmovq");
  const bool bytes = bytewise && !subject.name.starts_with("vp");
  access.pattern = Pattern::masked;
  access.size = bytes ? 1 : static_cast<std::uint16_t>(operand.element_size / 8);
  access.lanes = static_cast<std::uint8_t>(operand.size / 8 / access.size);
  const ZydisRegister mask = subject.operands[1].reg.value;
  const UnitSource lanes{Unit::sign_lanes, mask, access.lanes,
                         static_cast<std::uint8_t>(access.size)};
  add_masked(facts, access, lanes, Unit::sign_any);
}

bool is_sign_masked(const Subject& subject) {
  switch (subject.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      return false;
  }
}

// --- the others that are special ---

void add_repeated(const Subject& subject, const ZydisDecodedOperand& operand, bool is_store,
                  InstructionFacts& facts) {
  MemoryAccess access = access_of(subject, operand, is_store);
  access.pattern = Pattern::repeated;
  add_per_lane(facts, access, iterations_of(subject));
}

void add_state(const Subject& subject, const ZydisDecodedOperand& operand,
               InstructionFacts& facts) {
  MemoryAccess access = access_of(subject, operand, subject.name.starts_with("xsave"));
  access.pattern = Pattern::state;
  access.size = 0;
  const Direction direction = direction_of(access);
  facts.kind.fixed[direction.count] = 1;
  add_per_unit(facts, {.unit = Unit::state_bytes}, direction.bytes, 1);
  add_access(facts, access);
}

void add_tile(const Subject& subject, const ZydisDecodedOperand& operand, InstructionFacts& facts) {
  const bool is_store = subject.is(ZYDIS_MNEMONIC_TILESTORED);
  MemoryAccess access = access_of(subject, operand, is_store);
  access.pattern = Pattern::tile_rows;
  access.form = AddressForm::tile;
  const ZydisRegister tile = subject.operands[is_store ? 1 : 0].reg.value;
  const Direction direction = direction_of(access);
  add_per_unit(facts, {.unit = Unit::tile_rows, .reg = tile}, direction.count, 1);
  add_per_unit(facts, {.unit = Unit::tile_bytes, .reg = tile}, direction.bytes, 1);
  add_access(facts, access);
}

MemoryAccess stack_store(std::uint16_t size, std::int64_t displacement) {
  MemoryAccess access;
  access.is_store = true;
  access.form = AddressForm::stack;
  access.base = ZYDIS_REGISTER_RSP;
  access.size = size;
  access.displacement = displacement;
  return access;
}

// enter stores rbp, copies `level - 1` frame pointers from below rbp, then stores the new one.
void add_enter(const Subject& subject, InstructionFacts& facts) {
  const auto size = static_cast<std::uint16_t>(subject.instruction.operand_width / 8);
  const auto level = static_cast<int>(subject.operands[1].imm.value.u & 31);
  add_fixed(facts, stack_store(size, -size));
  if (level > 1) {
    MemoryAccess load = stack_store(size, 0);
    load.is_store = false;
    load.base = ZYDIS_REGISTER_RBP;
    load.pattern = Pattern::enter_copy;
    load.lanes = static_cast<std::uint8_t>(level - 1);
    MemoryAccess store = load;
    store.is_store = true;
    store.base = ZYDIS_REGISTER_RSP;
    store.displacement = -size;
    add_fixed(facts, load, level - 1);
    add_fixed(facts, store, level - 1);
  }
  if (level > 0) add_fixed(facts, stack_store(size, -size * (level + 1)));
}

// Stores of 64 bytes to the address in a register, which the decoder does not list.
void add_line_store(const Subject& subject, InstructionFacts& facts) {
  MemoryAccess access;
  access.is_store = true;
  access.form = AddressForm::base;
  access.base = subject.operands[0].reg.value;
  access.address_bits = subject.instruction.address_width;
  access.size = 64;
  if (subject.is(ZYDIS_MNEMONIC_CLZERO)) access.pattern = Pattern::cache_line;
  add_fixed(facts, access);
}

bool touches_no_memory(const Subject& subject) {
  switch (subject.mnemonic.insn_class) {
    case C::lea:
    case C::nop:
    case C::prefetch:
    case C::interrupt:
    case C::other:
      return true;
    case C::cache_control:
      return true;
    case C::system:
      return subject.mnemonic.is_privileged;
    default:
      return false;
  }
}

void add_operand(const Subject& subject, const ZydisDecodedOperand& operand, bool is_store,
                 InstructionFacts& facts) {
  if (operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB) return add_vector_indexed(subject, operand, facts);
  if (is_sign_masked(subject)) return add_sign_masked(subject, operand, is_store, facts);
  if (const ZydisRegister mask = governing_mask(subject); mask != ZYDIS_REGISTER_NONE)
    return add_opmasked(subject, operand, mask, is_store, facts);
  if (facts.kind.get(Attribute::repeated) != 0)
    return add_repeated(subject, operand, is_store, facts);
  MemoryAccess access = access_of(subject, operand, is_store);
  const auto& bit = subject.operands[1];
  const bool bit_operation = subject.is(ZYDIS_MNEMONIC_BT) || subject.is(ZYDIS_MNEMONIC_BTC) ||
                             subject.is(ZYDIS_MNEMONIC_BTR) || subject.is(ZYDIS_MNEMONIC_BTS);
  if (bit_operation && bit.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    access.pattern = Pattern::bit_string;
    access.bit = bit.reg.value;
  }
  if (subject.is(ZYDIS_MNEMONIC_XLAT)) {
    access.index = ZYDIS_REGISTER_AL;
    access.scale = 1;
    access.form = AddressForm::indexed;
  }
  add_fixed(facts, access);
}

void note_address(const ZydisDecodedOperand& operand, InstructionFacts& facts) {
  const auto& memory = operand.mem;
  if (memory.base == ZYDIS_REGISTER_RIP || memory.base == ZYDIS_REGISTER_EIP)
    facts.is_rip_relative = true;
  if (memory.type == ZYDIS_MEMOP_TYPE_AGEN) return;
  if (memory.segment == ZYDIS_REGISTER_FS) facts.uses_fs = true;
  if (memory.segment == ZYDIS_REGISTER_GS) facts.uses_gs = true;
}

// The memory operand, with loads of all operands before their stores.
void add_operands(const Subject& subject, InstructionFacts& facts) {
  const bool has_state = subject.instruction.meta.category == ZYDIS_CATEGORY_XSAVE ||
                         subject.instruction.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
  for (const bool is_store : {false, true}) {
    const ZydisOperandActions wanted =
        is_store ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
    for (const ZydisDecodedOperand& operand : subject.all()) {
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
      const bool real =
          operand.mem.type == ZYDIS_MEMOP_TYPE_MEM || operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB;
      if (!real || (operand.actions & wanted) == 0) continue;
      if (has_state) return add_state(subject, operand, facts);
      if (subject.mnemonic.insn_class == C::amx_move) return add_tile(subject, operand, facts);
      add_operand(subject, operand, is_store, facts);
    }
  }
}

}  // namespace

void describe_memory(const Subject& subject, InstructionFacts& facts) {
  for (const ZydisDecodedOperand& operand : subject.all())
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) note_address(operand, facts);
  if (subject.is(ZYDIS_MNEMONIC_CLZERO)) return add_line_store(subject, facts);
  if (touches_no_memory(subject)) return;
  if (subject.is(ZYDIS_MNEMONIC_ENTER)) return add_enter(subject, facts);
  add_operands(subject, facts);
  if (subject.is(ZYDIS_MNEMONIC_ENQCMD)) add_line_store(subject, facts);
}

}  // namespace loft::engine::detail
