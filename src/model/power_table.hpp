// What a power model is fitted to, from a table of counts with one row for each measurement.
//
//   LOFT_TRY(const PowerData data, power_data_of(file, {.watts = "watts", .program = "program"}));
//   LOFT_TRY(const PowerFit fit, fit_power(data, {}));
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "metric/counts_file.hpp"
#include "model/power.hpp"

namespace loft::model {

// Which column is what.
struct PowerColumns {
  std::string watts;
  std::string program;        // whole programs are held out; empty: blocks of rows
  std::string time = "time";  // in seconds; counts become rates where there is such a column
  std::vector<std::string> predictors;  // empty: every column of numbers that has no other part
};

[[nodiscard]] Result<PowerData> power_data_of(const metric::CountsFile& file,
                                              const PowerColumns& columns);

}  // namespace loft::model
