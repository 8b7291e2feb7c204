// A new measurement of a machine beside an older one of the same machine. Disturbance only ever
// makes a roof lower, so of two measurements of one roof the higher is the truer.
//
//   const Merged merged = merge(old, measured);
//   merged.machine     // what to keep; roofs from the older one have its date
//   merged.kept        // which those are, with both values
#pragma once

#include <string>
#include <vector>

#include "model/machine_model.hpp"

namespace loft::model {

struct KeptRoof {
  std::string name;  // "L2 load, avx2, 1 thread"
  std::string unit;  // "B/s"
  double kept = 0;
  double measured = 0;  // 0: the new measurement has none
};

struct Merged {
  Machine machine;
  std::vector<KeptRoof> kept;  // from the older one, those that differ most first
  int roofs = 0;               // of the new measurement
};

// Roofs: the better of both. Constants and parameters of the core: the stable one before the noisy
// one, then the lower latency and the higher rate, as others only make things slower; of
// differences and estimates the one with the smaller spread. All else is the new measurement's.
Merged merge(const Machine& old, Machine measured);

// In words, why a measurement is older than the machine as it is now: another kernel, microcode,
// CPU or number of CPUs. Empty when nothing changed, or when the measurement does not say.
std::vector<std::string> changes_since(const System& measured, const System& now);

// For people: how many roofs were kept from when, and the largest differences. Empty without any.
std::string in_words(const Merged& merged, const std::string& when);

}  // namespace loft::model
