// The target that reads machine files.
#include "fuzz/targets.hpp"
#include "machine/file.hpp"
#include "machine/overrides.hpp"

namespace loft::fuzz {

// A machine that was read is written and read again without complaint.
void fuzz_machine(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  (void)machine::parse_overrides(text, "fuzz");
  if (const auto machine = machine::from_json(text, "fuzz"))
    if (!machine::from_json(machine::to_json(*machine), "again")) __builtin_trap();
}

}  // namespace loft::fuzz
