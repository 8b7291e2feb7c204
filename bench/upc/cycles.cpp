// How many cycles a second the model of the counter unit makes, with every counter busy.
#include <fmt/format.h>

#include <ctime>
#include <random>

#include "upc/unit.hpp"

namespace loft::upc {
namespace {

constexpr std::uint64_t kCycles = 20'000'000;
constexpr std::size_t kPatterns = 1024;  // cycles until the lines repeat

void write(Unit& unit, const std::vector<std::uint64_t>& lines, unsigned address,
           std::uint64_t data) {
  while (!unit.pins().ready) unit.step(lines);
  unit.step(lines, {true, true, address, data});
}

// `density`: how often a line is high. All counters count high levels; they begin apart.
void measure(const char* name, const Geometry& sizes, double density) {
  Unit unit(sizes);
  std::mt19937_64 random(1);
  std::bernoulli_distribution high(density);
  std::vector<std::vector<std::uint64_t>> lines(kPatterns);
  for (auto& pattern : lines) {
    pattern.resize(sizes.input_words());
    for (std::uint64_t& word : pattern)
      for (unsigned bit = 0; bit < 64; ++bit) word |= std::uint64_t{high(random)} << bit;
  }
  for (unsigned counter = 0; counter < sizes.counters; ++counter) {
    write(unit, lines[0], configuration_address(sizes, counter), 0x0202020202020202);
    write(unit, lines[0], counter_address(sizes, counter), random() & sizes.low_mask());
  }
  write(unit, lines[0], kControlAddress, 1);

  double best = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const std::clock_t begin = std::clock();  // CPU time: the machine may be busy
    for (std::uint64_t cycle = 0; cycle < kCycles; ++cycle) unit.step(lines[cycle % kPatterns]);
    const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    best = std::max(best, static_cast<double>(kCycles) / taken);
  }
  fmt::print("{:<32} {:>6} counters {:>8.1f} million cycles/s  (checksum {})\n", name,
             sizes.counters, best / 1e6, unit.value(sizes.counters - 1));
}

}  // namespace
}  // namespace loft::upc

int main() {
  using namespace loft::upc;
  Geometry large;
  large.counters = 1024;
  large.low_bits = 14;
  large.high_bits = 50;
  measure("every counter, every cycle", Geometry{}, 1.0);
  measure("every other cycle, at random", Geometry{}, 0.5);
  measure("every counter, every cycle", large, 1.0);
}
