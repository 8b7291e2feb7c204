// Energy shared among functions. A meter tells the energy of a whole machine between two readings;
// whatever was sampled in between shares it by the weight of its samples. So the shares of busy
// neighbours and of idle parts of the machine are in it, too: it is modelled, never measured.
//
//   const EnergyShares shares = share_energy(used.over_time, samples);
//   use(shares.of_place.at(function).joules);
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sample/counting.hpp"
#include "sample/report.hpp"

namespace loft::sample {

struct PlacedWeight {
  double seconds = 0;  // by the clock of the readings
  std::uint32_t place = 0;
  double weight = 0;
};

struct EnergyShare {
  double joules = 0;
  std::uint64_t samples = 0;
};

struct EnergyShares {
  std::map<std::uint32_t, EnergyShare> of_place;
  double joules_of_nobody = 0;  // used while nothing was sampled
};

// `course` is in order of time; the first reading counts from the beginning on.
[[nodiscard]] EnergyShares share_energy(std::span<const EnergySeen> course,
                                        std::vector<PlacedWeight> samples);

// The meters of a recording, in a profile with tree and timeline of all samples: their rows by
// function and their call trees get what the samples of the first event with addresses say. What
// was used while none was taken stays without an address. Gives the event that shared them, or
// nothing where there is none.
[[nodiscard]] std::optional<std::uint32_t> share_meters(const std::vector<ReportEvent>& events,
                                                        ProfileResult& result);

}  // namespace loft::sample
