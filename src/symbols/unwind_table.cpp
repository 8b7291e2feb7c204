#include "symbols/unwind_table.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "symbols/encoded_pointer.hpp"

namespace loft::symbols {
namespace {

constexpr std::uint32_t kMostBytes = std::numeric_limits<std::uint32_t>::max();

}  // namespace

// Reads every entry once and notes where each function's instructions are.
class UnwindTable::Scan {
 public:
  Scan(UnwindTable& table, bool is_debug_frame, std::uint8_t address_size)
      : table_(table), is_debug_frame_(is_debug_frame), address_size_(address_size) {}

  void run() {
    ByteReader in(table_.bytes_, table_.order_);
    while (in.remaining() >= 4) {
      const std::size_t entry = in.position();
      std::uint64_t length = in.u32();
      const bool is_64bit = length == 0xffffffff;
      if (is_64bit) length = in.u64();
      if (length == 0) {  // the end, or the end of one object's part
        if (is_debug_frame_) continue;
        if (in.remaining() < 4) break;
        continue;
      }
      if (!in.ok() || length > in.remaining()) break;
      const std::size_t body = in.position();
      in.skip(length);
      read_entry(entry, body, body + static_cast<std::size_t>(length), is_64bit ? 8 : 4);
    }
    std::sort(table_.functions_.begin(), table_.functions_.end(),
              [](const Function& a, const Function& b) { return a.start < b.start; });
  }

 private:
  ByteReader reader(std::size_t from, std::size_t to) const {
    return {table_.bytes_.first(to), table_.order_, from};
  }

  void read_entry(std::size_t entry, std::size_t body, std::size_t end, std::size_t id_size) {
    ByteReader in = reader(body, end);
    const std::uint64_t id = in.sized(is_debug_frame_ ? id_size : 4);
    if (!in.ok()) return;
    const std::uint64_t common_id =
        is_debug_frame_ ? (id_size == 8 ? ~std::uint64_t{0} : 0xffffffff) : 0;
    if (id == common_id) {
      common_at(entry);
      return;
    }
    // .eh_frame counts back from here, .debug_frame from its start.
    const std::uint64_t where = is_debug_frame_ ? id : body - id;
    if (where >= table_.bytes_.size() || (!is_debug_frame_ && id > body)) return;
    const auto common = common_at(static_cast<std::size_t>(where));
    if (common) read_function(in, *common, end);
  }

  void read_function(ByteReader& in, std::uint32_t index, std::size_t end) {
    const Common& common = table_.commons_[index];
    const std::uint64_t place = table_.section_address_ + in.position();
    const std::uint64_t start = read_pointer(in, common.encoding, common.address_size, place);
    const std::uint64_t size =
        read_pointer(in, common.encoding & kFormatMask, common.address_size, 0);
    if (common.has_augmentation_data) in.skip(in.uleb());
    if (!in.ok() || size == 0 || start == 0 || start + size < start) return;
    table_.functions_.push_back({start, start + size, index,
                                 static_cast<std::uint32_t>(in.position()),
                                 static_cast<std::uint32_t>(end)});
  }

  // The shared entry at an offset, read when it is first met.
  std::optional<std::uint32_t> common_at(std::size_t entry) {
    const auto known = index_of_.find(entry);
    if (known != index_of_.end()) return known->second;
    std::optional<std::uint32_t> index;
    if (const auto common = read_common(entry)) {
      index = static_cast<std::uint32_t>(table_.commons_.size());
      table_.commons_.push_back(*common);
    }
    index_of_.emplace(entry, index);
    return index;
  }

  std::optional<Common> read_common(std::size_t entry) const {
    ByteReader in = reader(entry, table_.bytes_.size());
    std::uint64_t length = in.u32();
    const bool is_64bit = length == 0xffffffff;
    if (is_64bit) length = in.u64();
    if (!in.ok() || length > in.remaining()) return std::nullopt;
    const std::size_t end = in.position() + static_cast<std::size_t>(length);
    in = reader(in.position(), end);
    const std::uint64_t id = in.sized(is_debug_frame_ && is_64bit ? 8 : 4);
    const std::uint64_t wanted = is_debug_frame_ ? (is_64bit ? ~std::uint64_t{0} : 0xffffffff) : 0;
    if (id != wanted) return std::nullopt;

    Common common;
    const std::uint8_t version = in.u8();
    const std::string_view augmentation = in.text();
    common.address_size = address_size_;
    if (version >= 4) {
      common.address_size = in.u8();
      in.skip(1);  // segment selector size
    }
    common.code_factor = in.uleb();
    common.data_factor = in.sleb();
    common.return_register = version == 1 ? in.u8() : in.uleb();
    if (!read_augmentation(augmentation, in, common)) return std::nullopt;
    common.first = in.position();
    common.last = end;
    const bool is_known = version == 1 || version == 3 || version == 4;
    if (!in.ok() || !is_known || common.return_register >= kUnwindRegisters) return std::nullopt;
    return common;
  }

