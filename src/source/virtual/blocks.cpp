#include "source/virtual/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/classify/disassemble.hpp"

namespace loft::source::virtual_pmu {

void BlockFinder::learn() {
  for (std::uint32_t number = 1; number < shared_.blocks(); ++number) {
    const engine::BlockEntry entry = shared_.block(number);
    if (entry.address != 0 && entry.kind == static_cast<std::uint16_t>(engine::BlockKind::body))
      starts_.emplace(entry.mapping, entry.address);
  }
}

// The same code in several processes, at several addresses, is one block.
std::uint32_t BlockFinder::intern(const engine::BlockEntry& block, std::uint64_t start,
                                  std::uint64_t end) {
  const auto code = shared_.code(block).subspan(start - block.address, end - start);
  const std::uint64_t address = functions_.address_in_binary(block, start);
  const std::uint32_t function = functions_.find(block, start);
  std::string key = fmt::format("{}\n{:x}\n", functions_.functions()[function].binary, address);
  key.append(reinterpret_cast<const char*>(code.data()), code.size());
  const auto [known, is_new] =
      index_.try_emplace(std::move(key), static_cast<std::uint32_t>(blocks_.size()));
  if (is_new) blocks_.push_back({function, address, code});
  return known->second;
}

// At instructions alone: another block may start behind a prefix of one.
void BlockFinder::divide(const engine::BlockEntry& block) {
  divided_ = block.code_offset;
  parts_.clear();
  const auto code = shared_.code(block);
  std::uint64_t start = block.address;
  for (const auto& instruction : engine::disassemble(std::as_bytes(code), block.address)) {
    if (instruction.address == start || !starts_.contains({block.mapping, instruction.address}))
      continue;
    parts_.push_back({instruction.address, intern(block, start, instruction.address)});
    start = instruction.address;
  }
  const std::uint64_t end = block.address + code.size();
  parts_.push_back({end, intern(block, start, end)});
}

std::uint32_t BlockFinder::find(const engine::BlockEntry& block, std::uint64_t address) {
  if (divided_ != block.code_offset) divide(block);
  for (const Part& part : parts_)
    if (address < part.end) return part.block;
  return parts_.back().block;  // never: a block's instructions end where its code does
}

Result<std::vector<engine::PartTally::Row>> BlockFinder::counts(
    engine::Tally& tally, std::vector<engine::EventIndex> events) {
  learn();
  engine::PartTally by_block(tally, std::move(events), [this](const auto& block, auto address) {
    return find(block, address);
  });
  LOFT_TRY(auto rows, by_block.of_slots(tally.slots()));
  std::erase_if(rows, [](const auto& row) {
    return std::ranges::all_of(row.counts, [](std::uint64_t count) { return count == 0; });
  });
  return rows;
}

sample::BlockCounts describe(const BlockFinder::Block& block,
                             const FunctionFinder::Function& function) {
  using engine::BranchKind;
  sample::BlockCounts shown;
  shown.function = function.name;
  shown.offset = block.address - function.address;
  shown.binary = function.binary;
  shown.address = block.address;
  shown.end = block.address + block.code.size();
  for (auto& line : engine::disassemble(std::as_bytes(block.code), block.address)) {
    shown.code.push_back(std::move(line.text));
    shown.instructions.push_back({line.length, line.vector_bits, line.computes, line.is_masked});
    const bool is_jump = line.branch == BranchKind::conditional ||
                         line.branch == BranchKind::loop || line.branch == BranchKind::jump;
    shown.target = is_jump ? std::optional(line.target) : std::nullopt;
    shown.goes_on = line.branch != BranchKind::jump && line.branch != BranchKind::indirect_jump &&
                    line.branch != BranchKind::ret;
  }
  return shown;
}

}  // namespace loft::source::virtual_pmu
