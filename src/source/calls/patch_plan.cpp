#ifdef LOFT_HAS_ENGINE

#include "source/calls/patch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace loft::source::calls {
namespace {

using Kind = InstructionKind;

constexpr std::uint64_t kLongestFunction = 4u << 20;
constexpr std::size_t kMostCases = 1u << 16;  // of one jump table

// A piece of a function: the function itself, or a part that the compiler has put elsewhere.
struct Part {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::vector<Instruction> code;
};

// "sort.cold", "sort.part.0.cold": what "sort" seldom runs.
bool is_cold_part(std::string_view name) { return name.find(".cold") != std::string_view::npos; }

class Planner {
 public:
  Planner(const CodeFile& file, const CodeFunction& function, Watch watch)
      : file_(file), function_(function), watch_(watch) {}

  PatchPlan run() {
    if (function_.is_resolver) return refuse("the loader calls it to choose among implementations");
    if (function_.size > kLongestFunction) return refuse("its size is not plausible");
    if (!add_part(function_)) return refuse("some of its bytes are no instructions");
    if (watch_ != Watch::calls && !add_cold_parts())
      return refuse("some bytes of its seldom-run part are no instructions");
    note_jumps();
    note_neighbours();
    if (watch_ != Watch::returns_only && !plan_entry()) return std::move(plan_);
    if (watch_ == Watch::calls) return std::move(plan_);
    for (const Part& part : parts_)
      for (std::size_t i = 0; i < part.code.size(); ++i)
        if (!plan_exit(part, i)) return std::move(plan_);
    return std::move(plan_);
  }

 private:
  PatchPlan refuse(std::string why) {
    plan_.why_not = std::move(why);
    return std::move(plan_);
  }
  bool give_up(std::string why) {
    plan_.why_not = std::move(why);
    return false;
  }

  bool add_part(const CodeFunction& function) {
    const Bytes code = file_.code_at(function.start);
    if (code.size() < function.size) return false;
    auto decoded = decode_all(code.first(static_cast<std::size_t>(function.size)), function.start);
    if (!decoded) return false;
    parts_.push_back({function.start, function.end(), std::move(*decoded)});
    return true;
  }

  bool add_cold_parts() {
    for (std::size_t i = 0; i < parts_.size() && parts_.size() < 16; ++i) {
      const std::vector<Instruction> code = parts_[i].code;
      for (const Instruction& instruction : code) {
        if (!instruction.is_direct_jump() || is_inside(instruction.target)) continue;
        const CodeFunction* other = file_.function_around(instruction.target);
        if (other == nullptr || !is_cold_part(other->name)) continue;
        if (!add_part(*other)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_inside(std::uint64_t address) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      return address >= part.start && address < part.end;
    });
  }

  // Where its own jumps lead to, and how else it may end.
  void note_jumps() {
    bool has_table_jump = false;
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < part.code.size(); ++i) {
        const Instruction& instruction = part.code[i];
        if (instruction.is_direct_jump()) note_jump(instruction);
        if (instruction.is_rip_relative && instruction.is_lea) targets_.insert(instruction.target);
        if (instruction.kind != Kind::indirect_jump) continue;
        const bool is_table_jump = goes_through_table(part, i);
        has_table_jump = has_table_jump || is_table_jump;
        plan_.has_unknown_jumps = plan_.has_unknown_jumps || !is_table_jump;
      }
      note_end(part);
    }
    if (has_table_jump || plan_.has_unknown_jumps) note_tables(has_table_jump);
    plan_.loops_to_start = targets_.contains(first_instruction());
    std::sort(plan_.tail_calls.begin(), plan_.tail_calls.end());
    plan_.tail_calls.erase(std::unique(plan_.tail_calls.begin(), plan_.tail_calls.end()),
                           plan_.tail_calls.end());
  }

  // Cases of a switch are elements of a table, or what an element is added to.
  static bool goes_through_table(const Part& part, std::size_t index) {
    const Instruction& jump = part.code[index];
    if (jump.has_memory) return jump.has_index;
    if (index == 0) return false;
    const Instruction& before = part.code[index - 1];
    return before.has_index || (before.is_add && !before.has_memory);
  }

