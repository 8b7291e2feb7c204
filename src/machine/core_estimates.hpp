// What curves of measured costs say about the parts of a core. Pure functions of the points.
#pragma once

#include <optional>
#include <vector>

namespace loft::machine {

// A cost in cycles at some number of fillers, chases or pages, in growing order.
struct CostPoint {
  double count = 0;
  double cycles = 0;
};

// Where a curve climbs from its first height to its last, half way between the points on either
// side of the step: the number of operations that fit into the window beside a miss. Nothing when
// it does not climb by half.
struct Climb {
  double count = 0;
  double uncertainty = 0;  // as a share of it: the step lies between two points
};
std::optional<Climb> step_of(const std::vector<CostPoint>& curve);

// How many of an operation are under way at once, when one alone takes `latency` cycles and the
// points say how long each takes among `count` of them. Nothing without points.
std::optional<double> in_flight(double latency, const std::vector<CostPoint>& curve);

// How long a pattern of branches a predictor remembers: where their cost is half way from that of
// steady branches to that of random ones, by the logarithm of their number. At most the last point,
// at least the first. Nothing where random branches cost no more than steady ones.
std::optional<double> remembered(double steady, double random,
                                 const std::vector<CostPoint>& by_length);

// Entries of the first and the second level of a TLB: the largest number of pages whose extra cost
// (against the same lines without pages of their own) is still that of the plateau. A level that
// shows no step, or whose plateau is shorter than a doubling, is not told.
struct TlbEntries {
  std::optional<double> first;
  std::optional<double> second;
  std::optional<double>
      second_cycles;  // what a hit of the second level costs more than of the first
};
TlbEntries tlb_entries(const std::vector<CostPoint>& extra_by_pages);

}  // namespace loft::machine
