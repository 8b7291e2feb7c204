#include "job/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "job/summarize.hpp"

namespace loft::job {
namespace {

using model::Scope;
using model::Subject;

// How the times came about.
sample::Origin origin_of(const model::JobReport& report) {
  return report.load_origin == sample::Origin::counted ? sample::Origin::scaled
                                                       : report.load_origin;
}

Subject subject_of(const model::JobRank& rank, sample::Origin origin) {
  Subject subject;
  subject.scope = Scope::thread;
  subject.name = fmt::format("rank {} on {}", rank.rank, rank.node);
  subject.tid = rank.rank;
  subject.seconds = *rank.seconds;
  model::Work work;
  work.flops_dp = *rank.flops;  // the precision of most; summaries keep the sum alone
  work.bytes = *rank.bytes;
  work.instructions = work.int_ops = std::nullopt;
  subject.work = work;
  subject.origin = origin;
  return subject;
}

}  // namespace

Result<model::RoofReport> roofline_of(const model::JobReport& job, const model::Machine& machine) {
  std::vector<Subject> subjects(1);
  Subject& all = subjects.front();
  all.name = job.command;
  all.work.emplace().instructions = std::nullopt;
  all.origin = origin_of(job);
  double busy = 0;
  std::vector<model::ThreadName> names;
  for (const model::JobRank& rank : job.ranks) {
    if (!rank.seconds || !rank.flops || !rank.bytes || !(*rank.seconds > 0)) continue;
    Subject subject = subject_of(rank, origin_of(job));
    *subjects.front().work += *subject.work;
    subjects.front().seconds = std::max(subjects.front().seconds, subject.seconds);
    busy += subject.seconds;
    names.push_back({static_cast<std::uint32_t>(rank.rank), "", rank.node});
    subjects.push_back(std::move(subject));
  }
  if (subjects.size() == 1)
    return failure(ErrorKind::unsupported, "place the ranks of '" + job.folder + "' under roofs",
                   "no rank has time, operations and bytes",
                   "measure them with: srun loft roof --once --job DIR -- ./app");
  subjects.front().work->instructions = std::nullopt;
  subjects.front().concurrency = busy / subjects.front().seconds;
  subjects.front().share_of_time = 1;
  for (std::size_t i = 1; i < subjects.size(); ++i)
    subjects[i].share_of_time = subjects[i].seconds / busy;
  model::RoofReport report;
  report.label = job.folder;
  report.command = {job.command};
  report.wall_seconds = job.wall_seconds.value_or(busy);  // ranks that are drawn have ended
  report.cpu_seconds = busy;
  report.threads = subjects.size() - 1;
  report.thread_names = std::move(names);
  report.counts_from = job.source;
  report.time_is_estimated = job.load == kEstimatedTimeColumn;
  report.machine_identity = machine.identity;
  report.notes = job.notes;
  report.notes.push_back(
      fmt::format("{} of {} ranks, each without the code of MPI", subjects.size() - 1, job.size));
  report.chart = model::place(machine, std::move(subjects), 8, model::RoofKind::flops);
  return report;
}

std::vector<model::RoofReport> rooflines_of_ranks(const model::RoofReport& job,
                                                  const model::Machine& machine, std::size_t most) {
  std::vector<Subject> ranks;
  for (const model::RoofPoint& point : job.chart.points)
    if (point.subject.scope == Scope::thread) ranks.push_back(point.subject);
  std::ranges::stable_sort(ranks, std::greater{}, &Subject::seconds);
  ranks.resize(std::min(ranks.size(), most));
  std::vector<model::RoofReport> reports;
  for (Subject& rank : ranks) {
    model::RoofReport& report = reports.emplace_back();
    report.label = rank.name;
    report.command = job.command;
    report.wall_seconds = report.cpu_seconds = rank.seconds;
    report.threads = 1;
    report.counts_from = job.counts_from;
    report.time_is_estimated = job.time_is_estimated;
    report.machine_identity = job.machine_identity;
    rank.scope = Scope::run;
    report.chart = model::place(machine, {rank}, 1, model::RoofKind::flops);
  }
  return reports;
}

}  // namespace loft::job
