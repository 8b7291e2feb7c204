// The forms that a roofline can take, one row each, and what they are made of.
#pragma once

#include <memory>
#include <vector>

#include "cli/output.hpp"
#include "roof/measure.hpp"
#include "view/roof.hpp"

namespace loft::cli {

// What is shown, and what it refers to.
struct RoofReports {
  std::vector<model::RoofReport> runs;
  std::vector<std::unique_ptr<roof::Measured>> measured;  // of each; nothing without a native run
  int columns = 0;                                        // of the screen; 0: none

  void add(model::RoofReport report, std::unique_ptr<roof::Measured> from) {
    runs.push_back(std::move(report));
    measured.push_back(std::move(from));
  }
  [[nodiscard]] view::RoofProfiles profiles() const;
};

// What a form needs.
inline constexpr unsigned kBesideText = 1;   // the text is shown on the terminal as well
inline constexpr unsigned kIsRecording = 2;  // written while the program runs
inline constexpr unsigned kShowsCode = 4;    // the code of functions as well

[[nodiscard]] const std::vector<Output<RoofReports>>& roof_outputs();

[[nodiscard]] Result<void> write_reports(RoofReports& reports, const OutputFlags& flags,
                                         Stream stream, Terminal& terminal);

}  // namespace loft::cli