  // Hand-written functions may go on in the one behind them.
  void note_end(const Part& part) {
    const auto last = std::find_if(part.code.rbegin(), part.code.rend(),
                                   [](const Instruction& i) { return i.kind != Kind::padding; });
    if (last == part.code.rend() || !last->falls_through() || last->kind == Kind::call ||
        last->kind == Kind::indirect_call)
      return;
    const std::uint64_t next = part.end + padding_size(file_.code_at(part.end), 64);
    if (file_.function_at(next) != nullptr) {
      plan_.tail_calls.push_back(next);
    } else {
      plan_.has_unknown_jumps = true;
    }
  }

  void note_jump(const Instruction& jump) {
    targets_.insert(jump.target);
    if (is_inside(jump.target)) return;
    if (file_.function_at(jump.target) != nullptr) {
      plan_.tail_calls.push_back(jump.target);
    } else {
      plan_.has_unknown_jumps = true;
    }
  }

  // The cases of tables whose address the function takes. A jump through a table that is not found
  // may lead to another function.
  void note_tables(bool has_table_jump) {
    std::size_t cases = 0;
    for (const Part& part : parts_) {
      for (const Instruction& instruction : part.code) {
        if (instruction.is_rip_relative && instruction.is_lea)
          cases += note_table(instruction.target);
      }
      if (file_.is_pointed_at_within(part.start + 1, part.end)) ++cases;
    }
    if (has_table_jump && cases == 0) plan_.has_unknown_jumps = true;
  }

  // Cases as distances of four bytes from the table.
  std::size_t note_table(std::uint64_t table) {
    const Bytes data = file_.data_at(table);
    std::size_t count = 0;
    for (; count < kMostCases && 4 * count + 4 <= data.size(); ++count) {
      const auto distance = static_cast<std::int32_t>(
          loft::load<std::uint32_t>(data.data() + 4 * count, ByteOrder::little));
      const std::uint64_t target = table + static_cast<std::uint64_t>(std::int64_t{distance});
      if (!is_inside(target)) break;
      targets_.insert(target);
    }
    return count;
  }

