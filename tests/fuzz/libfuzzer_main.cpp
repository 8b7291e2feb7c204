// The entry that libFuzzer calls; FUZZ_TARGET is set when it is built.
#include "fuzz/leaks.hpp"
#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loft::fuzz::FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
