#include "engine/runtime/entries.hpp"

#include "engine/runtime/kernel.hpp"
#include "engine/runtime/record.hpp"

namespace loft::engine::runtime {
namespace {

// Open addressing: the number of an entry plus 1.
constexpr std::uint32_t kSlots = 2 * kMaxEntries;
std::uint32_t* g_slots = nullptr;
std::uint32_t g_known = 0;

const FunctionEntry* entries() {
  return reinterpret_cast<const FunctionEntry*>(reinterpret_cast<std::uint8_t*>(shared_header()) +
                                                kEntriesOffset);
}

std::uint32_t place_of(std::uint64_t address, std::uint32_t mapping) {
  const std::uint64_t key = address ^ std::uint64_t{mapping} << 48;
  return static_cast<std::uint32_t>(key * 0x9E3779B97F4A7C15ull >> 40) % kSlots;
}

void learn_entries() {
  std::uint32_t count = shared_header()->entries.load();
  if (count > kMaxEntries) count = kMaxEntries;
  if (g_known == count) return;
  if (g_slots == nullptr)
    g_slots = static_cast<std::uint32_t*>(reserve(kSlots * sizeof(std::uint32_t)));
  for (; g_known < count; ++g_known) {
    std::uint32_t at = place_of(entries()[g_known].address, entries()[g_known].mapping);
    while (g_slots[at] != 0) at = (at + 1) % kSlots;
    g_slots[at] = g_known + 1;
  }
}

}  // namespace

const FunctionEntry* find_entry(std::uint64_t address, std::uint32_t mapping) {
  learn_entries();
  if (g_slots == nullptr) return nullptr;
  for (std::uint32_t at = place_of(address, mapping); g_slots[at] != 0; at = (at + 1) % kSlots) {
    const FunctionEntry& entry = entries()[g_slots[at] - 1];
    if (entry.address == address && entry.mapping == mapping) return &entry;
  }
  return nullptr;
}

}  // namespace loft::engine::runtime
