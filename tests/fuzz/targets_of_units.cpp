// The target that reads what a counter unit is played with.
#include "fuzz/targets.hpp"
#include "upc/play.hpp"

namespace loft::fuzz {

// A line of "---" ends the configuration.
void fuzz_unit(Bytes bytes) {
  constexpr std::uint64_t kMostCycles = 2000;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find("---\n");
  const auto setup = upc::parse_setup(text.substr(0, end), "fuzz");
  if (!setup || setup->sizes.counters > 4096) return;
  const auto rest = end == std::string_view::npos ? std::string_view() : text.substr(end + 4);
  const auto stimulus = upc::parse_stimulus(rest, "fuzz", *setup, kMostCycles);
  if (stimulus) (void)upc::play(*setup, *stimulus, 500);
}

}  // namespace loft::fuzz
