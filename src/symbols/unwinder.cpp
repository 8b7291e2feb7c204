#include "symbols/unwinder.hpp"

#include <cstring>
#include <unordered_map>

#include "symbols/dwarf_expression.hpp"
#include "symbols/unwind_table.hpp"

namespace loft::symbols {
namespace {

// The numbers that DWARF gives to the registers that every step needs.
struct RegisterNumbers {
  unsigned stack_pointer;
  unsigned frame_pointer;
  unsigned link;  // what a leaf function returns to; kNone where the call pushes it
};
constexpr unsigned kNone = 255;
constexpr RegisterNumbers kX86{7, 6, kNone};
constexpr RegisterNumbers kArm64{31, 29, 30};

// perf's order of the x86-64 registers, as DWARF numbers them; kNone: flags and segments.
constexpr std::array<unsigned, 24> kX86Order = {0,  3,     2,     1,     4,     5,     6,     7,
                                                16, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                                                8,  9,     10,    11,    12,    13,    14,    15};
constexpr unsigned kX86Ip = 16;
constexpr unsigned kArm64Ip = 32;

// Pointer authentication keeps its signature above the address.
constexpr std::uint64_t kArm64AddressMask = (std::uint64_t{1} << 48) - 1;

struct RowKey {
  const SymbolTable* table;
  std::uint64_t address;
  bool operator==(const RowKey&) const = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const {
    const auto table = reinterpret_cast<std::uintptr_t>(key.table);
    return static_cast<std::size_t>((key.address ^ (table >> 4)) * 0x9e3779b97f4a7c15u);
  }
};

struct KnownRow {
  const UnwindTable* table = nullptr;
  std::optional<UnwindRow> row;
  bool is_python_trampoline = false;
};

}  // namespace

std::optional<UserRegisters> from_perf_registers(Architecture architecture, std::uint64_t mask,
                                                 std::span<const std::uint64_t> values) {
  UserRegisters registers;
  std::size_t next = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    if (next == values.size()) break;
    const std::uint64_t value = values[next++];
    unsigned number = bit < UserRegisters::kCount ? bit : kNone;
    if (architecture == Architecture::x86_64)
      number = bit < kX86Order.size() ? kX86Order[bit] : kNone;
    if (number == kNone) continue;
    registers.value[number] = value;
    registers.known |= std::uint64_t{1} << number;
  }
  const bool is_x86 = architecture == Architecture::x86_64;
  const unsigned ip = is_x86 ? kX86Ip : kArm64Ip;
  const unsigned sp = is_x86 ? kX86.stack_pointer : kArm64.stack_pointer;
  if (!registers.has(ip) || !registers.has(sp)) return std::nullopt;
  registers.ip = registers.value[ip];
  return registers;
}

namespace {

// CPython 3.12 gives each Python function a piece of code of its own (-X perf), so that profilers
// see it: sub $8,%rsp; call *%rcx; add $8,%rsp; ret. No table describes it. Where it calls, the
// return address is 8 bytes above the stack pointer. Later ones keep a frame pointer.
constexpr std::uint64_t kTrampolineSize = 11;
constexpr std::uint64_t kEndOfItsCall = 5;

bool is_in_python_trampoline(const SymbolTable& symbols, std::uint64_t address) {
  const Symbol* symbol = symbols.find(address);
  return symbol != nullptr && symbol->name.starts_with("py::") && symbol->size == kTrampolineSize &&
         address - symbol->start == kEndOfItsCall;
}

}  // namespace

struct Unwinder::Cache {
  // Keeps the tables, whose addresses are keys below, from making way for others.
  std::unordered_map<const SymbolTable*, std::shared_ptr<const SymbolTable>> tables;
  std::unordered_map<RowKey, KnownRow, RowKeyHash> rows;

  // The rows asked for last, by the place in the file: most frames are at few places.
  struct Recent {
    RowKey key{nullptr, 0};
    const KnownRow* row = nullptr;
  };
  std::vector<Recent> recent = std::vector<Recent>(1024);

  const KnownRow& row_of(const MappedFile& mapping, std::uint64_t ip) {
    const SymbolTable& table = *mapping.table;
    const RowKey key{&table, table.is_absolute() ? ip : ip - mapping.start + mapping.offset};
    Recent& last = recent[RowKeyHash{}(key) >> 54];
    if (last.key != key)
      last = {key, &row_at(mapping.table, table.address_of(ip, mapping.start, mapping.offset))};
    return *last.row;
  }

