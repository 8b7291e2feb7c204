// The table of virtual events, generated: a handful of named events, then every class, size, width,
// precision and form that makes sense, crossed.
#include "engine/classify/events.hpp"

#include <algorithm>
#include <initializer_list>

#include "engine/classify/isa.hpp"

namespace loft::engine {
namespace {

using A = Attribute;
using C = InsnClass;
using M = Measure;

template <class E>
constexpr std::uint16_t number(E value) {
  return static_cast<std::uint16_t>(value);
}
template <class E>
constexpr Condition is(A attribute, E value) {
  return {attribute, number(value), number(value)};
}
template <class E>
constexpr Condition between(A attribute, E low, E high) {
  return {attribute, number(low), number(high)};
}
constexpr Condition some(A attribute) { return {attribute, 1, 0xFFFF}; }

std::string_view unit_of(M measure) {
  switch (measure) {
    case M::instructions:
      return "instructions";
    case M::loads:
      return "loads";
    case M::stores:
      return "stores";
    case M::load_bytes:
    case M::store_bytes:
      return "bytes";
    case M::flops:
      return "operations";
    case M::taken:
    case M::not_taken:
      return "branches";
    default:
      return "iterations";
  }
}

using Parts = std::initializer_list<std::string_view>;

std::string join(Parts parts, std::string_view separator) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

// A name and its description, from words.
struct Words {
  Parts name;
  Parts description;
};

class Builder {
 public:
  void add(Words words, M measure, std::initializer_list<Condition> conditions = {}) {
    EventInfo event;
    event.name = join(words.name, "_");
    event.description = join(words.description, " ");
    event.unit = unit_of(measure);
    event.measure = measure;
    for (const Condition& condition : conditions)
      event.conditions[event.condition_count++] = condition;
    events_.push_back(std::move(event));
  }
  void add_modelled(std::string_view name, std::string_view description) {
    EventInfo event;
    event.name = name;
    event.description = std::string(description) + " (modelled; not available yet)";
    event.unit = "events";
    event.is_available = false;
    events_.push_back(std::move(event));
  }
  std::vector<EventInfo> take() { return std::move(events_); }

 private:
  std::vector<EventInfo> events_;
};

// All values of an enumeration from `first` to the last one.
template <class E>
std::vector<E> values(E first = static_cast<E>(1), E last = E::count_) {
  std::vector<E> all;
  for (auto i = number(first); i < number(E::count_) && i <= number(last); ++i)
    all.push_back(static_cast<E>(i));
  return all;
}

std::string width_words(Width width) {
  if (width == Width::scalar || width == Width::tile) return std::string(name_of(width));
  return std::string(name_of(width)) + "-bit";
}

std::string_view precision_words(Precision precision) {
  switch (precision) {
    case Precision::half:
      return "half precision";
    case Precision::bfloat16:
      return "bfloat16";
    case Precision::single:
      return "single precision";
    case Precision::double_:
      return "double precision";
    default:
      return "";
  }
}

void add_headline(Builder& table) {
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

void add_floating_point(Builder& table) {
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

void add_floating_point_operations(Builder& table) {
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

struct Flow {
  std::string_view count_name, bytes_name, verb;
  M count, bytes;
  A size, form;
};
constexpr Flow kFlows[] = {
    {"loads", "load_bytes", "read", M::loads, M::load_bytes, A::load_size, A::load_form},
    {"stores", "store_bytes", "written", M::stores, M::store_bytes, A::store_size, A::store_form}};

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

void add_memory(Builder& table) {
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

void add_branches(Builder& table) {
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

void add_class_widths(Builder& table, C value) {
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

void add_class_memory(Builder& table, C value) {
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

void add_classes(Builder& table) {
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

void add_instruction_sets(Builder& table) {
  const std::vector<std::string> names = isa_names();
  for (std::size_t i = 1; i < names.size(); ++i)
    table.add({{"isa", names[i]}, {"instructions of the", names[i], "instruction set"}},
              M::instructions, {is(A::isa, i)});
}

void add_mnemonics(Builder& table) {
  for (std::uint16_t i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i) {
    const std::string_view name = ZydisMnemonicGetString(static_cast<ZydisMnemonic>(i));
    table.add({{"op", name}, {name, "instructions"}}, M::instructions, {is(A::mnemonic, i)});
  }
}

void add_models(Builder& table) {
  table.add_modelled("l1i_misses", "instruction fetches that miss the first-level cache");
  table.add_modelled("l1d_accesses", "accesses of the first-level data cache");
  table.add_modelled("l1d_misses", "accesses that miss the first-level data cache");
  table.add_modelled("l2_misses", "accesses that miss the second-level cache");
  table.add_modelled("l3_misses", "accesses that miss the third-level cache");
  table.add_modelled("dtlb_misses", "data accesses that miss the TLB");
  table.add_modelled("itlb_misses", "instruction fetches that miss the TLB");
  table.add_modelled("branch_misses", "branches that were predicted wrongly");
}

std::vector<EventInfo> build() {
  Builder table;
  add_headline(table);
  add_floating_point(table);
  add_branches(table);
  add_memory(table);
  add_floating_point_operations(table);
  add_classes(table);
  add_instruction_sets(table);
  add_mnemonics(table);
  add_models(table);
  return table.take();
}

}  // namespace

const std::vector<EventInfo>& event_table() {
  static const std::vector<EventInfo> built = build();
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
