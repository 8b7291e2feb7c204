// Where a kernel of your own stands under the roofs of this machine: an example of loft/roof.hpp.
//
//   place_kernel [MACHINE_FILE]
#include <chrono>
#include <cstdio>
#include <vector>

#include "loft/roof.hpp"

namespace {

constexpr std::size_t kElements = 1 << 22;
constexpr int kTimes = 10;

double seconds_of_triad(std::vector<double>& a, const std::vector<double>& b,
                        const std::vector<double>& c) {
  const auto start = std::chrono::steady_clock::now();
  for (int time = 0; time < kTimes; ++time)
    for (std::size_t i = 0; i < kElements; ++i) a[i] = b[i] + (1.5 + time) * c[i];
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  std::string why;
  const auto machine = loft::roofline::Machine::load(argc > 1 ? argv[1] : "", why);
  if (machine == nullptr) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  std::vector<double> a(kElements), b(kElements, 1), c(kElements, 2);
  const double seconds = seconds_of_triad(a, b, c);

  // An addition and a multiplication, two loads and a store for each element.
  const double elements = static_cast<double>(kElements) * kTimes;
  const loft::roofline::Point point = machine->place(
      {.name = "triad", .flops = 2 * elements, .bytes = 24 * elements, .seconds = seconds});
  std::printf("triad on %s: %.3g GFLOP/s at %.3g FLOP per byte\n", machine->cpu().c_str(),
              *point.flops_per_second * 1e-9, *point.intensity);
  if (point.limit)
    std::printf("%.0f %% of %s\n", point.limit->share * 100, point.limit->name.c_str());
  return 0;
}