  bool read_augmentation(std::string_view text, ByteReader& in, Common& common) const {
    if (text.empty()) return true;
    if (text.front() != 'z') return false;  // its data has no size: nothing behind it is sure
    common.has_augmentation_data = true;
    const std::uint64_t size = in.uleb();
    const std::size_t data = in.position();
    for (const char letter : text.substr(1)) {
      if (letter == 'R') {
        common.encoding = in.u8();
      } else if (letter == 'L') {
        in.skip(1);
      } else if (letter == 'P') {
        const std::uint8_t encoding = in.u8();
        read_pointer(in, encoding, common.address_size, 0);
      } else if (letter == 'S') {
        common.is_signal_frame = true;
      } else if (letter != 'B' && letter != 'G') {
        break;
      }
    }
    if (!in.ok() || (common.encoding & kIndirect) != 0) return false;
    const std::size_t read = in.position() - data;
    if (read > size) return false;
    in.skip(size - read);
    return in.ok();
  }

  UnwindTable& table_;
  bool is_debug_frame_;
  std::uint8_t address_size_;
  std::unordered_map<std::size_t, std::optional<std::uint32_t>> index_of_;
};

// Runs the instructions of a function up to an address.
class UnwindTable::Machine {
 public:
  Machine(const UnwindTable& table, const Function& function, std::uint64_t address)
      : table_(table),
        common_(table.commons_[function.common]),
        function_(function),
        address_(address),
        location_(function.start) {}

  std::optional<UnwindRow> run() {
    if (!execute(common_.first, common_.last)) return std::nullopt;
    initial_ = state_;
    location_ = function_.start;
    if (!execute(function_.first, function_.last)) return std::nullopt;
    UnwindRow row = state_.row;
    row.return_register = static_cast<std::uint8_t>(common_.return_register);
    row.is_signal_frame = common_.is_signal_frame;
    for (std::size_t i = 0; i < kUnwindRegisters; ++i) {
      if (state_.rules[i].kind == RegisterRule::Kind::unspecified) continue;
      row.rules.push_back(state_.rules[i]);
      row.rules.back().number = static_cast<std::uint8_t>(i);
    }
    return row;
  }

 private:
  using Kind = RegisterRule::Kind;
  struct State {
    UnwindRow row;
    std::array<RegisterRule, kUnwindRegisters> rules{};
  };
  static constexpr std::size_t kMostRemembered = 64;

  // False where the instructions make no sense. Stops when they are past the address.
  bool execute(std::size_t first, std::size_t last) {
    in_ = ByteReader(table_.bytes_.first(last), table_.order_, first);
    while (!in_.at_end() && location_ <= address_) {
      const std::uint8_t opcode = in_.u8();
      const std::uint8_t low = opcode & 0x3f;
      switch (opcode & 0xc0) {
        case 0x40:
          advance(low);
          break;
        case 0x80:
          set_saved(low, unsigned_factored());
          break;
        case 0xc0:
          restore(low);
          break;
        default:
          if (!execute_extended(opcode)) return false;
      }
      if (!in_.ok()) return false;
    }
    return true;
  }

  bool execute_extended(std::uint8_t opcode) {
    switch (opcode) {
      case 0x00:
        return true;
      case 0x01:
        return set_location();
      case 0x02:
        advance(in_.u8());
        return true;
      case 0x03:
        advance(in_.u16());
        return true;
      case 0x04:
        advance(in_.u32());
        return true;
      case 0x05:
        return with_register([&](auto r) { set_saved(r, unsigned_factored()); });
      case 0x06:
        return with_register([&](auto r) { restore(r); });
      case 0x07:
        return with_register([&](auto r) { set(r, {Kind::undefined}); });
      case 0x08:
        return with_register([&](auto r) { set(r, {Kind::same}); });
      case 0x09:
        return with_register([&](auto r) {
          const std::uint64_t other = in_.uleb();
          set(r, {Kind::in_register, 0, narrow(static_cast<std::int64_t>(other))});
        });
      case 0x0a:
        return remember();
      case 0x0b:
        return recall();
      case 0x0c:
        return define_cfa([&] { return static_cast<std::int64_t>(in_.uleb()); });
      case 0x0d:
        return define_cfa([&] { return std::int64_t{state_.row.cfa_offset}; });
      case 0x0e:
        state_.row.cfa_offset = narrow(static_cast<std::int64_t>(in_.uleb()));
        return true;
      case 0x0f:
        state_.row.cfa_is_expression = true;
        read_expression(state_.row.cfa_expression_at, state_.row.cfa_expression_size);
        return true;
      case 0x10:
        return set_expression(Kind::saved_expression);
      case 0x11:
        return with_register([&](auto r) { set_saved(r, signed_factored()); });
      case 0x12:
        return define_cfa([&] { return signed_factored(); });
      case 0x13:
        state_.row.cfa_offset = narrow(signed_factored());
        return true;
      case 0x14:
        return with_register([&](auto r) {
          set(r, {Kind::offset, 0, narrow(unsigned_factored())});
        });
      case 0x15:
        return with_register([&](auto r) { set(r, {Kind::offset, 0, narrow(signed_factored())}); });
      case 0x16:
        return set_expression(Kind::expression);
      case 0x2d:  // arm64: the return address is signed from here on; who follows it strips that
        return table_.is_arm64_;
      case 0x2e:
        in_.uleb();
        return true;  // size of the arguments
      case 0x2f:
        return with_register([&](auto r) { set_saved(r, -unsigned_factored()); });
      default:
        return false;
    }
  }

