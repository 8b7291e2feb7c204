// Sections of a recording that hold a roofline run.
#include "fuzz/targets.hpp"
#include "roof/run_file.hpp"

namespace loft::fuzz {

// What was understood can be kept again.
void fuzz_run(Bytes bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  roof::KeptRun kept;
  (void)roof::read_work("input", text, kept);
  const auto analysis = roof::read_analysis("input", text);
  if (analysis && !roof::read_analysis("input", roof::analysis_json(*analysis))) __builtin_trap();
}

}  // namespace loft::fuzz