  const KnownRow& row_at(const std::shared_ptr<const SymbolTable>& symbols, std::uint64_t address) {
    const auto [found, is_new] = rows.try_emplace({symbols.get(), address});
    if (!is_new) return found->second;
    tables.try_emplace(symbols.get(), symbols);
    found->second.table = symbols->unwind_table();
    if (found->second.table != nullptr) found->second.row = found->second.table->row(address);
    if (!found->second.row)
      found->second.is_python_trampoline = is_in_python_trampoline(*symbols, address);
    return found->second;
  }
};

namespace {

// One walk up a stack.
class Walk {
 public:
  Walk(const UserState& state, const Unwinder::MappingAt& mapping_at)
      : registers_(state.registers),
        stack_(state.stack),
        is_arm64_(state.architecture == Architecture::arm64),
        numbers_(is_arm64_ ? kArm64 : kX86),
        stack_start_(state.registers.value[numbers_.stack_pointer]),
        mapping_at_(mapping_at) {
    context_.register_value = [this](std::uint64_t number) { return register_value(number); };
    context_.memory = [this](std::uint64_t address, std::size_t size) {
      return read_stack(address, size);
    };
  }

  [[nodiscard]] UnwoundFrame frame() const { return {registers_.ip, is_exact_}; }
  [[nodiscard]] Unwinder::End why_ended() const { return end_; }

  // Where the code is that the frame is in; null when nothing is mapped there.
  const MappedFile* mapping() {
    const std::uint64_t place = lookup_address();
    if (mapping_ == nullptr || place < mapping_->start || place >= mapping_->end)
      mapping_ = mapping_at_(place);
    return mapping_;
  }

  [[nodiscard]] std::uint64_t lookup_address() const { return frame().lookup_address(); }

  // To the caller's frame. False when the walk ends here.
  bool step(const KnownRow& known) {
    const bool done = known.row ? step_by_row(*known.table, *known.row)
                      : known.is_python_trampoline && !is_exact_ && !is_arm64_
                          ? step_over_trampoline()
                          : step_by_frame_pointer();
    if (done) ++depth_;
    return done;
  }

 private:
  bool stop(Unwinder::End why) {
    end_ = why;
    return false;
  }

  std::optional<std::uint64_t> register_value(std::uint64_t number) const {
    if (number >= UserRegisters::kCount || !registers_.has(static_cast<unsigned>(number)))
      return std::nullopt;
    return registers_.value[static_cast<std::size_t>(number)];
  }

  std::optional<std::uint64_t> read_stack(std::uint64_t address, std::size_t size) const {
    if (size == 0 || size > 8 || address < stack_start_) return std::nullopt;
    const std::uint64_t offset = address - stack_start_;
    if (offset > stack_.size() || stack_.size() - offset < size) return std::nullopt;
    return ByteReader(stack_, ByteOrder::little, static_cast<std::size_t>(offset)).sized(size);
  }

  std::optional<std::uint64_t> cfa_of(const UnwindTable& table, const UnwindRow& row) const {
    if (row.cfa_is_expression)
      return evaluate(table.expression(row.cfa_expression_at, row.cfa_expression_size),
                      table.order(), std::nullopt, context_);
    const auto base = register_value(row.cfa_register);
    if (!base) return std::nullopt;
    return *base + static_cast<std::uint64_t>(std::int64_t{row.cfa_offset});
  }

  std::optional<std::uint64_t> value_by(const RegisterRule& rule, const UnwindTable& table,
                                        std::uint64_t cfa) const {
    using Kind = RegisterRule::Kind;
    const std::uint64_t sum = cfa + static_cast<std::uint64_t>(std::int64_t{rule.offset});
    switch (rule.kind) {
      case Kind::unspecified:
      case Kind::same:
        return register_value(rule.number);
      case Kind::undefined:
        return std::nullopt;
      case Kind::saved:
        return read_stack(sum, 8);
      case Kind::offset:
        return sum;
      case Kind::in_register:
        return register_value(static_cast<std::uint64_t>(rule.offset));
      case Kind::expression:
      case Kind::saved_expression: {
        const auto value = evaluate(table.expression(rule.expression_at, rule.expression_size),
                                    table.order(), cfa, context_);
        if (!value || rule.kind == Kind::expression) return value;
        return read_stack(*value, 8);
      }
    }
    return std::nullopt;
  }

