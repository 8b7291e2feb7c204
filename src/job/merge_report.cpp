#include <algorithm>
#include <initializer_list>

#include "job/merge.hpp"
#include "job/summarize.hpp"
#include "model/imbalance.hpp"

namespace loft::job {
namespace {

constexpr double kNanoseconds = 1e-9;
constexpr std::size_t kMostMissing = 1000;  // that are named one by one

std::optional<double> share_inside(double inside, double outside) {
  if (!(inside + outside > 0)) return std::nullopt;
  return inside / (inside + outside);
}

bool is_nanoseconds(const Column& column) { return column.unit == "ns"; }

}  // namespace

std::vector<std::size_t> Merge::counted_entries() const {
  std::vector<std::size_t> counted;
  for (const auto& [rank, entry] : entry_by_rank_)
    if (entries_[entry].is_counted) counted.push_back(entry);
  return counted;
}

double Merge::load_scale() const {
  const auto load = find_column(options_.load);
  return load && is_nanoseconds(columns_[*load]) ? kNanoseconds : 1;
}

// What was done outside MPI, in the units of a roofline.
void Merge::finish_ranks(model::JobReport& report) {
  const auto outside = [&](const Entry& entry,
                           std::initializer_list<std::string_view> names) -> std::optional<double> {
    double sum = 0;
    for (const std::string_view name : names) {
      const auto column = find_column(name);
      if (!column || *column >= entry.outside.size() || !entry.outside[*column])
        return std::nullopt;
      sum += static_cast<double>(*entry.outside[*column]);
    }
    return sum;
  };
  const auto either = [](std::optional<double> first, std::optional<double> second) {
    return first ? first : second;
  };
  for (auto& [number, index] : entry_by_rank_) {
    Entry& entry = entries_[index];
    model::JobRank& rank = entry.rank;
    const auto ns = either(outside(entry, {kTimeColumn}), outside(entry, {kEstimatedTimeColumn}));
    if (ns) rank.seconds = *ns * kNanoseconds;
    rank.flops = either(outside(entry, {"flops"}), outside(entry, {"flops_sp", "flops_dp"}));
    rank.bytes =
        either(outside(entry, {kBytesColumn}), outside(entry, {"load_bytes", "store_bytes"}));
    if (const auto load = outside(entry, {options_.load})) rank.load = *load * load_scale();
    rank.mpi_share = entry.measured_share;
    if (!rank.mpi_share && ns)
      rank.mpi_share = share_inside(static_cast<double>(entry.time_inside.value_or(0)), *ns);
    report.complete += rank.state == model::RankState::complete ? 1 : 0;
    report.counted += entry.is_counted ? 1 : 0;
    if (entry.is_counted) report.wall_seconds = std::max(report.wall_seconds, rank.wall_seconds);
    report.ranks.push_back(rank);
  }
  report.missing_count = size_ - std::min<std::size_t>(size_, entry_by_rank_.size());
  for (std::uint32_t number = 0; number < size_ && report.missing.size() < kMostMissing; ++number)
    if (!entry_by_rank_.contains(number)) report.missing.push_back(number);
}

void Merge::finish_columns(model::JobReport& report) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Sum& sum = sums_[i];
    model::JobColumn column{columns_[i].name, columns_[i].unit, columns_[i].origin, {}, sum.ranks};
    if (sum.ranks > 0 && !sum.overflows) column.sum = sum.value;
    report.columns.push_back(std::move(column));
  }
}

void Merge::finish_shares(model::JobReport& report) const {
  std::vector<double> shares;
  bool is_measured = true;
  bool is_single = true;  // without any MPI there is no share to speak of
  for (const std::size_t index : counted_entries()) {
    const Entry& entry = entries_[index];
    is_measured = is_measured && entry.measured_share.has_value();
    is_single = is_single && !entry.measured_share && entry.time_inside.value_or(0) == 0;
    if (entry.rank.mpi_share) shares.push_back(*entry.rank.mpi_share);
  }
  if (shares.empty() || is_single) return;
  const auto [least, most] = std::ranges::minmax(shares);
  report.mpi = {least, *model::median(shares), most, is_measured, shares.size()};
}

