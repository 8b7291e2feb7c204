// Samples as text: a table for people, CSV and JSON for programs, each sample as soon as it is
// there.
//
//   FrameTable table;
//   print(table.rows(frame));   // with a header where the columns are new
#pragma once

#include <string>
#include <vector>

#include "top/frame.hpp"

namespace loft::top {

class FrameTable {
 public:
  [[nodiscard]] std::string rows(const Frame& frame);

 private:
  std::vector<std::string> columns_;  // names after time, CPU and the kernel's accounts
};

// One row for each value: time_s,scope,part,name,value,unit,kind,count,why. An unknown value is an
// empty field.
[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string frame_csv(const Frame& frame);

// One object on one line.
[[nodiscard]] std::string frame_json(const Frame& frame);

// What a person must know of the samples, once: why values are missing.
[[nodiscard]] std::vector<std::string> missing_notes(const Frame& frame);

}  // namespace loft::top