  bool step_by_row(const UnwindTable& table, const UnwindRow& row) {
    const auto cfa = cfa_of(table, row);
    if (!cfa) return stop(Unwinder::End::stack_copied);
    const std::uint64_t sp = registers_.value[numbers_.stack_pointer];
    // Only a leaf may leave the stack as it was, and only a signal may come from another stack.
    const bool may_stand = depth_ == 0 || is_exact_;
    if (!row.is_signal_frame && (*cfa < sp || (*cfa == sp && !may_stand)))
      return stop(Unwinder::End::loop);

    // All rules speak of the frame at hand, so none of its registers changes before all are read.
    std::array<std::uint64_t, kUnwindRegisters> values;  // by rule
    std::uint64_t found = 0;                             // bit i: values[i] is known
    std::optional<std::uint64_t> back;  // pushed by the call: a row without its rule is no row
    if (is_arm64_) back = register_value(row.return_register);
    for (std::size_t i = 0; i < row.rules.size(); ++i) {
      const RegisterRule& rule = row.rules[i];
      const auto value = value_by(rule, table, *cfa);
      if (rule.number == row.return_register) {
        if (rule.kind == RegisterRule::Kind::undefined) return stop(Unwinder::End::complete);
        back = value;
      }
      values[i] = value.value_or(0);
      found |= std::uint64_t{value ? 1u : 0u} << i;
    }
    if (!back) return stop(Unwinder::End::stack_copied);
    if (!move_to(*back, row.is_signal_frame)) return false;
    registers_.value[numbers_.stack_pointer] = *cfa;
    for (std::size_t i = 0; i < row.rules.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << row.rules[i].number;
      registers_.value[row.rules[i].number] = values[i];
      registers_.known = (found >> i & 1) != 0 ? registers_.known | bit : registers_.known & ~bit;
    }
    return true;
  }

  bool step_over_trampoline() {
    const std::uint64_t sp = registers_.value[numbers_.stack_pointer];
    const auto back = read_stack(sp + 8, 8);
    if (!back) return stop(Unwinder::End::stack_copied);
    if (!move_to(*back, false)) return false;
    registers_.value[numbers_.stack_pointer] = sp + 16;
    return true;
  }

  // Code without tables, from a JIT most often: it may keep a frame pointer.
  bool step_by_frame_pointer() {
    const auto frame = register_value(numbers_.frame_pointer);
    const std::uint64_t sp = registers_.value[numbers_.stack_pointer];
    if (!frame || *frame < sp || *frame % 8 != 0) return stop(Unwinder::End::no_table);
    const auto next_frame = read_stack(*frame, 8);
    const auto back = read_stack(*frame + 8, 8);
    if (!next_frame || !back) return stop(Unwinder::End::no_table);
    if (*next_frame != 0 && *next_frame <= *frame) return stop(Unwinder::End::no_table);
    const std::uint64_t next_stack = *frame + 16;
    if (!move_to(*back, false)) return false;
    registers_.value[numbers_.frame_pointer] = *next_frame;
    registers_.value[numbers_.stack_pointer] = next_stack;
    return true;
  }

  bool move_to(std::uint64_t back, bool is_exact) {
    if (is_arm64_) back &= kArm64AddressMask;
    if (back == 0) return stop(Unwinder::End::complete);
    registers_.ip = back;
    is_exact_ = is_exact;
    return true;
  }

  UserRegisters registers_;
  std::span<const std::byte> stack_;
  bool is_arm64_;
  RegisterNumbers numbers_;
  std::uint64_t stack_start_;
  const Unwinder::MappingAt& mapping_at_;
  ExpressionContext context_;
  const MappedFile* mapping_ = nullptr;
  bool is_exact_ = true;
  std::size_t depth_ = 0;
  Unwinder::End end_ = Unwinder::End::complete;
};

}  // namespace

Unwinder::Unwinder() : cache_(std::make_unique<Cache>()) {}
Unwinder::~Unwinder() = default;
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;

Unwinder::End Unwinder::unwind(const UserState& state, const MappingAt& mapping_at,
                               std::vector<UnwoundFrame>& chain, std::size_t most_frames) {
  static const KnownRow kNoRow;
  Walk walk(state, mapping_at);
  chain.assign(1, walk.frame());
  for (;;) {
    const MappedFile* mapping = walk.mapping();
    if (mapping == nullptr) {
      if (chain.size() > 1) chain.pop_back();  // no code: it was never a return address
      return End::no_mapping;
    }
    const KnownRow* row = &kNoRow;
    if (mapping->table != nullptr) row = &cache_->row_of(*mapping, walk.lookup_address());
    if (!walk.step(*row)) return walk.why_ended();
    if (chain.size() >= most_frames) return End::loop;
    chain.push_back(walk.frame());
  }
}

}  // namespace loft::symbols
