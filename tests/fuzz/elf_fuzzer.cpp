// Feeds bytes to everything that reads ELF files: headers, symbols, notes, DWARF, unwind tables.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbols/interrogation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loft::sample::symbols;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)build_id_in_notes(bytes, ByteOrder::little);
  (void)build_id_in_notes(bytes, ByteOrder::big);
  interrogate({bytes.begin(), bytes.end()});
  return 0;
}
