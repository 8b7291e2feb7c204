// The target that reads definitions of events.
#include "event/definitions.hpp"
#include "event/presets.hpp"
#include "fuzz/targets.hpp"

namespace loft::fuzz {

void fuzz_events(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  (void)event::Definitions::parse(text, "fuzz");
  (void)event::Presets::parse(text, "fuzz");
}

}  // namespace loft::fuzz
