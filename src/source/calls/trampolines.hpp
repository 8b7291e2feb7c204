// The code that stands in for what a patch covers: the agent, and behind it a trampoline for each
// patch. It is made for one place in the program's memory, near the code that jumps to it.
//
//   TrampolineArea area(at);
//   LOFT_TRY(const auto patches, area.add(file, plan, bias, {.sums = offset | facts}));
//   write(at, area.code());
//   for (const Patch& patch : patches) write(patch.address, patch.bytes);
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "source/calls/patch_plan.hpp"

namespace loft::source::calls {

struct Patch {
  std::uint64_t address = 0;  // where the program has it
  std::array<std::byte, kPatchSize> bytes{};
  std::array<std::byte, kPatchSize> original{};
};

// An instruction that runs elsewhere now.
struct Move {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

struct Hook {
  enum class Kind : std::uint8_t {
    call,     // begins and ends a call
    count,    // counts one
    change,   // leaves calls, or takes what the agent stands on
    loader,   // libraries were loaded
    returns,  // ends calls that have jumped there
  };
  Kind kind = Kind::call;
  std::uint32_t sums = 0;   // the offset of the function's sums, with the facts of wire.h
  std::uint32_t leave = 0;  // what the function does, as loft_calls_leave
};

class TrampolineArea {
 public:
  // How much a function needs at most.
  [[nodiscard]] static std::size_t space_for(const PatchPlan& plan);
  [[nodiscard]] static std::size_t space_for_agent();

  explicit TrampolineArea(std::uint64_t address);

  // `bias` is what is added to addresses of the file. Fails where something is out of reach;
  // nothing of the function is patched then. `file` has the bytes.
  [[nodiscard]] Result<std::vector<Patch>> add(const CodeFile& file, const PatchPlan& plan,
                                               std::uint64_t bias, const Hook& hook);

  [[nodiscard]] std::uint64_t address() const { return address_; }
  // Where a thread stands that has met the hook of the loader.
  [[nodiscard]] std::uint64_t loader_trap() const;
  [[nodiscard]] Bytes code() const { return code_; }
  // Where the instructions are that a patch covers, but for its first.
  [[nodiscard]] const std::vector<Move>& moves() const { return moves_; }

 private:
  [[nodiscard]] std::uint64_t here() const { return address_ + code_.size(); }
  void put(std::initializer_list<unsigned> bytes);
  void put_u32(std::uint64_t value);
  bool put_relative(std::uint64_t target);
  bool put_jump(std::uint64_t target);
  void put_template(std::uint32_t at, std::uint32_t size);
  void set_u32(std::size_t at, std::uint32_t value);
  std::uint64_t put_hook(const Hook& hook);
  bool put_moved(const CodeFile& file, const Region& region, std::uint64_t bias, bool sees_return);
  bool put_instruction(const CodeFile& file, const Instruction& instruction, std::uint64_t bias);
  bool put_copy(const CodeFile& file, const Instruction& instruction, std::uint64_t bias);
  void put_return_address(std::uint64_t address);

  std::uint64_t address_;
  std::vector<std::byte> code_;
  std::vector<Move> moves_;
};

}  // namespace loft::source::calls
