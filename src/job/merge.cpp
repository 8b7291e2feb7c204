#include "job/merge.hpp"

#include <algorithm>
#include <array>

#include "job/summarize.hpp"

namespace loft::job {
namespace {

constexpr std::size_t kMostNotes = 8;

// Time says most; instructions outside MPI are what a rank was given to do.
constexpr std::array kLoads{kTimeColumn,
                            kEstimatedTimeColumn,
                            kCallTimeColumn,
                            std::string_view("instructions"),
                            std::string_view("flops"),
                            std::string_view("cycles"),
                            kCallsColumn};

// Of the time between MPI_Init and MPI_Finalize, or of all its time where they were not seen.
std::optional<double> share_of(const MpiTime& mpi, std::uint64_t wall_ns) {
  const std::uint64_t span = mpi.span_ns != 0 ? mpi.span_ns : wall_ns;
  if (span == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(mpi.ns) / static_cast<double>(span));
}

bool is_time(std::string_view column) {
  return column == kTimeColumn || column == kEstimatedTimeColumn;
}

}  // namespace

std::string load_among(const std::vector<Column>& columns) {
  for (const std::string_view name : kLoads)
    for (const Column& column : columns)
      if (column.name == name && column.origin != sample::Origin::missing) return column.name;
  return {};
}

model::RankState state_of(const RankSummary& summary) {
  constexpr int kNoSignal = 128;  // a shell adds this to the number of a signal
  constexpr int kLastSignal = kNoSignal + 64;
  if (summary.state == State::running) return model::RankState::unfinished;
  if (summary.exit_status == 0 || summary.exit_status == kUnknownStatus)
    return model::RankState::complete;
  const bool is_signal = summary.exit_status > kNoSignal && summary.exit_status <= kLastSignal;
  return is_signal ? model::RankState::killed : model::RankState::failed;
}

void Merge::Sum::add(std::uint64_t more) {
  overflows = __builtin_add_overflow(value, more, &value) || overflows;
  ++ranks;
}

void Merge::Function::mark(std::size_t entry) {
  if (is_in.size() <= entry) is_in.resize(entry + 1);
  ranks += is_in[entry] ? 0 : 1;
  is_in[entry] = true;
}

std::optional<std::size_t> Merge::find_column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::size_t Merge::column_of(const Column& column) {
  if (const auto known = find_column(column.name)) {
    // The sum is no better than its worst part; ranks without a value are in none.
    sample::Origin& origin = columns_[*known].origin;
    const bool is_known = column.origin != sample::Origin::missing;
    if (origin == sample::Origin::missing) origin = column.origin;
    if (is_known) origin = std::max(origin, column.origin);
    return *known;
  }
  columns_.push_back(column);
  sums_.emplace_back();
  return columns_.size() - 1;
}

Merge::Function& Merge::function_of(const FunctionRow& row) {
  std::string key = row.name;
  key += '\n';  // in no name: it is escaped in the file
  key += row.binary;
  key += row.in_mpi ? "\n1" : "\n0";
  const auto [found, is_new] = function_by_key_.try_emplace(std::move(key), functions_.size());
  if (is_new) {
    functions_.emplace_back();
    functions_.back().name = row.name;
    functions_.back().binary = row.binary;
    functions_.back().in_mpi = row.in_mpi;
  }
  return functions_[found->second];
}

std::size_t Merge::entry_of(const RankSummary& summary) {
  const auto [found, is_new] = entry_by_rank_.try_emplace(summary.rank.number, entries_.size());
  if (is_new) entries_.emplace_back();
  Entry& entry = entries_[found->second];
  const model::RankState state = state_of(summary);
  entry.rank.rank = summary.rank.number;
  // Of two passes the worse end is shown.
  entry.rank.state = is_new ? state : std::max(entry.rank.state, state);
  if (is_new || summary.exit_status != 0) entry.rank.exit_status = summary.exit_status;
  const bool has_ended = entry.rank.state != model::RankState::unfinished;
  entry.is_counted =
      entry.rank.state == model::RankState::complete || (options_.counts_failed && has_ended);
  return found->second;
}

void Merge::take_head(const RankSummary& summary, Entry& entry) {
  // Under the virtual PMU a program takes longer: the pass for the time knows better.
  const bool is_first = entry.rank.node.empty();
  if (is_first || summary.pass == "time") {
    entry.rank.node = summary.rank.node;
    if (summary.state == State::ended)
      entry.rank.wall_seconds = static_cast<double>(summary.wall_ns) * 1e-9;
    if (summary.cpu_ns) entry.rank.cpu_seconds = static_cast<double>(*summary.cpu_ns) * 1e-9;
    if (summary.mpi) entry.measured_share = share_of(*summary.mpi, summary.wall_ns);
  }
  size_ = std::max(size_, summary.rank.size);
  sample_ns_ = std::max(sample_ns_, summary.sample_ns.value_or(0));
  if (command_.empty()) command_ = summary.command;
  if (job_.empty()) job_ = summary.rank.job;
  if (source_.empty() || summary.pass == "time") source_ = summary.source;
  for (const std::string& note : summary.notes)
    if (notes_.size() < kMostNotes && std::ranges::find(notes_, note) == notes_.end())
      notes_.push_back(note);
}

void Merge::take_rows(const RankSummary& summary, std::size_t index,
                      const std::vector<std::size_t>& columns) {
  Entry& entry = entries_[index];
  const auto load = find_column(options_.load);
  for (const FunctionRow& row : summary.functions) {
    Function& function = function_of(row);
    function.sums.resize(columns_.size());
    if (entry.is_counted) function.mark(index);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (summary.columns[i].origin == sample::Origin::missing) continue;  // then 0 is no value
      const std::size_t column = columns[i];
      const std::uint64_t value = row.values[i];
      if (!row.in_mpi) entry.outside[column] = entry.outside[column].value_or(0) + value;
      if (row.in_mpi && is_time(columns_[column].name))
        entry.time_inside = entry.time_inside.value_or(0) + value;
      if (!entry.is_counted) continue;
      function.sums[column].add(value);
      if (column == load && value != 0) function.loads.push_back({index, value});
    }
  }
}

void Merge::add(const RankSummary& summary) {
  const std::size_t index = entry_of(summary);
  take_head(summary, entries_[index]);
  std::vector<std::size_t> columns;
  for (const Column& column : summary.columns) columns.push_back(column_of(column));
  Entry& entry = entries_[index];
  entry.outside.resize(columns_.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!summary.totals[i]) continue;
    if (entry.is_counted) sums_[columns[i]].add(*summary.totals[i]);
    // Without functions nobody can tell MPI's part: the whole stands for it.
    if (summary.functions.empty()) entry.outside[columns[i]] = summary.totals[i];
  }
  take_rows(summary, index, columns);
}

}  // namespace loft::job
