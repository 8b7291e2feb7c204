#include "view/job_table.hpp"

#include <fmt/format.h>

#include "view/csv.hpp"

namespace loft::view {
namespace {

using model::JobTableRow;

constexpr std::size_t kPiece = 1u << 16;

// Text that is handed on in pieces.
class TextTable : public JobTableWriter {
 public:
  explicit TextTable(TableSink sink) : sink_(std::move(sink)) {}

  Result<void> finish() override {
    text_ += ending();
    flush();
    return {};
  }

 protected:
  void append(std::string_view text) {
    text_ += text;
    if (text_.size() >= kPiece) flush();
  }
  virtual std::string_view ending() { return {}; }

 private:
  void flush() {
    (void)sink_(text_);  // whoever owns the file knows of a write that failed
    text_.clear();
  }

  TableSink sink_;
  std::string text_;
};

class Csv final : public TextTable {
 public:
  explicit Csv(TableSink sink) : TextTable(std::move(sink)) {
    append("job,step,node,rank,state,function,binary,mpi,metric,unit,kind,value\n");
  }

  void add(const JobTableRow& row) override {
    append(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.job), row.step,
                       csv_field(row.node), row.rank, row.state, csv_field(row.function),
                       csv_field(row.binary), row.in_mpi ? 1 : 0, csv_field(row.metric),
                       csv_field(row.unit), row.kind, row.value ? std::to_string(*row.value) : ""));
  }
};

std::string sql_text(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\0') continue;  // would end the script
    out += letter;
    if (letter == '\'') out += letter;
  }
  return out + "'";
}

// Numbers beyond SQLite's 63 bits become real ones there, as SQLite itself would make them.
class Sql final : public TextTable {
 public:
  explicit Sql(TableSink sink) : TextTable(std::move(sink)) {
    append(
        "BEGIN;\nCREATE TABLE IF NOT EXISTS job(job TEXT, step INTEGER, node TEXT, rank INTEGER, "
        "state TEXT, function TEXT, binary TEXT, mpi INTEGER, metric TEXT, unit TEXT, kind TEXT, "
        "value INTEGER);\n");
  }

  void add(const JobTableRow& row) override {
    append(fmt::format("INSERT INTO job VALUES({},{},{},{},'{}',{},{},{},{},{},'{}',{});\n",
                       sql_text(row.job), row.step, sql_text(row.node), row.rank, row.state,
                       sql_text(row.function), sql_text(row.binary), row.in_mpi ? 1 : 0,
                       sql_text(row.metric), sql_text(row.unit), row.kind,
                       row.value ? std::to_string(*row.value) : "NULL"));
  }

 private:
  std::string_view ending() override { return "COMMIT;\n"; }
};

}  // namespace

std::unique_ptr<JobTableWriter> job_csv(TableSink sink) {
  return std::make_unique<Csv>(std::move(sink));
}

std::unique_ptr<JobTableWriter> job_sql(TableSink sink) {
  return std::make_unique<Sql>(std::move(sink));
}

}  // namespace loft::view