  static std::int32_t narrow(std::int64_t value) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }

  // Factors are small and offsets fit 32 bits; a lie must not overflow.
  std::int64_t factored(std::int64_t value) const {
    std::int64_t product = 0;
    return __builtin_mul_overflow(value, common_.data_factor, &product) ? 0 : narrow(product);
  }
  std::int64_t unsigned_factored() { return factored(static_cast<std::int64_t>(in_.uleb())); }
  std::int64_t signed_factored() { return factored(in_.sleb()); }

  void advance(std::uint64_t delta) { location_ += delta * common_.code_factor; }

  bool set_location() {
    const std::uint64_t place = table_.section_address_ + in_.position();
    location_ = read_pointer(in_, common_.encoding, common_.address_size, place);
    return in_.ok();
  }

  template <class Apply>
  bool with_register(const Apply& apply) {
    apply(in_.uleb());
    return true;
  }

  void set(std::uint64_t number, RegisterRule rule) {
    if (number < kUnwindRegisters) state_.rules[static_cast<std::size_t>(number)] = rule;
  }
  void set_saved(std::uint64_t number, std::int64_t offset) {
    set(number, {Kind::saved, 0, narrow(offset)});
  }
  void restore(std::uint64_t number) {
    if (number < kUnwindRegisters) set(number, initial_.rules[static_cast<std::size_t>(number)]);
  }

  template <class Offset>
  bool define_cfa(const Offset& offset) {
    const std::uint64_t number = in_.uleb();
    if (number >= kUnwindRegisters) return false;
    state_.row.cfa_register = static_cast<std::uint8_t>(number);
    state_.row.cfa_offset = narrow(offset());
    state_.row.cfa_is_expression = false;
    return true;
  }

  void read_expression(std::uint32_t& at, std::uint32_t& size) {
    const std::uint64_t length = in_.uleb();
    at = static_cast<std::uint32_t>(in_.position());
    size = static_cast<std::uint32_t>(in_.take(length).size());
  }

  bool set_expression(Kind kind) {
    return with_register([&](auto number) {
      RegisterRule rule{kind};
      read_expression(rule.expression_at, rule.expression_size);
      set(number, rule);
    });
  }

  bool remember() {
    if (remembered_.size() >= kMostRemembered) return false;
    remembered_.push_back(state_);
    return true;
  }
  bool recall() {
    if (remembered_.empty()) return false;
    state_ = std::move(remembered_.back());
    remembered_.pop_back();
    return true;
  }

  const UnwindTable& table_;
  const Common& common_;
  const Function& function_;
  std::uint64_t address_;
  std::uint64_t location_;
  ByteReader in_;
  State state_;
  State initial_;
  std::vector<State> remembered_;
};

UnwindTable::UnwindTable(const ElfFile& elf) : order_(elf.order()) {
  is_arm64_ = elf.machine() == EM_AARCH64;
  const auto address_size = static_cast<std::uint8_t>(elf.is_64bit() ? 8 : 4);
  for (const char* name : {".eh_frame", ".debug_frame"}) {
    const ElfSection* section = elf.section(name);
    if (section == nullptr || elf.type() == ET_REL) continue;
    bytes_ = elf.unpacked(name);
    section_address_ = section->address;
    commons_.clear();
    if (bytes_.size() < kMostBytes) Scan(*this, name[1] == 'd', address_size).run();
    if (!functions_.empty()) return;
  }
}

const UnwindTable::Function* UnwindTable::find(std::uint64_t address) const {
  const auto above = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](std::uint64_t wanted, const Function& function) { return wanted < function.start; });
  if (above == functions_.begin() || address >= std::prev(above)->end) return nullptr;
  return &*std::prev(above);
}

std::optional<UnwindRow> UnwindTable::row(std::uint64_t address) const {
  const Function* function = find(address);
  if (function == nullptr) return std::nullopt;
  return Machine(*this, *function, address).run();
}

std::optional<UnwindTable::Range> UnwindTable::function_around(std::uint64_t address) const {
  const Function* function = find(address);
  if (function == nullptr) return std::nullopt;
  return Range{function->start, function->end};
}

Bytes UnwindTable::expression(std::uint32_t at, std::uint32_t size) const {
  if (at > bytes_.size() || size > bytes_.size() - at) return {};
  return bytes_.subspan(at, size);
}

}  // namespace loft::symbols
