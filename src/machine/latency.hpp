// Latencies: each is the time per link of a chain in which every link needs the one before.
#pragma once

#include <string>
#include <vector>

#include "machine/plan.hpp"
#include "machine/topology.hpp"

namespace loft::machine {

// A full-period congruential generator: its bit 62 is as good as random to any predictor. A seed
// and an increment that are shifted left by `n` bits have a pattern of 2^(63 - n) branches.
inline constexpr std::uint64_t kLcgMultiplier = 6364136223846793005;
inline constexpr std::uint64_t kLcgIncrement = 1442695040888963407;
inline constexpr std::uint64_t kLcgSeed = 88172645463325252;

// The memory that chases walk through; it must outlive the plan's items.
class Rings {
 public:
  void add(const std::string& name, Buffer buffer, std::size_t nodes) {
    rings_.push_back({name, std::move(buffer), nodes});
  }

  // `count` places of the ring that lie far from each other, the first few of them too; none when
  // there is no such ring.
  [[nodiscard]] std::vector<std::byte*> places(const std::string& name, std::size_t count) const;
  // 0 when there is no such ring.
  [[nodiscard]] std::size_t nodes(const std::string& name) const;

 private:
  struct Ring {
    std::string name;
    Buffer buffer;
    std::size_t nodes = 0;
  };
  std::vector<Ring> rings_;
};

// Adds the chains to the plan. What cannot be measured is said in `notes`.
[[nodiscard]] Result<Rings> plan_latencies(Plan& plan, const PlanInput& input, Workbench& bench,
                                           std::vector<std::string>& notes);

// The constants that the finished chains give, under the names that metric files use.
std::vector<model::Constant> constants_of(const Plan& plan, const Workbench& bench);

// A cache line handed from one CPU to another and back, half of that; cpus are members of the team.
struct Transfer {
  Estimate estimate;  // hand-overs per tick
};
Transfer measure_transfer(Workbench& bench, int first, int second, int windows);

// "Line_transfer_lat", with a word for a partner on the same core, or on another package or node.
std::string transfer_name(Neighbour neighbour);

}  // namespace loft::machine
