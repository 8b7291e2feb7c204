#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "core/geometry.hpp"

namespace loft::core {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * 1024;

CacheGeometry cache(std::uint64_t bytes, std::uint32_t ways) {
  return {.bytes = bytes, .ways = ways};
}

MachineGeometry zen(std::string name, std::uint64_t l2_bytes, std::uint32_t dtlb, TlbLevel second,
                    std::uint8_t indirect_bits) {
  return {
      .name = std::move(name),
      .caches = {.l1i = cache(32 * kKiB, 8),
                 .l1d = cache(32 * kKiB, 8),
                 .l2 = cache(l2_bytes, 8),
                 .l3 = cache(32 * kMiB, 16),
                 .l2_inclusion = Inclusion::inclusive,
                 .l3_inclusion = Inclusion::exclusive,
                 .prefetch = {.next_line = true, .stream_lines = 16, .stride_steps = 4}},
      .tlb = {.itlb = {64, 64}, .dtlb = {dtlb, dtlb}, .second = second},
      .branches = {.predictor = Predictor::tage, .table_bits = 14, .indirect_bits = indirect_bits}};
}

// The cost of more pages than a second-level TLB holds climbs slowly, as it does where a random one
// leaves: under LRU all of them would be walks at once.
TlbLevel second_level(std::uint32_t entries, std::uint32_t ways) {
  return {entries, ways, Replacement::random};
}

// AMD names 1,536 and 3,072 indirect targets, of which the next powers of two are taken. Intel
// names no number for Ice Lake: as many as Zen 4 are assumed.
std::vector<MachineGeometry> all() {
  std::vector<MachineGeometry> machines{zen("zen3", 512 * kKiB, 64, second_level(2048, 16), 11),
                                        zen("zen4", kMiB, 72, second_level(3072, 24), 12)};
  const PrefetchGeometry intel{.next_line = true, .stream_lines = 16, .stride_steps = 4};
  machines.push_back({.name = "skylake",
                      .caches = {.l1i = cache(32 * kKiB, 8),
                                 .l1d = cache(32 * kKiB, 8),
                                 .l2 = cache(256 * kKiB, 4),
                                 .l3 = cache(8 * kMiB, 16),
                                 .l3_inclusion = Inclusion::inclusive,
                                 .prefetch = intel},
                      .tlb = {.itlb = {128, 8}, .dtlb = {64, 4}, .second = second_level(1536, 12)},
                      .branches = {.predictor = Predictor::tage, .return_entries = 16}});
  machines.push_back(
      {.name = "icelake",  // the server
       .caches = {.l1i = cache(32 * kKiB, 8),
                  .l1d = cache(48 * kKiB, 12),
                  .l2 = cache(1280 * kKiB, 20),
                  .l3 = cache(36 * kMiB, 12),
                  .l3_inclusion = Inclusion::non_inclusive,
                  .prefetch = intel},
       .tlb = {.itlb = {128, 8}, .dtlb = {64, 4}, .second = second_level(2048, 16)},
       .branches = {.predictor = Predictor::tage, .table_bits = 14, .indirect_bits = 12}});
  machines.push_back(
      {.name = "golden_cove",  // the server
       .caches = {.l1i = cache(32 * kKiB, 8),
                  .l1d = cache(48 * kKiB, 12),
                  .l2 = cache(2048 * kKiB, 16),
                  .l3 = cache(60 * kMiB, 15),
                  .l3_inclusion = Inclusion::non_inclusive,
                  .prefetch = intel},
       .tlb = {.itlb = {256, 8}, .dtlb = {96, 6}, .second = second_level(2048, 16)},
       .branches = {.predictor = Predictor::tage, .table_bits = 15, .indirect_bits = 12}});
  // What cachegrind simulates where its own look at the machine is overridden: two levels, LRU.
  machines.push_back({.name = "cachegrind",
                      .caches = {.l1i = cache(32 * kKiB, 8),
                                 .l1d = cache(32 * kKiB, 8),
                                 .l2 = cache(8 * kMiB, 16)},
                      .tlb = {.itlb = {64, 64}, .dtlb = {64, 64}, .second = {1536, 12}},
                      .branches = {.predictor = Predictor::gshare, .table_bits = 14}});
  return machines;
}

}  // namespace

std::span<const MachineGeometry> known_machines() {
  static const std::vector<MachineGeometry> machines = all();
  return machines;
}

Result<MachineGeometry> find_machine(std::string_view name) {
  std::vector<std::string> names;
  for (const MachineGeometry& machine : known_machines()) {
    if (machine.name == name) return machine;
    names.push_back(machine.name);
  }
  return failure(ErrorKind::not_found, fmt::format("find the machine '{}'", printable(name)),
                 "no caches are known by that name",
                 fmt::format("known are {}; or write NAME=VALUE", join(names, ", ")));
}

}  // namespace loft::core
