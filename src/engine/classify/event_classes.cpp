// Events of the classes of instructions, crossed with what their instructions can have.
#include "engine/classify/event_builder.hpp"

namespace loft::engine::detail {
namespace {

bool is_general(C value) { return value <= C::string || value == C::atomic; }
bool is_floating(C value) { return value >= C::fp_arith && value <= C::fp_other; }
bool is_vector(C value) {
  return (value >= C::fp_arith && value <= C::scatter) || value == C::crypto;
}

bool may_load(C value) {
  switch (value) {
    case C::lea:
    case C::setcc:
    case C::flag_control:
    case C::cond_branch:
    case C::loop_branch:
    case C::jump:
    case C::call:
    case C::syscall:
    case C::interrupt:
    case C::fence:
    case C::prefetch:
    case C::cache_control:
    case C::nop:
    case C::x87_transcendental:
    case C::scatter:
    case C::amx_compute:
    case C::random:
    case C::timer:
    case C::transaction:
    case C::other:
      return false;
    default:
      return true;
  }
}

bool may_store(C value) {
  switch (value) {
    case C::int_arith:
    case C::int_logic:
    case C::int_shift:
    case C::int_bit:
    case C::int_compare:
    case C::int_move:
    case C::setcc:
    case C::stack:
    case C::string:
    case C::call:
    case C::indirect_call:
    case C::atomic:
    case C::cache_control:
    case C::x87_move:
    case C::x87_control:
    case C::mmx:
    case C::fp_convert:
    case C::fp_move:
    case C::fp_shuffle:
    case C::simd_move:
    case C::simd_shuffle:
    case C::simd_convert:
    case C::scatter:
    case C::mask:
    case C::amx_move:
    case C::amx_config:
    case C::cpu_state:
    case C::system:
      return true;
    default:
      return false;
  }
}

bool has_size(C value, OperandSize size) {
  if (!is_general(value)) return false;
  switch (value) {
    case C::setcc:
      return size == OperandSize::bits8;
    case C::stack:
      return size == OperandSize::bits16 || size == OperandSize::bits64;
    case C::int_bit:
    case C::int_extend:
    case C::lea:
    case C::cmov:
      return size != OperandSize::bits8;
    default:
      return true;
  }
}

bool has_width(C value, Width width) {
  if (!is_vector(value) || width == Width::bits64) return false;
  if (value == C::simd_other) return width == Width::bits128;
  if (width != Width::scalar) return true;
  return is_floating(value) && value != C::fp_logic && value != C::fp_shuffle;
}

void add_class_widths(EventBuilder& table, C value) {
  const std::string_view name = name_of(value);
  const Condition of = is(A::insn_class, value);
  for (const Width width : values(Width::scalar, Width::bits512)) {
    if (!has_width(value, width)) continue;
    const Condition wide = is(A::width, width);
    table.add({{"class", name, name_of(width)}, {name, "instructions,", width_words(width)}},
              M::instructions, {of, wide});
    if (!is_floating(value) || value == C::fp_convert || value == C::fp_arith) continue;
    for (const Precision precision : {Precision::single, Precision::double_})
      table.add({{"class", name, name_of(width), name_of(precision)},
                 {name, "instructions,", width_words(width), precision_words(precision)}},
                M::instructions, {of, wide, is(A::precision, precision)});
  }
}

void add_class_memory(EventBuilder& table, C value) {
  const std::string_view name = name_of(value);
  const Condition of = is(A::insn_class, value);
  for (const Flow& flow : kFlows) {
    const bool load = flow.count == M::loads;
    if (load ? !may_load(value) : !may_store(value)) continue;
    const std::string_view suffix = load ? "loading" : "storing";
    table.add({{"class", name, suffix}, {name, "instructions that have", flow.count_name}},
              M::instructions, {of, some(flow.size)});
    table.add({{"class", name, flow.bytes_name}, {"bytes", flow.verb, "by", name, "instructions"}},
              flow.bytes, {of});
  }
}

}  // namespace

void add_classes(EventBuilder& table) {
  for (const C value : values(C::int_arith))
    table.add({{"class", name_of(value)}, {name_of(value), "instructions"}}, M::instructions,
              {is(A::insn_class, value)});
  for (const C value : values(C::int_arith)) {
    for (const OperandSize size : values<OperandSize>())
      if (has_size(value, size))
        table.add({{"class", name_of(value), name_of(size)},
                   {name_of(value), "instructions with operands of", name_of(size), "bits"}},
                  M::instructions, {is(A::insn_class, value), is(A::operand_size, size)});
    add_class_widths(table, value);
    add_class_memory(table, value);
  }
  for (const Width width : values(Width::bits64, Width::bits512)) {
    const bool mmx = width == Width::bits64;
    table.add(
        {{"simd_int", name_of(width)}, {width_words(width), "integer vector instructions"}},
        M::instructions,
        {mmx ? is(A::insn_class, C::mmx) : between(A::insn_class, C::simd_arith, C::simd_other),
         is(A::width, width)});
  }
  for (const Width width : values(Width::none))
    table.add(
        {{"width", name_of(width)}, {"instructions whose vectors are of width", name_of(width)}},
        M::instructions, {is(A::width, width)});
}

}  // namespace loft::engine::detail
