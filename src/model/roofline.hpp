// The cache-aware roofline: what a program can attain at an arithmetic intensity, and what holds
// it back.
//
//   const Roofline roofline = roofline_of(machine, {.threads = 2});
//   roofline.attainable(0.21)                               // FLOP/s at 0.21 FLOP a byte
//   const std::optional<Limit> limit = roofline.limit(0.21, 11.8e9);
//   limit->name, limit->share                               // "L2 bandwidth", 0.54
//
// Intensity counts bytes as the core sees them (loads and stores), so a point does not move
// sideways when its data come from another level: it sinks from that level's slope to the next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine_model.hpp"

namespace loft::model {

// Whether a roof was measured with this number of threads, or lies on the straight line between the
// next lower and the next higher number that it was measured with.
enum class RoofBasis { measured, interpolated };

struct Slope {
  std::string level;  // "L1" … "DRAM"
  std::string name;   // "L1 bandwidth"
  double bytes_per_second = 0;
  Verdict verdict = Verdict::stable;
  RoofBasis basis = RoofBasis::measured;
};

struct Ceiling {
  std::string isa;
  std::string op;
  std::string name;  // "FMA, 256 bit"
  double flops_per_second = 0;
  Verdict verdict = Verdict::stable;
  RoofBasis basis = RoofBasis::measured;
};

// The roof that a point hangs under.
struct Limit {
  std::string name;
  double attainable = 0;  // FLOP/s of that roof at the point's intensity
  double share = 0;       // of it that the point attains
  bool is_bandwidth = false;
  Verdict verdict = Verdict::stable;  // of that roof
  RoofBasis basis = RoofBasis::measured;
};

class Roofline {
 public:
  // Both sorted, highest first.
  std::vector<Slope> slopes;
  std::vector<Ceiling> ceilings;
  int threads = 1;
  // The measured numbers of threads on either side; both are `threads` where it was measured
  // itself.
  int threads_below = 1;
  int threads_above = 1;
  std::string precision;
  std::string machine;
  RoofKind work = RoofKind::flops;  // what ceilings and points count

  // The top of all: the highest ceiling or the steepest slope, whichever is lower.
  [[nodiscard]] double attainable(double intensity) const;

  // The lowest roof that the point is not clearly above. A point above all (counts and time from
  // different runs may do that) is measured against the top one. Nothing without roofs.
  [[nodiscard]] std::optional<Limit> limit(double intensity, double flops_per_second) const;

  // Whether bytes are those that memory moves: then its bandwidth alone bounds.
  [[nodiscard]] bool is_of_memory() const;

  // The intensity where the steepest slope meets the highest ceiling.
  [[nodiscard]] double ridge() const;

  // Interpolated as soon as one of the roofs is.
  [[nodiscard]] RoofBasis basis() const;
};

struct RooflineChoice {
  int threads = 1;               // at most the largest number that was measured
  std::string precision = "dp";  // "sp", "dp"; of floating point alone
  // What counts as work: floating-point operations, instructions, or operations on integers. For
  // the latter two, "FLOP" in the names of Roofline and Ceiling stands for them.
  RoofKind work = RoofKind::flops;
  bool divides = false;  // show the ceilings of division and square root too
};

// The roofs that matter for that many threads: the best kernel of each level, and the peaks of each
// width that are worth telling apart. A number of threads that was not measured gets roofs on the
// straight line between its measured neighbours; beyond the largest nothing is extrapolated. Where
// the same number was measured on several choices of CPUs, the best of them is the roof.
Roofline roofline_of(const Machine& machine, const RooflineChoice& choice = {});

// "FMA, 256 bit": a peak in words.
std::string peak_name(const Roof& roof);

const char* to_string(RoofBasis basis);

// What counts as work, in words of JSON ("flops") and as a unit ("FLOP").
const char* ops_name(RoofKind work);
const char* ops_unit(RoofKind work);

}  // namespace loft::model
