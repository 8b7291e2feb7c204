#include "base/text.hpp"
#include "view/job_table.hpp"
#include "view/parquet.hpp"

namespace loft::view {
namespace {

class Parquet final : public JobTableWriter {
 public:
  explicit Parquet(TableSink sink)
      : writer_({{"job", ParquetType::text},
                 {"step", ParquetType::unsigned_number},
                 {"node", ParquetType::text},
                 {"rank", ParquetType::unsigned_number},
                 {"state", ParquetType::text},
                 {"function", ParquetType::text},
                 {"binary", ParquetType::text},
                 {"mpi", ParquetType::boolean},
                 {"metric", ParquetType::text},
                 {"unit", ParquetType::text},
                 {"kind", ParquetType::text},
                 {"value", ParquetType::optional_unsigned}},
                std::move(sink)) {}

  // Parquet's texts are UTF-8, which the names of functions need not be.
  void add(const model::JobTableRow& row) override {
    std::size_t column = 0;
    writer_.add_text(column++, printable(row.job));
    writer_.add_unsigned(column++, row.step);
    writer_.add_text(column++, printable(row.node));
    writer_.add_unsigned(column++, row.rank);
    writer_.add_text(column++, row.state);
    writer_.add_text(column++, printable(row.function));
    writer_.add_text(column++, printable(row.binary));
    writer_.add_boolean(column++, row.in_mpi);
    writer_.add_text(column++, printable(row.metric));
    writer_.add_text(column++, printable(row.unit));
    writer_.add_text(column++, row.kind);
    writer_.add_unsigned(column++, row.value);
    writer_.end_row();
  }
  Result<void> finish() override { return writer_.finish(); }

 private:
  ParquetWriter writer_;
};

}  // namespace

std::unique_ptr<JobTableWriter> job_parquet(TableSink sink) {
  return std::make_unique<Parquet>(std::move(sink));
}

}  // namespace loft::view