  [[nodiscard]] std::uint64_t first_instruction() const {
    const Bytes code = file_.code_at(function_.start);
    constexpr std::array kEndbr = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                   std::byte{0xfa}};
    const bool has_endbr =
        code.size() >= kEndbr.size() && std::equal(kEndbr.begin(), kEndbr.end(), code.begin());
    return function_.start + (has_endbr ? kEndbr.size() : 0);
  }

  [[nodiscard]] bool is_target_within(std::uint64_t first, std::uint64_t last) const {
    const auto own = targets_.lower_bound(first);
    return (own != targets_.end() && *own < last) || file_.is_target_within(first, last);
  }

  // Short jumps out of the functions around this one: only hand-written code has them.
  void note_neighbours() {
    constexpr std::uint64_t kReach = 128 + 16;
    const CodeFunction* other = file_.before(function_);
    for (; other != nullptr && other->end() + kReach > function_.start;
         other = file_.before(*other))
      note_jumps_of(*other);
    other = file_.behind(function_);
    for (; other != nullptr && function_.end() + kReach > other->start;
         other = file_.behind(*other))
      note_jumps_of(*other);
  }

  void note_jumps_of(const CodeFunction& other) {
    const Bytes code = file_.code_at(other.start);
    if (other.size > kLongestFunction || code.size() < other.size) return;
    const auto decoded = decode_all(code.first(static_cast<std::size_t>(other.size)), other.start);
    if (!decoded) return;
    for (const Instruction& instruction : *decoded)
      if (instruction.is_direct_jump()) targets_.insert(instruction.target);
  }

  // Bytes behind a function or a return that nothing uses.
  [[nodiscard]] std::size_t room_behind(std::uint64_t address, std::size_t wanted) const {
    const std::size_t room = padding_size(file_.code_at(address), wanted);
    for (std::size_t i = 0; i < room; ++i)
      if (is_target_within(address + i, address + i + 1)) return i;
    return room;
  }

  [[nodiscard]] static bool can_move(const Instruction& instruction) {
    switch (instruction.kind) {
      case Kind::plain:
      case Kind::padding:
      case Kind::conditional_jump:
        return true;
      default:
        return false;
    }
  }
  // A call can be moved where it is the last: it returns to where it would have.
  [[nodiscard]] static bool can_end_region(const Instruction& instruction) {
    switch (instruction.kind) {
      case Kind::jump:
      case Kind::indirect_jump:
      case Kind::call:
      case Kind::end:
        return true;
      case Kind::indirect_call:
        return !instruction.uses_stack_pointer;
      case Kind::ret:
        return true;
      default:
        return false;
    }
  }

  bool plan_entry() {
    const std::uint64_t start = first_instruction();
    const std::vector<Instruction>& code = parts_.front().code;
    Region region{start, {}};
    auto next = std::find_if(code.begin(), code.end(),
                             [&](const Instruction& i) { return i.address == start; });
    for (std::size_t size = 0; size < kPatchSize; ++next) {
      if (next == code.end())
        return give_up("it is too short for a jump, and there is no room behind it");
      if (next->address != start && is_target_within(next->address, next->address + 1))
        return give_up("a jump leads between its first instructions");
      region.moved.push_back(*next);
      size += next->length;
      if (can_move(*next)) continue;
      if (!can_end_region(*next)) return give_up("one of its first instructions cannot be moved");
      if (size < kPatchSize && (next->falls_through() ||
                                room_behind(next->end(), kPatchSize - size) < kPatchSize - size))
        return give_up("it is too short for a jump, and there is no room behind it");
      break;
    }
    if (is_target_within(start + 1, region.end()))
      return give_up("a jump leads between its first instructions");
    plan_.entry = std::move(region);
    return true;
  }

  bool plan_exit(const Part& part, std::size_t index) {
    const Instruction& exit = part.code[index];
    if (exit.kind == Kind::ret_and_pop)
      return give_up(
          fmt::format("its return at {:#x} takes arguments off the stack", exit.address));
    if (exit.kind != Kind::ret) return true;
    if (plan_.entry && exit.address >= plan_.entry->start && exit.address < plan_.entry->end())
      return true;  // it is moved with the entry
    const std::size_t behind = room_behind(exit.end(), kPatchSize);
    std::size_t first = index;
    while (exit.end() + behind - part.code[first].address < kPatchSize) {
      if (first == 0 || is_target_within(part.code[first].address, part.code[first].address + 1) ||
          !can_move(part.code[first - 1]))
        return give_up(
            fmt::format("there is no room for a jump at its return at {:#x}", exit.address));
      --first;
      if (plan_.entry && part.code[first].address >= plan_.entry->start &&
          part.code[first].address < plan_.entry->end())
        return join_entry(part, index);
    }
    Region region{part.code[first].address, {}};
    region.moved.assign(part.code.begin() + static_cast<std::ptrdiff_t>(first),
                        part.code.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    if (is_target_within(region.start + 1, exit.end()))
      return give_up(fmt::format("a jump leads between the instructions before its return at {:#x}",
                                 exit.address));
    plan_.exits.push_back(std::move(region));
    return true;
  }

  // The instructions before a return are those that the entry's jump covers: all move together.
  bool join_entry(const Part& part, std::size_t index) {
    Region& entry = *plan_.entry;
    const Instruction& exit = part.code[index];
    const bool is_straight = can_move(entry.moved.back()) && entry.end() <= exit.address &&
                             !is_target_within(entry.start + 1, exit.end());
    if (!is_straight)
      return give_up(
          fmt::format("there is no room for a jump at its return at {:#x}", exit.address));
    for (std::size_t i = 0; i <= index; ++i)
      if (part.code[i].address >= entry.end()) entry.moved.push_back(part.code[i]);
    return true;
  }

  const CodeFile& file_;
  const CodeFunction& function_;
  Watch watch_;
  PatchPlan plan_;
  std::vector<Part> parts_;
  std::set<std::uint64_t> targets_;  // of its own jumps
};

}  // namespace

PatchPlan plan_function(const CodeFile& file, const CodeFunction& function, Watch watch) {
  return Planner(file, function, watch).run();
}

}  // namespace loft::source::calls

#endif
