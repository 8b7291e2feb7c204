// A parallel job as a whole: text for people, JSON for programs.
#pragma once

#include <string>

#include "model/job_report.hpp"

namespace loft::view {

struct JobTextOptions {
  std::size_t top = 20;  // functions; 0 for all
};

std::string job_text(const model::JobReport& report, const JobTextOptions& options);
std::string job_json(const model::JobReport& report);  // schema "loft.job/1"
// A file for the textfile collector of Prometheus' node exporter.
std::string job_openmetrics(const model::JobReport& report);

}  // namespace loft::view
