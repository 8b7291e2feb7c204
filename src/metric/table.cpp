#include "metric/table.hpp"

#include <limits>

#include "event/meaning.hpp"

namespace loft::metric {

TableColumns::TableColumns(const CountsFile& file) : file_(&file) {
  for (const Column& column : file.columns) {
    const auto [at, is_new] = plain_.emplace(event::plain_name(column.name), &column);
    if (!is_new) at->second = nullptr;
  }
}

const Column* TableColumns::find(std::string_view name) const {
  if (const Column* exact = file_->find_column(name)) return exact;
  const auto plain = plain_.find(event::plain_name(name));
  return plain == plain_.end() ? nullptr : plain->second;
}

MetricColumns evaluate_table(std::span<const Program> programs, const TableColumns& table) {
  MetricColumns result;
  const std::size_t rows = table.file().rows;
  const std::vector<double> missing(rows, std::numeric_limits<double>::quiet_NaN());
  for (const Column& column : table.file().columns)
    if (result.labels.empty()) result.labels = column.texts;
  for (const Program& program : programs) {
    std::vector<std::span<const double>> inputs;
    for (const std::string& name : program.inputs()) {
      const Column* column = table.find(name);
      inputs.emplace_back(column == nullptr ? missing : column->numbers);
    }
    std::vector<double> values(rows);
    program.evaluate_columns(inputs, values);
    for (double& value : values) value = program.in_unit(value);
    result.names.push_back(program.name());
    result.units.push_back(program.unit());
    result.values.push_back(std::move(values));
    const auto& error = program.model_error();
    result.errors.push_back(error ? std::optional(program.in_unit(*error)) : std::nullopt);
    result.kinds.emplace_back(program.is_model() ? "modelled" : "counted");
  }
  return result;
}

}  // namespace loft::metric
