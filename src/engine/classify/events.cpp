// The table of virtual events, generated: a handful of named events, then every class, size, width,
// precision and form that makes sense, crossed.
#include "engine/classify/events.hpp"

#include <algorithm>

#include "engine/classify/event_builder.hpp"
#include "engine/classify/isa.hpp"

namespace loft::engine {
namespace detail {
namespace {

void add_headline(EventBuilder& table) {
  table.add({{"instructions"}, {"instructions; a repeated string instruction is one"}},
            M::instructions);
  table.add({{"loads"}, {"reads of memory, implicit ones and each lane of a gather included"}},
            M::loads);
  table.add({{"stores"}, {"writes of memory, implicit ones and each lane of a scatter included"}},
            M::stores);
  table.add({{"load_bytes"}, {"bytes read; lanes that a mask leaves out are not"}}, M::load_bytes);
  table.add({{"store_bytes"}, {"bytes written; lanes that a mask leaves out are not"}},
            M::store_bytes);
  table.add({{"branches"}, {"branches of all kinds, calls and returns included"}}, M::instructions,
            {some(A::branch)});
  table.add({{"branches_taken"}, {"branches that were taken, unconditional ones included"}},
            M::taken);
  table.add({{"branches_not_taken"}, {"conditional branches that were not taken"}}, M::not_taken);
  table.add({{"calls"}, {"calls, direct and indirect"}}, M::instructions,
            {between(A::branch, BranchKind::call, BranchKind::indirect_call)});
  table.add({{"returns"}, {"returns"}}, M::instructions, {is(A::branch, BranchKind::ret)});
  table.add({{"flops"}, {"floating-point operations of all precisions, x87 excluded"}}, M::flops);
  table.add({{"int_ops"},
             {"operations on integers: one of each instruction that computes, or one for each 64 "
              "bits of a vector"}},
            M::int_ops);
  table.add({{"x87"}, {"x87 instructions"}}, M::instructions,
            {between(A::insn_class, C::x87_arith, C::x87_control)});
  table.add({{"syscalls"}, {"system calls"}}, M::instructions, {is(A::insn_class, C::syscall)});
  table.add({{"atomics"}, {"locked instructions, xchg with memory included"}}, M::instructions,
            {some(A::locked)});
  table.add({{"string_iterations"}, {"elements that string instructions worked on"}},
            M::iterations);
  table.add({{"masked_instructions"}, {"vector instructions under an opmask other than k0"}},
            M::instructions, {some(A::masked)});
  table.add({{"repeated_instructions"}, {"string instructions with a repeat prefix"}},
            M::instructions, {some(A::repeated)});
  for (const auto& [measure, name] :
       {std::pair{M::stores, "stores"}, {M::store_bytes, "store_bytes"}})
    table.add({{"non_temporal", name}, {name, "that bypass the caches"}}, measure,
              {some(A::non_temporal)});
}

void add_floating_point(EventBuilder& table) {
  for (const Precision precision : values<Precision>()) {
    const std::string_view words = precision_words(precision);
    const Condition of = is(A::precision, precision);
    table.add({{"flops", name_of(precision)}, {words, "floating-point operations"}}, M::flops,
              {of});
    for (const Width width : values(Width::scalar)) {
      if (width == Width::bits64 || (width == Width::tile && precision != Precision::bfloat16))
        continue;
      if (width == Width::scalar && precision == Precision::bfloat16) continue;
      const Condition wide = is(A::width, width);
      const std::string size = width_words(width);
      table.add(
          {{"fp", name_of(width), name_of(precision)}, {size, words, "arithmetic instructions"}},
          M::instructions, {some(A::fp_op), wide, of});
      table.add({{"flops", name_of(width), name_of(precision)},
                 {words, "operations of", size, "instructions"}},
                M::flops, {wide, of});
    }
  }
  for (const Width width : values(Width::scalar)) {
    if (width == Width::bits64) continue;
    table.add({{"flops", name_of(width)},
               {"floating-point operations of", width_words(width), "instructions"}},
              M::flops, {is(A::width, width)});
  }
}

bool exists(FpOp op, Width width, Precision precision) {
  if (width == Width::none || width == Width::bits64 || width == Width::tile) return false;
  const bool scalar = width == Width::scalar;
  switch (op) {
    case FpOp::horizontal:
    case FpOp::addsub:
      return !scalar && width != Width::bits512 && precision >= Precision::single;
    case FpOp::dot:
      if (precision == Precision::bfloat16) return !scalar;
      if (precision == Precision::double_) return width == Width::bits128;
      return precision == Precision::single && !scalar && width != Width::bits512;
    case FpOp::complex_mul:
    case FpOp::complex_fma:
      return precision == Precision::half;
    case FpOp::quad_fma:
      return precision == Precision::single && (scalar || width == Width::bits512);
    default:
      return precision != Precision::bfloat16;
  }
}

void add_floating_point_operations(EventBuilder& table) {
  for (const FpOp op : values<FpOp>()) {
    const Condition of = is(A::fp_op, op);
    table.add({{"fp", name_of(op)}, {"floating-point instructions:", name_of(op)}}, M::instructions,
              {of});
    table.add(
        {{"flops", name_of(op)}, {"floating-point operations of", name_of(op), "instructions"}},
        M::flops, {of});
    for (const Width width : values(Width::scalar))
      for (const Precision precision : values<Precision>())
        if (exists(op, width, precision))
          table.add({{"fp", name_of(op), name_of(width), name_of(precision)},
                     {width_words(width), precision_words(precision), name_of(op), "instructions"}},
                    M::instructions, {of, is(A::width, width), is(A::precision, precision)});
  }
}
std::string_view form_words(AddressForm form) {
  switch (form) {
    case AddressForm::stack:
      return "implicitly on the stack";
    case AddressForm::absolute:
      return "at an absolute address";
    case AddressForm::rip_relative:
      return "relative to the instruction pointer";
    case AddressForm::base:
      return "through a base register";
    case AddressForm::indexed:
      return "with an index register";
    case AddressForm::segment:
      return "relative to fs or gs";
    case AddressForm::string:
      return "by string instructions";
    case AddressForm::vector:
      return "by gathers and scatters";
    default:
      return "of tile rows";
  }
}

std::string size_words(AccessSize size) {
  if (size == AccessSize::masked) return "under a mask";
  if (size == AccessSize::other) return "of another size";
  return std::string("of ") + std::string(name_of(size)) +
         (size == AccessSize::bytes1 ? " byte" : " bytes");
}

void add_memory(EventBuilder& table) {
  for (const Flow& flow : kFlows) {
    for (const AccessSize size : values<AccessSize>()) {
      const Condition of = is(flow.size, size);
      table.add({{flow.count_name, name_of(size)}, {flow.count_name, size_words(size)}}, flow.count,
                {of});
      table.add({{flow.bytes_name, name_of(size)},
                 {"bytes", flow.verb, "by", flow.count_name, size_words(size)}},
                flow.bytes, {of});
    }
    for (const AddressForm form : values<AddressForm>()) {
      const Condition of = is(flow.form, form);
      table.add({{flow.count_name, name_of(form)}, {flow.count_name, form_words(form)}}, flow.count,
                {of});
      table.add({{flow.bytes_name, name_of(form)}, {"bytes", flow.verb, form_words(form)}},
                flow.bytes, {of});
    }
  }
}

void add_branches(EventBuilder& table) {
  for (const BranchKind kind : values<BranchKind>())
    table.add({{"branches", name_of(kind)}, {"branches:", name_of(kind)}}, M::instructions,
              {is(A::branch, kind)});
  for (const BranchKind kind : {BranchKind::conditional, BranchKind::loop}) {
    table.add({{"branches", name_of(kind), "taken"}, {name_of(kind), "branches taken"}}, M::taken,
              {is(A::branch, kind)});
    table.add({{"branches", name_of(kind), "not_taken"}, {name_of(kind), "branches not taken"}},
              M::not_taken, {is(A::branch, kind)});
  }
}

void add_instruction_sets(EventBuilder& table) {
  const std::vector<std::string> names = isa_names();
  for (std::size_t i = 1; i < names.size(); ++i)
    table.add({{"isa", names[i]}, {"instructions of the", names[i], "instruction set"}},
              M::instructions, {is(A::isa, i)});
}

void add_mnemonics(EventBuilder& table) {
  for (std::uint16_t i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i) {
    const std::string_view name = ZydisMnemonicGetString(static_cast<ZydisMnemonic>(i));
    table.add({{"op", name}, {name, "instructions"}}, M::instructions, {is(A::mnemonic, i)});
  }
}

}  // namespace

static std::vector<EventInfo> build() {
  constexpr std::size_t kExpected = ZYDIS_MNEMONIC_MAX_VALUE + 1024;
  EventBuilder table(kExpected);
  add_headline(table);
  add_floating_point(table);
  add_branches(table);
  add_memory(table);
  add_floating_point_operations(table);
  add_classes(table);
  add_instruction_sets(table);
  add_mnemonics(table);
  return table.take();
}

}  // namespace detail

const std::vector<EventInfo>& event_table() {
  static const std::vector<EventInfo> built = detail::build();
  return built;
}

std::optional<EventIndex> find_event(std::string_view name) {
  constexpr std::string_view kPrefix = "virtual::";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto& events = event_table();
  const auto found = std::find_if(events.begin(), events.end(),
                                  [&](const EventInfo& event) { return event.name == name; });
  if (found == events.end()) return std::nullopt;
  return static_cast<EventIndex>(found - events.begin());
}

}  // namespace loft::engine
