// What the virtual PMU can tell beside the counts of a run: lines of source code, and cache lines
// that threads pass to each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sample/count.hpp"
#include "sample/shared_lines.hpp"

namespace loft::sample {

// A line of a source file, whatever functions it became a part of.
struct LineCounts {
  std::string file;    // empty: code without debug information, of
  std::string binary;  // this
  unsigned line = 0;
  std::vector<Count> counts;  // aligned with RunCounts::events
};

struct CodeDetails {
  bool wants_sharing = false;     // asked for before the run; needs a model of every instruction
  std::vector<LineCounts> lines;  // with Split::lines
  std::optional<LineSharing> sharing;  // where it was asked for
};

}  // namespace loft::sample
