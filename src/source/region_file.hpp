// Visits and time of the regions that a program marks (include/loft/region.h), where it runs
// natively: it adds them up itself, in memory that loft has made for it.
//
//   LOFT_TRY(auto file, RegionFile::create());   // programs that are started from now on find it
//   ...
//   run.regions = file.regions(run);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "sample/counting.hpp"
#include "source/tick_clock.hpp"

struct loft_region_file_;

namespace loft::source {

class RegionFile {
 public:
  [[nodiscard]] static Result<RegionFile> create();
  RegionFile(RegionFile&& other) noexcept;
  RegionFile& operator=(RegionFile&& other) noexcept;
  ~RegionFile();

  // What all threads did, then each thread of the run; a region before those inside of it. No event
  // is counted by region. Takes some milliseconds where the file has just been made.
  [[nodiscard]] std::vector<sample::RegionCounts> regions(const sample::RunCounts& run) const;
  // Threads and regions, as a recording keeps them.
  [[nodiscard]] sample::RunCounts run() const;
  // The threads that were in regions, in the order in which they first were; without names.
  [[nodiscard]] std::vector<sample::ThreadCounts> threads() const;
  // Whether the program marked any.
  [[nodiscard]] bool is_used() const;
  // Ends of wrong regions, regions that were still open, and what found no room.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  RegionFile(Fd memory, loft_region_file_* shared);

  Fd memory_;
  loft_region_file_* shared_;
  TickClock clock_;
};

}  // namespace loft::source
