// Two machines side by side, value by value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine_model.hpp"

namespace loft::model {

struct Comparison {
  std::string group;  // "roof" or "constant"
  std::string name;   // "L2 copy, avx2, 1 thread", "L1_lat"
  std::string unit;
  std::optional<double> first;
  std::optional<double> second;
  bool is_noisy = false;  // one of the values is

  // second / first, where both are known.
  [[nodiscard]] std::optional<double> ratio() const;
};

// All values that at least one of them has, in the order of the first.
std::vector<Comparison> compare(const Machine& first, const Machine& second);

// "L2 copy, avx2, 1 thread"; "FMA, 256 bit, double, 2 threads".
std::string describe(const Roof& roof);

}  // namespace loft::model
