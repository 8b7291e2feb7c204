#ifdef LOFT_HAS_ENGINE
#include "source/virtual/line_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "source/virtual/lines.hpp"

namespace loft::source::virtual_pmu {
namespace {

using sample::LineUse;
using sample::SharingKind;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

SharingKind kind_of(const core::SharedLine& line) {
  if (line.true_transfers > 0 && line.false_transfers > 0) return SharingKind::both;
  if (line.true_transfers > 0) return SharingKind::true_sharing;
  return line.false_transfers > 0 ? SharingKind::false_sharing : SharingKind::unknown;
}

// Names what models know by numbers.
class Namer {
 public:
  Namer(const ModelFeed& feed, const engine::Shared& shared, FunctionFinder& functions)
      : feed_(feed), shared_(shared), functions_(functions), slots_(shared.slots()) {
    for (std::uint32_t i = engine::kFirstBlock; i < shared.blocks(); ++i)
      if (const engine::BlockEntry block = shared.block(i); block.address != 0)
        blocks_.emplace(block.address, i);
    for (const engine::MappingEntry& mapping : shared.mappings())
      if (mapping.path[0] == '/') mappings_.push_back(mapping);
  }

  [[nodiscard]] const engine::SlotEntry* slot_of(std::uint32_t core, std::uint64_t address) const {
    const ModelFeed::Process process = feed_.process_at(address);
    for (std::uint32_t i = core; i < slots_.size(); i += ModelFeed::kMostCores)
      if (process == ModelFeed::Process{slots_[i].image, slots_[i].process}) return &slots_[i];
    return nullptr;
  }
  // In the data of one of the files whose code ran.
  [[nodiscard]] std::string variable(std::uint64_t address) {
    const std::uint64_t at = ModelFeed::address_in_process(address);
    for (const engine::MappingEntry& mapping : mappings_) {
      if (mapping.image != feed_.process_at(address).image) continue;
      const auto name = lines_.variable(mapping.path, at, mapping.start, mapping.file_offset);
      if (!name.empty()) return name;
    }
    return {};
  }
  void name_code(std::uint64_t ip, LineUse& use) {
    const std::uint64_t address = ModelFeed::address_in_process(ip);
    const auto block = block_around(address, feed_.process_at(ip).image);
    if (!block) return;
    const auto& function = functions_.functions()[functions_.find(*block, address)];
    use.function = function.name;
    use.binary = function.binary;
    const auto line = lines_.find(function.binary, functions_.address_in_binary(*block, address));
    if (line.line > 0) use.source = fmt::format("{}:{}", base_name(line.file), line.line);
  }

 private:
  // Blocks are short: the one around an address starts a little before it.
  [[nodiscard]] std::optional<engine::BlockEntry> block_around(std::uint64_t address,
                                                               std::uint32_t image) const {
    constexpr std::uint64_t kLongest = 4096;
    for (auto at = blocks_.upper_bound(address); at != blocks_.begin();) {
      --at;
      if (address - at->first > kLongest) break;
      const engine::BlockEntry block = shared_.block(at->second);
      if (address - block.address < block.size && shared_.mapping(block.mapping).image == image)
        return block;
    }
    return std::nullopt;
  }

  const ModelFeed& feed_;
  const engine::Shared& shared_;
  FunctionFinder& functions_;
  std::vector<engine::SlotEntry> slots_;
  std::multimap<std::uint64_t, std::uint32_t> blocks_;  // by address
  std::vector<engine::MappingEntry> mappings_;
  LineFinder lines_;
};

LineUse use_of(const core::LineUser& user, std::uint64_t address, std::uint32_t grain,
               Namer& namer) {
  LineUse use;
  if (const auto* slot = namer.slot_of(user.thread, address)) {
    use.tid = static_cast<pid_t>(slot->thread);
    use.comm = slot->name;
  }
  use.loads = user.loads;
  use.stores = user.stores;
  use.transfers = user.transfers;
  if (user.bytes != 0) {
    use.first = static_cast<std::uint32_t>(std::countr_zero(user.bytes)) * grain;
    use.end = static_cast<std::uint32_t>(64 - std::countl_zero(user.bytes)) * grain;
  }
  if (user.ip != 0) namer.name_code(user.ip, use);
  return use;
}

// Instructions of one thread in one line of the source are one use.
void add(std::vector<LineUse>& uses, LineUse use) {
  const auto same = std::ranges::find_if(uses, [&](const LineUse& other) {
    return other.tid == use.tid && other.function == use.function && other.binary == use.binary &&
           other.source == use.source;
  });
  if (same == uses.end()) return uses.push_back(std::move(use));
  same->loads += use.loads;
  same->stores += use.stores;
  same->transfers += use.transfers;
  same->first = std::min(same->first, use.first);
  same->end = std::max(same->end, use.end);
}

// Where the line begins for those who pass it on. Others, such as the loader, may have been before
// it. Uses are sorted, the one with most transfers first.
std::uint32_t first_passed_byte(const std::vector<LineUse>& uses) {
  std::uint32_t first = uses.empty() ? 0 : uses.front().first;
  for (const LineUse& use : uses)
    if (use.transfers >= uses.front().transfers / 2) first = std::min(first, use.first);
  return first;
}

}  // namespace

sample::LineSharing line_sharing(const core::Coherence& coherence, const ModelFeed& feed,
                                 const engine::Shared& shared, FunctionFinder& functions) {
  const auto all = coherence.lines();
  sample::LineSharing sharing;
  sharing.line_count = all.size();
  sharing.transfers = coherence.counts().transfers;
  sharing.line_bytes = coherence.line_bytes();
  if (all.empty()) return sharing;
  const std::uint32_t grain = std::max<std::uint32_t>(1, sharing.line_bytes / 64);
  Namer namer(feed, shared, functions);
  for (std::size_t i = 0; i < std::min(all.size(), sample::LineSharing::kMostLines); ++i) {
    const core::SharedLine& line = all[i];
    if (line.transfers == 0) break;
    sample::SharedLine& shown = sharing.lines.emplace_back();
    shown.address = ModelFeed::address_in_process(line.address);
    shown.pid = static_cast<pid_t>(feed.process_at(line.address).pid);
    shown.transfers = line.transfers;
    shown.true_transfers = line.true_transfers;
    shown.false_transfers = line.false_transfers;
    shown.invalidations = line.invalidations;
    shown.kind = kind_of(line);
    for (const core::LineUser& user : line.users)
      add(shown.uses, use_of(user, line.address, grain, namer));
    std::ranges::stable_sort(shown.uses, std::ranges::greater(), [](const LineUse& use) {
      return std::pair(use.transfers, use.loads + use.stores);
    });
    shown.variable = namer.variable(line.address + first_passed_byte(shown.uses));
  }
  return sharing;
}

}  // namespace loft::source::virtual_pmu
#endif