void Merge::finish_functions(model::JobReport& report) const {
  const double scale = load_scale();
  const auto ranks = static_cast<double>(std::max<std::size_t>(report.counted, 1));
  for (const Function& function : functions_) {
    if (function.ranks == 0) continue;
    model::JobFunction shown{function.name, function.binary, function.in_mpi, function.ranks};
    for (const Load& load : function.loads) {
      const double value = static_cast<double>(load.value) * scale;
      shown.mean += value / ranks;
      if (value <= shown.most) continue;
      shown.most = value;
      shown.most_rank = entries_[load.entry].rank.rank;
    }
    shown.cost = shown.most - shown.mean;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool has_sum = i < function.sums.size() && !function.sums[i].overflows;
      shown.sums.push_back(has_sum && function.sums[i].ranks > 0
                               ? std::optional(function.sums[i].value)
                               : std::nullopt);
    }
    report.functions.push_back(std::move(shown));
  }
  // What waits inside MPI waits for others: it is shown, behind what makes it wait.
  std::ranges::stable_sort(report.functions, [](const auto& a, const auto& b) {
    if (a.in_mpi != b.in_mpi) return b.in_mpi;
    return a.cost != b.cost ? a.cost > b.cost : a.mean > b.mean;
  });
}

// The function whose excess over the median rank is largest.
void Merge::explain(const std::vector<double>& medians, std::size_t entry,
                    model::Straggler& straggler) const {
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    if (functions_[f].in_mpi) continue;
    for (const Load& load : functions_[f].loads) {
      const double excess = static_cast<double>(load.value) * load_scale() - medians[f];
      if (load.entry != entry || excess <= straggler.excess) continue;
      straggler.excess = excess;
      straggler.function = functions_[f].name;
      straggler.binary = functions_[f].binary;
    }
  }
}

void Merge::finish_stragglers(model::JobReport& report) const {
  std::vector<double> loads;
  std::vector<std::size_t> entries;
  for (const std::size_t entry : counted_entries()) {
    if (!entries_[entry].rank.load) continue;
    loads.push_back(*entries_[entry].rank.load);
    entries.push_back(entry);
  }
  if (loads.size() > 1) report.imbalance = model::imbalance(loads);
  const double sample =
      options_.load == kTimeColumn ? static_cast<double>(sample_ns_) * kNanoseconds : 0;
  const auto found = model::stragglers(loads, sample);
  if (found.empty()) return;
  const double middle = *model::median(loads);
  std::vector<double> medians;
  for (const Function& function : functions_) {
    std::vector<double> values;
    for (const Load& load : function.loads)
      values.push_back(static_cast<double>(load.value) * load_scale());
    values.resize(std::max(values.size(), loads.size()));  // 0 where a rank does not have it
    medians.push_back(*model::median(std::move(values)));
  }
  for (const std::size_t i : found) {
    const model::JobRank& rank = entries_[entries[i]].rank;
    model::Straggler straggler{rank.rank, rank.node, loads[i] / middle};
    explain(medians, entries[i], straggler);
    report.stragglers.push_back(std::move(straggler));
  }
}

model::JobReport Merge::report() && {
  model::JobReport report;
  report.command = command_;
  report.job = job_;
  report.source = source_;
  report.size = size_;
  report.notes = std::move(notes_);
  if (const auto load = find_column(options_.load)) {
    report.load = columns_[*load].name;
    report.load_unit = is_nanoseconds(columns_[*load]) ? "s" : columns_[*load].unit;
    report.load_origin = columns_[*load].origin;
  }
  finish_ranks(report);
  finish_columns(report);
  finish_shares(report);
  finish_functions(report);
  finish_stragglers(report);
  return report;
}

}  // namespace loft::job
