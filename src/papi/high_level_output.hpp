// The file that PAPI's high-level interface writes, as papi_hl_output_writer reads it:
// $PAPI_OUTPUT_DIRECTORY/papi_hl_output/rank_NNNNNN.json.
#pragma once

#include <string>
#include <vector>

namespace loft::papi {

// One visit of a region by a thread.
struct Visit {
  std::string name;
  long parent = -1;  // the visit around it, among the thread's
  bool is_complete = false;
  long long cycles = 0;
  long long nanoseconds = 0;
  std::vector<long long> counts;              // aligned with the events
  std::vector<std::vector<long long>> reads;  // by PAPI_hl_read
};

// False when the file cannot be written.
[[nodiscard]] bool write_visits(const std::vector<std::vector<Visit>>& threads,
                                const std::vector<std::string>& events);
[[nodiscard]] std::string to_json(const std::vector<std::vector<Visit>>& threads,
                                  const std::vector<std::string>& events);

}  // namespace loft::papi
