// libFuzzer's entry to the readers of metrics and counts.
#include "metric/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loft::metric::fuzz_metrics({reinterpret_cast<const char*>(data), size});
  return 0;
}
