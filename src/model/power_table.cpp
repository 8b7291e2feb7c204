#include "model/power_table.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace loft::model {
namespace {

Result<const metric::Column*> column_of(const metric::CountsFile& file, const std::string& name) {
  if (const metric::Column* column = file.find_column(name)) return column;
  std::vector<std::string> names;
  for (const metric::Column& column : file.columns) names.push_back(column.name);
  return failure(ErrorKind::not_found, fmt::format("find the column '{}'", name),
                 fmt::format("the table has {}", join(names, ", ")));
}

Result<std::vector<const metric::Column*>> predictors_of(const metric::CountsFile& file,
                                                         const PowerColumns& columns) {
  std::vector<const metric::Column*> chosen;
  for (const std::string& name : columns.predictors) {
    LOFT_TRY(chosen.emplace_back(), column_of(file, name));
  }
  if (!chosen.empty()) return chosen;
  for (const metric::Column& column : file.columns)
    if (column.texts.empty() && column.name != columns.watts && column.name != columns.program &&
        column.name != columns.time)
      chosen.push_back(&column);
  return chosen;
}

}  // namespace

Result<PowerData> power_data_of(const metric::CountsFile& file, const PowerColumns& columns) {
  PowerData data;
  LOFT_TRY(const metric::Column* watts, column_of(file, columns.watts));
  data.watts = watts->numbers;
  if (!columns.program.empty()) {
    LOFT_TRY(const metric::Column* program, column_of(file, columns.program));
    for (std::size_t row = 0; row < file.rows; ++row)
      data.programs.push_back(program->texts.empty() ? fmt::format("{}", program->numbers[row])
                                                     : program->texts[row]);
  }
  const metric::Column* time = file.find_column(columns.time);
  data.rates = time != nullptr;
  LOFT_TRY(const auto predictors, predictors_of(file, columns));
  for (const metric::Column* column : predictors) {
    data.predictors.push_back(column->name);
    data.columns.push_back(column->numbers);
    if (time == nullptr) continue;
    for (std::size_t row = 0; row < file.rows; ++row)
      data.columns.back()[row] /= time->numbers[row];
  }
  return data;
}

}  // namespace loft::model
