#include "job/summarize.hpp"

#include <cmath>
#include <map>
#include <thread>
#include <tuple>

#include "base/text.hpp"
#include "event/recording_schema.hpp"
#include "job/mpi_library.hpp"
#include "job/rank_file.hpp"
#include "sample/named_profile.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/profile_recording.hpp"

namespace loft::job {
namespace {

namespace fact = event::recording::fact;
using sample::Origin;

constexpr std::string_view kVirtualPrefix = "virtual::";

std::string plain_name(std::string_view name) {
  if (name.starts_with(kVirtualPrefix)) name.remove_prefix(kVirtualPrefix.size());
  return std::string(name);
}

// Rows by function, whatever order their values come in.
class Rows {
 public:
  explicit Rows(std::size_t columns) : columns_(columns) {}

  void add(const std::string& name, const std::string& binary, bool in_mpi, std::size_t column,
           std::uint64_t value) {
    auto& row = rows_[{name, binary, in_mpi}];
    row.resize(columns_);
    row[column] += value;
  }
  void give_to(RankSummary& summary) && {
    for (auto& [key, values] : rows_)
      summary.functions.push_back(
          {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::move(values)});
  }

 private:
  std::size_t columns_;
  std::map<std::tuple<std::string, std::string, bool>, std::vector<std::uint64_t>> rows_;
};

// How many levels of the tree stand above its functions: the event, and perhaps the process.
constexpr std::size_t kEventAlone = 1;
constexpr std::size_t kEventAndProcess = 2;

std::vector<std::size_t> depths_of(const std::vector<sample::Trie::Node>& nodes) {
  std::vector<std::size_t> depths(nodes.size(), 0);
  for (std::size_t i = 1; i < nodes.size(); ++i) depths[i] = depths[nodes[i].parent] + 1;
  return depths;
}

// Whether each node of the tree is in MPI: its function, or one that called it.
std::vector<bool> nodes_in_mpi(const sample::NamedProfile& profile, std::size_t levels_above) {
  const auto& nodes = profile.result.tree.nodes();
  const auto depths = depths_of(nodes);
  std::vector<bool> in_mpi(nodes.size());
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (depths[i] <= levels_above) continue;
    in_mpi[i] = in_mpi[nodes[i].parent] || is_mpi_library(profile.binary_path(nodes[i].key)) ||
                is_wait_function(profile.function_name(nodes[i].key));
  }
  return in_mpi;
}

Origin origin_of(const source::Recording& recording) {
  return source::recorder_of(recording.metadata()) == "virtual" ? Origin::counted : Origin::scaled;
}

// Column of each event; those that nothing was recorded of have none.
std::vector<std::optional<std::size_t>> add_columns(const sample::NamedProfile& profile,
                                                    Origin origin, RankSummary& summary) {
  std::vector<std::optional<std::size_t>> columns(profile.events.size());
  for (const std::uint32_t event : profile.used_events()) {
    const sample::ReportEvent& used = profile.events[event];
    if (!used.period_is_known) continue;
    columns[event] = summary.columns.size();
    summary.columns.push_back({plain_name(used.name), used.is_time ? "ns" : "", origin});
    summary.totals.emplace_back(used.total.period);
    if (plain_name(used.name) == kTimeColumn && origin == Origin::scaled)
      summary.sample_ns = used.total.period / used.total.samples;
  }
  return columns;
}

void take_facts(const source::Recording& recording, RankSummary& summary) {
  const auto number = [&](std::string_view key) {
    return parse_u64(source::loft_fact(recording.metadata(), key));
  };
  if (const auto wall = number(fact::kWallNs)) summary.wall_ns = *wall;
  if (const auto status = number(fact::kExitStatus); status && *status < 256) {
    summary.exit_status = static_cast<int>(*status);
    summary.state = State::ended;
  }
  if (const auto ns = number(fact::kMpiNs))
    summary.mpi =
        MpiTime{*ns, number(fact::kMpiCalls).value_or(0), number(fact::kMpiSpanNs).value_or(0)};
  read_facts(recording.metadata(), summary.rank);
}

std::uint64_t rounded(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

}  // namespace

Result<void> add_recording(const source::Recording& recording, RankSummary& summary) {
  take_facts(recording, summary);
  sample::ProfileOptions options;
  options.rows = false;
  options.tree = true;
  const unsigned workers = std::thread::hardware_concurrency();
  LOFT_TRY(const auto profiled, source::profile_recording(recording, options, {}, workers));
  const sample::NamedProfile profile{
      recording.summary(), profiled.result, *profiled.locations, recording.history(),
      sample::events_of(recording.metadata().events, profiled.result)};
  const auto columns = add_columns(profile, origin_of(recording), summary);
  const auto in_mpi = nodes_in_mpi(profile, kEventAlone);
  Rows rows(summary.columns.size());
  const auto& nodes = profile.result.tree.nodes();
  for (sample::Trie::NodeId i = 1; i < nodes.size(); ++i) {
    const bool is_event = nodes[i].parent == sample::Trie::kRoot;
    const auto column = columns[profile.event_of(i)];
    if (is_event || !column || nodes[i].self.samples == 0) continue;
    rows.add(profile.function_name(nodes[i].key), profile.binary_path(nodes[i].key), in_mpi[i],
             *column, nodes[i].self.period);
  }
  std::move(rows).give_to(summary);
  return {};
}

Result<void> add_recording_of_node(const source::Recording& recording,
                                   const std::map<std::uint32_t, std::size_t>& rank_of,
                                   std::span<RankSummary> summaries) {
  if (rank_of.empty()) return {};
  sample::ProfileOptions options;
  for (const auto& [pid, rank] : rank_of) options.filter.pids.insert(pid);
  options.rows = false;
  options.tree = options.tree_by_process = true;
  const unsigned workers = std::thread::hardware_concurrency();
  LOFT_TRY(const auto profiled, source::profile_recording(recording, options, {}, workers));
  const sample::NamedProfile profile{
      recording.summary(), profiled.result, *profiled.locations, recording.history(),
      sample::events_of(recording.metadata().events, profiled.result)};
  std::vector<std::optional<std::size_t>> columns(profile.events.size());
  std::vector<Rows> rows;
  for (RankSummary& summary : summaries) {
    columns = add_columns(profile, Origin::scaled, summary);
    summary.totals.assign(summary.columns.size(), 0);
    rows.emplace_back(summary.columns.size());
  }
  const auto in_mpi = nodes_in_mpi(profile, kEventAndProcess);
  const auto& nodes = profile.result.tree.nodes();
  const auto depths = depths_of(nodes);
  std::vector<std::optional<std::size_t>> owners(nodes.size());
  for (sample::Trie::NodeId i = 1; i < nodes.size(); ++i) {
    owners[i] = owners[nodes[i].parent];
    if (const auto rank = rank_of.find(nodes[i].key);
        depths[i] == kEventAndProcess && rank != rank_of.end())
      owners[i] = rank->second;
    const auto column = columns[profile.event_of(i)];
    if (!owners[i] || !column || nodes[i].self.samples == 0 || depths[i] <= kEventAndProcess)
      continue;
    rows[*owners[i]].add(profile.function_name(nodes[i].key), profile.binary_path(nodes[i].key),
                         in_mpi[i], *column, nodes[i].self.period);
    *summaries[*owners[i]].totals[*column] += nodes[i].self.period;
  }
  for (std::size_t i = 0; i < summaries.size(); ++i) std::move(rows[i]).give_to(summaries[i]);
  return {};
}

void add_counts(const sample::RunCounts& counts, RankSummary& summary) {
  summary.source = to_string(counts.source);
  summary.exit_status = counts.exit_status;
  summary.wall_ns = static_cast<std::uint64_t>(counts.wall.count());
  if (counts.user && counts.system)
    summary.cpu_ns = static_cast<std::uint64_t>((*counts.user + *counts.system).count());
  const auto value = [](const sample::Count& count) -> std::optional<std::uint64_t> {
    if (!count.is_available()) return std::nullopt;
    return count.origin == Origin::counted ? count.raw : rounded(count.value());
  };
  for (const sample::CountedEvent& event : counts.events) {
    summary.columns.push_back({plain_name(event.name), event.unit, event.total.origin});
    summary.totals.push_back(value(event.total));
  }
  Rows rows(counts.events.size());
  for (const sample::FunctionCounts& function : counts.functions)
    for (std::size_t i = 0; i < std::min(function.counts.size(), counts.events.size()); ++i)
      rows.add(function.name, function.binary, is_mpi_library(function.binary), i,
               value(function.counts[i]).value_or(0));
  std::move(rows).give_to(summary);
  for (const std::string& note : counts.notes) summary.notes.push_back(note);
}

void add_subjects(std::span<const model::Subject> subjects, Origin time, RankSummary& summary) {
  Origin work = Origin::missing;
  for (const model::Subject& subject : subjects)
    if (subject.scope == model::Scope::run && subject.work) work = subject.work_origin;
  const bool is_estimated = time == Origin::modelled;
  summary.columns = {{std::string(is_estimated ? kEstimatedTimeColumn : kTimeColumn), "ns", time},
                     {"flops", "", work},
                     {std::string(kBytesColumn), "", work},
                     {"instructions", "", work}};
  summary.totals.assign(summary.columns.size(), std::nullopt);
  Rows rows(summary.columns.size());
  for (const model::Subject& subject : subjects) {
    std::vector<std::optional<std::uint64_t>> values{rounded(subject.seconds * 1e9)};
    values.resize(summary.columns.size());
    if (subject.work) {
      values[1] = rounded(subject.work->flops());
      values[2] = rounded(subject.work->bytes);
      if (subject.work->instructions) values[3] = rounded(*subject.work->instructions);
    }
    if (subject.scope == model::Scope::run) summary.totals = values;
    if (subject.scope != model::Scope::function) continue;
    for (std::size_t i = 0; i < values.size(); ++i)
      rows.add(subject.name, subject.binary, is_mpi_library(subject.binary), i,
               values[i].value_or(0));
  }
  std::move(rows).give_to(summary);
}

void add_calls(const sample::CallRun& run, RankSummary& summary) {
  // Time under the virtual PMU is the engine's, not the program's: ranks are not compared by it.
  std::vector<std::size_t> kept;
  for (std::size_t q = 0; run.has_values && q < run.quantities.size(); ++q)
    if (!run.quantities[q].is_time || run.route != "virtual") kept.push_back(q);
  summary.source = run.route;
  summary.exit_status = run.end.shell_status();
  summary.wall_ns = static_cast<std::uint64_t>(run.end.elapsed.count());
  summary.columns = {{std::string(kCallsColumn), "", Origin::counted}};
  for (const std::size_t q : kept) {
    const sample::CallQuantity& quantity = run.quantities[q];
    summary.columns.push_back(
        {quantity.is_time ? std::string(kCallTimeColumn) : plain_name(quantity.name),
         quantity.is_time ? "ns" : "", quantity.origin});
  }
  summary.totals.assign(summary.columns.size(), 0);
  Rows rows(summary.columns.size());
  std::size_t unknown = 0;  // functions
  for (std::size_t i = 0; i < run.functions.size(); ++i) {
    const sample::WatchedFunction& function = run.functions[i];
    if (!function.is_watched()) continue;
    const sample::CallStatistics& statistics = run.statistics[i];
    const bool in_mpi = is_mpi_library(function.dso);
    const auto take = [&](std::size_t column, std::uint64_t value) {
      rows.add(function.name, function.dso, in_mpi, column, value);
      if (summary.totals[column]) *summary.totals[column] += value;
    };
    take(0, statistics.calls + statistics.open + statistics.unmeasured);
    bool is_whole = statistics.unmeasured == 0;
    for (std::size_t column = 1; column <= kept.size(); ++column) {
      const std::size_t q = kept[column - 1];
      take(column, rounded(run.in_unit(q, statistics.of[q].self)));
      is_whole = is_whole && statistics.is_known(q);
      if (statistics.unmeasured != 0 || !statistics.is_known(q)) summary.totals[column].reset();
    }
    unknown += is_whole || kept.empty() ? 0 : 1;
  }
  std::move(rows).give_to(summary);
  if (unknown != 0)
    summary.notes.push_back("of " + std::to_string(unknown) +
                            " functions a part of the calls was counted and not measured");
  for (const std::string& note : run.notes) summary.notes.push_back(note);
}

}  // namespace loft::job
