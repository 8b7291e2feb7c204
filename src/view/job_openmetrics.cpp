#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "view/job.hpp"

namespace loft::view {
namespace {

using model::JobReport;

std::string label(std::string_view text) {
  std::string out = "\"";
  for (const char letter : printable(text)) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + '"';
}

class Families {
 public:
  explicit Families(const JobReport& report)
      : job_(fmt::format("folder={},job={}", label(report.folder), label(report.job))) {}

  void family(std::string_view name, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# TYPE {} gauge\n# HELP {} {}\n", name, name, help);
  }
  // A value that is not known has no series.
  void series(const std::optional<double>& value, const std::string& more = {}) {
    if (!value) return;
    text_ += fmt::format("{}{{{}{}{}}} {}\n", name_, job_, more.empty() ? "" : ",", more, *value);
  }
  std::string finish() { return std::move(text_) + "# EOF\n"; }

 private:
  std::string job_;
  std::string name_;
  std::string text_;
};

void add_ranks(const JobReport& report, Families& out) {
  const auto each = [&](std::string_view name, std::string_view help, auto value) {
    out.family(name, help);
    for (const model::JobRank& rank : report.ranks)
      out.series(value(rank), fmt::format("node={},rank=\"{}\"", label(rank.node), rank.rank));
  };
  using model::JobRank;
  each("loft_rank_complete", "1: the rank ended with status 0.", [](const JobRank& rank) {
    return std::optional<double>(rank.state == model::RankState::complete ? 1 : 0);
  });
  each("loft_rank_wall_seconds", "From the start of the rank to its end.",
       [](const JobRank& rank) { return rank.wall_seconds; });
  each("loft_rank_mpi_ratio", "Share of the rank's time in MPI.",
       [](const JobRank& rank) { return rank.mpi_share; });
  each("loft_rank_load", "What the rank had to do outside MPI.",
       [](const JobRank& rank) { return rank.load; });
  each("loft_rank_flops", "Floating-point operations outside MPI.",
       [](const JobRank& rank) { return rank.flops; });
  each("loft_rank_bytes", "Bytes that the core loaded and stored outside MPI.",
       [](const JobRank& rank) { return rank.bytes; });
}

// As many as a table of people has: each is a series of its own for whoever keeps them.
void add_functions(const JobReport& report, Families& out) {
  constexpr std::size_t kMost = 20;
  std::vector<const model::JobFunction*> largest;
  for (const model::JobFunction& function : report.functions) largest.push_back(&function);
  std::ranges::stable_sort(largest, std::greater{}, &model::JobFunction::mean);
  largest.resize(std::min(largest.size(), kMost));
  out.family("loft_function_load", "Load of a function, the mean over ranks; the largest ones.");
  for (const model::JobFunction* function : largest)
    out.series(function->mean,
               fmt::format("function={},binary={},mpi=\"{}\"", label(function->name),
                           label(function->binary), function->in_mpi ? 1 : 0));
}

}  // namespace

std::string job_openmetrics(const JobReport& report) {
  Families out(report);
  out.family("loft_job_ranks", "Ranks that the job had.");
  out.series(static_cast<double>(report.size));
  out.family("loft_job_ranks_complete", "Ranks that ended with status 0.");
  out.series(static_cast<double>(report.complete));
  out.family("loft_job_wall_seconds", "The slowest rank from its start to its end.");
  out.series(report.wall_seconds);
  out.family("loft_job_imbalance_ratio", "The largest load over the mean, less 1.");
  out.series(report.imbalance);
  out.family("loft_job_stragglers", "Ranks with far more load than the median.");
  out.series(static_cast<double>(report.stragglers.size()));
  out.family("loft_job_amount", "Sums over ranks.");
  for (const model::JobColumn& column : report.columns)
    if (column.sum)
      out.series(static_cast<double>(*column.sum),
                 fmt::format("metric={},unit={}", label(column.name), label(column.unit)));
  add_functions(report, out);
  add_ranks(report, out);
  return out.finish();
}

}  // namespace loft::view
