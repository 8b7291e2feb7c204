// What a recording is, for whoever shows it: its own words about itself, what was found in it, and
// what could not be read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loft/perf_data/metadata.hpp"

namespace loft::sample {

struct RecordingSummary {
  std::string path;
  std::uint64_t bytes = 0;
  perf_data::Metadata metadata;
  std::map<std::string, std::uint64_t> records;  // by type; unknown ones as "type 200"
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;                // records and samples that the recorder could not keep
  std::uint64_t unreadable_samples = 0;  // of no known event, or too short for what they claim
  std::uint64_t damaged_bytes = 0;       // bytes that are no record
  std::optional<std::uint64_t> first_time;
  std::optional<std::uint64_t> last_time;
  std::vector<std::string> notes;  // what could not be read, for people
};

}  // namespace loft::sample
