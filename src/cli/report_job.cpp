#include "cli/report_job.hpp"

#include "cli/machine_at_hand.hpp"
#include "job/read_job.hpp"
#include "job/roofline.hpp"
#include "job/table.hpp"
#include "view/job.hpp"
#include "view/job_pprof.hpp"
#include "view/job_table.hpp"
#include "view/roof.hpp"

namespace loft::cli {
namespace {

// What there is to show; read when the form is known, since tables are written while ranks are
// read.
struct ShownJob {
  std::string folder;
  job::ReadOptions options;
  std::size_t top = 0;
  std::string machine;  // whose roofs the ranks stand under; empty: this one's
  Terminal* terminal = nullptr;

  [[nodiscard]] Result<model::JobReport> report() const { return job::read_job(folder, options); }
};

Result<std::string> text(const ShownJob& shown) {
  LOFT_TRY(const auto report, shown.report());
  return view::job_text(report, {shown.top});
}

Result<std::string> json(const ShownJob& shown) {
  LOFT_TRY(const auto report, shown.report());
  return view::job_json(report);
}

Result<std::string> openmetrics(const ShownJob& shown) {
  LOFT_TRY(const auto report, shown.report());
  return view::job_openmetrics(report);
}

Result<std::string> svg(const ShownJob& shown) {
  constexpr std::size_t kMostPoints = 32;  // more could not be told apart
  LOFT_TRY(const auto report, shown.report());
  LOFT_TRY(const auto machine, machine_at_hand(shown.machine, *shown.terminal));
  LOFT_TRY(const auto job, job::roofline_of(report, machine));
  return view::roof_svg(job::rooflines_of_ranks(job, machine, kMostPoints));
}

Result<std::string> html(const ShownJob& shown) {
  LOFT_TRY(const auto report, shown.report());
  LOFT_TRY(const auto machine, machine_at_hand(shown.machine, *shown.terminal));
  LOFT_TRY(const auto job, job::roofline_of(report, machine));
  return view::roof_html({&job, 1});
}

Result<void> read_rows(const ShownJob& shown,
                       const std::function<void(const model::JobTableRow&)>& take) {
  job::ReadOptions options = shown.options;
  options.on_rank = [&](const job::RankSummary& summary, std::size_t step) {
    job::for_each_row(summary, step, take);
  };
  LOFT_TRY([[maybe_unused]] const auto report, job::read_job(shown.folder, options));
  return {};
}

template <auto MakeWriter>
Result<void> table(const ShownJob& shown, const PieceWriter& write) {
  const auto writer = MakeWriter(write);
  LOFT_CHECK(read_rows(shown, [&](const model::JobTableRow& row) { writer->add(row); }));
  return writer->finish();
}

Result<std::string> pprof(const ShownJob& shown) {
  view::JobPprof profile;
  LOFT_CHECK(read_rows(shown, [&](const model::JobTableRow& row) { profile.add(row); }));
  return profile.finish();
}

const std::vector<Output<ShownJob>> kOutputs{
    {{"text", {".txt"}}, whole<text>},
    {{"json", {".json"}}, whole<json>},
    {{"csv", {".csv"}}, table<view::job_csv>},
    {{"parquet", {".parquet"}}, table<view::job_parquet>},
    {{"sql", {".sql"}}, table<view::job_sql>},
    {{"svg", {".svg"}}, whole<svg>},
    {{"html", {".html"}}, whole<html>},
    {{"pprof", {".pb.gz", ".pprof"}}, whole<pprof>},
    {{"openmetrics", {".prom"}}, whole<openmetrics>},
};

// Rows of single samples are in no summary.
Result<void> check(const ReportFlags& flags) {
  const ReportFlags none;
  if (flags.by == none.by && flags.sort.empty() && flags.comms.empty() && flags.binaries.empty() &&
      flags.symbol_names.empty() && flags.events.empty() && flags.pids.empty() &&
      flags.tids.empty() && flags.cpus.empty() && flags.time.empty() && flags.tree.empty() &&
      !flags.children && !flags.inlines && !flags.records && !flags.tasks.any() &&
      flags.csv.empty())
    return {};
  return failure(
      ErrorKind::invalid_input, "report on a job",
      "it is made of sums over ranks, which know no single samples",
      "give --top, --step, --machine, --format and -o alone, or the recording of one rank");
}

}  // namespace

std::vector<OutputForm> job_forms() { return forms_of(kOutputs); }

Result<int> report_job(const std::string& folder, const ReportFlags& flags, Terminal& terminal) {
  LOFT_CHECK(check(flags));
  const OutputFlags to{flags.format, flags.output};
  LOFT_TRY(const auto* output, choose_output(kOutputs, to));
  constexpr std::size_t kFunctions = 20;
  ShownJob shown{folder, {}, flags.top != 0 ? flags.top : kFunctions, flags.machine, &terminal};
  if (flags.step != 0) shown.options.step = flags.step;
  LOFT_CHECK(write_output(*output, shown, to, Stream::out, terminal));
  return 0;
}

}  // namespace loft::cli
