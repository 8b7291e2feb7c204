// The ranks of a job added up, one after the other: memory grows with ranks and functions, not with
// the bytes of their files.
//
//   Merge merge({.load = "task-clock"});
//   for (const RankSummary& summary : step) merge.add(summary);
//   const model::JobReport report = std::move(merge).report();
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "job/summary.hpp"
#include "model/job_report.hpp"

namespace loft::job {

// The column that says how much a rank had to do, of those that there are: time if it was measured,
// else the work; nothing where none does.
[[nodiscard]] std::string load_among(const std::vector<Column>& columns);

struct MergeOptions {
  std::string load;            // the column that ranks are compared by; empty: none
  bool counts_failed = false;  // ranks that ended with an error count as well
};

[[nodiscard]] model::RankState state_of(const RankSummary& summary);

class Merge {
 public:
  explicit Merge(MergeOptions options) : options_(std::move(options)) {}

  // Two summaries of the same rank are two passes over it: each gives what the other lacks.
  void add(const RankSummary& summary);

  [[nodiscard]] model::JobReport report() &&;

 private:
  struct Load {
    std::size_t entry = 0;
    std::uint64_t value = 0;
  };
  struct Sum {
    std::uint64_t value = 0;
    std::size_t ranks = 0;
    bool overflows = false;
    void add(std::uint64_t more);
  };
  struct Function {
    std::string name, binary;
    bool in_mpi = false;
    std::vector<bool> is_in;  // by entry
    std::size_t ranks = 0;
    std::vector<Load> loads;  // of ranks that are counted
    std::vector<Sum> sums;    // by column
    void mark(std::size_t entry);
  };
  struct Entry {
    model::JobRank rank;
    bool is_counted = false;
    std::optional<double> measured_share;               // of MPI
    std::optional<std::uint64_t> time_inside;           // MPI, by samples
    std::vector<std::optional<std::uint64_t>> outside;  // MPI, by column
  };

  [[nodiscard]] std::size_t column_of(const Column& column);
  [[nodiscard]] Function& function_of(const FunctionRow& row);
  [[nodiscard]] std::size_t entry_of(const RankSummary& summary);
  void take_head(const RankSummary& summary, Entry& entry);
  void take_rows(const RankSummary& summary, std::size_t entry,
                 const std::vector<std::size_t>& columns);
  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const;

  void finish_ranks(model::JobReport& report);
  void finish_columns(model::JobReport& report) const;
  void finish_shares(model::JobReport& report) const;
  void finish_functions(model::JobReport& report) const;
  void finish_stragglers(model::JobReport& report) const;
  void explain(const std::vector<double>& medians, std::size_t entry,
               model::Straggler& straggler) const;
  [[nodiscard]] std::vector<std::size_t> counted_entries() const;
  [[nodiscard]] double load_scale() const;  // from the column's integers to its unit

  MergeOptions options_;
  std::vector<Column> columns_;
  std::vector<Sum> sums_;  // by column
  std::vector<Entry> entries_;
  std::map<std::uint32_t, std::size_t> entry_by_rank_;
  std::vector<Function> functions_;
  std::unordered_map<std::string, std::size_t> function_by_key_;
  std::string command_, job_, source_;
  std::uint32_t size_ = 0;
  std::uint64_t sample_ns_ = 0;  // of the rank that was sampled most seldom
  std::vector<std::string> notes_;
};

}  // namespace loft::job
