// What can hold a program back, and sets of it. The names are those of loft's JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace loft::core {

enum class Cause : std::uint8_t {
  l1_bandwidth,
  l2_bandwidth,
  l3_bandwidth,
  dram_bandwidth,
  l1_latency,
  l2_latency,
  l3_latency,
  dram_latency,
  tlb,
  fp_latency,
  int_latency,
  store_forwarding,
  fp_ports,
  divider,
  int_ports,
  memory_ports,
  width,
  mispredictions,
  front_end,
  sharing,
  atomics,
  count_
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::count_);

class CauseSet {
 public:
  constexpr CauseSet() = default;
  constexpr CauseSet(Cause cause) : bits_(std::uint32_t{1} << static_cast<int>(cause)) {}
  [[nodiscard]] constexpr bool has(Cause cause) const {
    return (bits_ & CauseSet(cause).bits_) != 0;
  }
  friend constexpr CauseSet operator|(CauseSet a, CauseSet b) {
    CauseSet both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }
  bool operator==(const CauseSet&) const = default;

 private:
  std::uint32_t bits_ = 0;
};
constexpr CauseSet operator|(Cause a, Cause b) { return CauseSet(a) | CauseSet(b); }

// A level beyond L1. Without both of its causes what it serves is in L1.
struct LevelCauses {
  Cause latency{}, bandwidth{};
  [[nodiscard]] constexpr bool has(Cause cause) const {
    return cause == latency || cause == bandwidth;
  }
};
inline constexpr std::array<LevelCauses, 3> kLevelCauses = {{
    {Cause::l2_latency, Cause::l2_bandwidth},
    {Cause::l3_latency, Cause::l3_bandwidth},
    {Cause::dram_latency, Cause::dram_bandwidth},
}};

[[nodiscard]] std::string_view to_string(Cause cause);
[[nodiscard]] std::optional<Cause> find_cause(std::string_view name);

}  // namespace loft::core
