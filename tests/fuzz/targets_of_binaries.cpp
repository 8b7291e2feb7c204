// The targets that read the binaries of a recording.
#include <vector>

#include "fuzz/targets.hpp"
#include "symbols/interrogation.hpp"

namespace loft::fuzz {

void fuzz_elf(Bytes bytes) {
  (void)symbols::interrogate(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void fuzz_notes(Bytes bytes) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    (void)symbols::build_id_in_notes(bytes, order);
}

}  // namespace loft::fuzz
