#include "view/power.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "view/metric_json.hpp"

namespace loft::view {

using nlohmann::ordered_json;

std::string power_fit_text(const model::PowerData& data, const model::PowerFit& fit) {
  std::string text = fmt::format("{:<32} {:>14.6g} W\n", "base", fit.base);
  for (std::size_t i = 0; i < data.predictors.size(); ++i)
    text += fmt::format("{:<32} {:>14.6g} {}\n", printable(data.predictors[i]), fit.coefficients[i],
                        data.rates ? "J" : "W");
  text += fmt::format(
      "held out by {}: median error {:.2f} %, RMS {:.4g} W, 95 % within {:.4g} W, R2 {:.3f}\n",
      data.programs.empty() ? "block" : "program", 100 * fit.held_out.median_error,
      fit.held_out.rms_error, fit.held_out.error95, fit.held_out.r2);
  for (const model::HeldOutPart& part : fit.held_out.parts)
    text += fmt::format("  {:<30} {:>6} rows  median {:>6.2f} %  RMS {:.4g} W\n",
                        printable(part.name), part.rows, 100 * part.median_error, part.rms_error);
  return text + fmt::format("on the rows it was fitted to: RMS {:.4g} W (flatters)\n",
                            fit.fitted_rms_error);
}

std::string power_fit_json(const model::PowerData& data, const model::PowerFit& fit) {
  ordered_json json{{"schema", "loft.power.fit/1"},
                    {"base_w", fit.base},
                    {"coefficients", ordered_json::object()},
                    {"per", data.rates ? "event per second" : "event"},
                    {"held_out",
                     {{"by", data.programs.empty() ? "block" : "program"},
                      {"median_error", fit.held_out.median_error},
                      {"rms_error_w", fit.held_out.rms_error},
                      {"error95_w", fit.held_out.error95},
                      {"r2", fit.held_out.r2}}},
                    {"fitted_rms_error_w", fit.fitted_rms_error}};
  for (std::size_t i = 0; i < data.predictors.size(); ++i)
    json["coefficients"][data.predictors[i]] = fit.coefficients[i];
  for (const model::HeldOutPart& part : fit.held_out.parts)
    json["held_out"]["parts"].push_back({{"name", part.name},
                                         {"rows", part.rows},
                                         {"median_error", part.median_error},
                                         {"rms_error_w", part.rms_error}});
  return dumped(json);
}

}  // namespace loft::view
