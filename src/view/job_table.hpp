// The long table of a job as files for other programs: CSV, SQL for SQLite, Parquet.
//
//   const auto table = job_csv(sink);
//   table->add(row);
//   LOFT_CHECK(table->finish());
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/job_report.hpp"

namespace loft::view {

// False once a write failed.
using TableSink = std::function<bool(std::string_view)>;

class JobTableWriter {
 public:
  virtual ~JobTableWriter() = default;
  virtual void add(const model::JobTableRow& row) = 0;
  [[nodiscard]] virtual Result<void> finish() = 0;
};

[[nodiscard]] std::unique_ptr<JobTableWriter> job_csv(TableSink sink);
// A script that makes the table: sqlite3 job.db < job.sql
[[nodiscard]] std::unique_ptr<JobTableWriter> job_sql(TableSink sink);
[[nodiscard]] std::unique_ptr<JobTableWriter> job_parquet(TableSink sink);

}  // namespace loft::view
