#include "source/checks/checks.hpp"

namespace loft::source::checks {

std::vector<Check> all(const SystemRoot& root) {
  std::vector<Check> checks;
  for (const auto probe :
       {counters, virtual_counters, other_pmus, probes, bpf, energy, environment})
    for (Check& check : probe(root)) checks.push_back(std::move(check));
  return checks;
}

}  // namespace loft::source::checks
