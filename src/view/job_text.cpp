#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/job.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using model::JobReport;
using model::RankState;

constexpr std::size_t kNameWidth = 60;
constexpr std::size_t kMostListed = 16;  // of ranks and files that are named one by one

std::string origin_word(const JobReport& report) {
  switch (report.load_origin) {
    case sample::Origin::counted:
      return "counted";
    case sample::Origin::scaled:
      return "sampled";
    default:
      return "estimated";
  }
}

// In the unit of the load.
std::string amount(const JobReport& report, double value) {
  return report.load_unit == "s" ? format_seconds(value) : with_si_prefix(value, report.load_unit);
}

std::string ranks_text(std::size_t ranks) {
  return with_separators(ranks) + (ranks == 1 ? " rank" : " ranks");
}

std::string nodes_text(const JobReport& report) {
  std::set<std::string> nodes;
  for (const model::JobRank& rank : report.ranks) nodes.insert(rank.node);
  return with_separators(nodes.size()) + (nodes.size() == 1 ? " node" : " nodes");
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string head_text(const JobReport& report) {
  std::string text = fmt::format("{}: {} on {}", printable(report.folder), ranks_text(report.size),
                                 nodes_text(report));
  if (!report.job.empty()) text += ", job " + printable(report.job);
  if (report.steps > 1) text += fmt::format(", step {} of {}", report.step, report.steps);
  text += "\n";
  if (!report.command.empty()) text += "  " + printable(report.command) + "\n";
  return text;
}

std::string share_text(const JobReport& report) {
  const model::MpiShares& mpi = *report.mpi;
  return fmt::format("{}MPI {} to {}, median {} ({})", mpi.is_measured ? "" : "~",
                     percent(mpi.least), percent(mpi.most), percent(mpi.median),
                     mpi.is_measured ? "timed call by call" : "estimated from samples, by library");
}

std::string figures_text(const JobReport& report) {
  std::string text =
      "  wall " + (report.wall_seconds ? format_seconds(*report.wall_seconds) : "not known");
  if (report.source == "virtual") text += " under the virtual PMU";
  text += report.imbalance
              ? fmt::format(", imbalance {} ({} outside MPI, {})", percent(*report.imbalance),
                            printable(report.load), origin_word(report))
              : ", imbalance not known: no two ranks have time or work";
  text += report.mpi ? "\n  " + share_text(report) : "\n  MPI: not known";
  text += "\n";
  if (report.counted < report.size)
    text += fmt::format("  all figures are of {} of {} ranks\n", report.counted, report.size);
  return text;
}

std::string listed(const std::vector<std::uint32_t>& ranks, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostListed); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", ranks[i]);
  if (count > kMostListed)
    text += fmt::format(" and {} more", with_separators(count - kMostListed));
  return text;
}

std::string incomplete_text(const JobReport& report) {
  std::string text;
  if (!report.missing.empty())
    text += fmt::format("  no file of rank {}\n", listed(report.missing, report.missing_count));
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (const model::JobRank& rank : report.ranks) {
    if (rank.state == RankState::complete) continue;
    if (++shown > kMostListed) {
      ++left_out;
      continue;
    }
    text += fmt::format("  rank {} on {}: ", rank.rank, printable(rank.node));
    if (rank.state == RankState::unfinished)
      text += "no end was written: it or its loft was killed, or it still runs\n";
    else if (rank.state == RankState::killed)
      text += fmt::format("killed by signal {}\n", rank.exit_status - 128);
    else
      text += fmt::format("ended with status {}\n", rank.exit_status);
  }
  if (left_out > 0) text += fmt::format("  and {} more\n", ranks_text(left_out));
  return text;
}

std::string stragglers_text(const JobReport& report) {
  std::string text;
  for (std::size_t i = 0; i < std::min(report.stragglers.size(), kMostListed); ++i) {
    const model::Straggler& straggler = report.stragglers[i];
    text += fmt::format("  rank {} on {}: {:.2f} times the median", straggler.rank,
                        printable(straggler.node), straggler.factor);
    if (!straggler.function.empty())
      text += fmt::format("; {} takes {} more than in the median rank",
                          short_name(printable(straggler.function), kNameWidth),
                          amount(report, straggler.excess));
    text += "\n";
  }
  if (report.stragglers.size() > kMostListed)
    text += fmt::format("  and {} more\n", report.stragglers.size() - kMostListed);
  return text.empty() ? text : "stragglers\n" + text;
}

std::string functions_text(const JobReport& report, std::size_t top) {
  if (report.functions.empty() || report.load.empty()) return {};
  std::string text =
      fmt::format("functions by what their imbalance costs\n{:>12} {:>12} {:>12} {:>7} {:>7}  {}\n",
                  "cost", "mean", "most", "in rank", "ranks", "function");
  const std::size_t shown =
      top == 0 ? report.functions.size() : std::min(top, report.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const model::JobFunction& function = report.functions[i];
    text += fmt::format("{:>12} {:>12} {:>12} {:>7} {:>7}  {}{}\n", amount(report, function.cost),
                        amount(report, function.mean), amount(report, function.most),
                        function.most_rank, function.ranks,
                        short_name(printable(function.name), kNameWidth),
                        function.in_mpi ? "  [MPI]" : "");
  }
  if (shown < report.functions.size())
    text += fmt::format("{:>12} more\n", report.functions.size() - shown);
  return text;
}

std::string totals_text(const JobReport& report) {
  std::string text;
  for (const model::JobColumn& column : report.columns)
    text += fmt::format(
        "{:>24}{} {}{}\n", column.sum ? with_separators(*column.sum) : "not known",
        column.unit.empty() ? "" : " " + printable(column.unit), printable(column.name),
        column.ranks == report.size ? ""
                                    : fmt::format("  ({} of {} ranks)", column.ranks, report.size));
  return text.empty() ? text : "sums over ranks\n" + text;
}

}  // namespace

std::string job_text(const JobReport& report, const JobTextOptions& options) {
  std::string text = head_text(report) + figures_text(report) + incomplete_text(report);
  text += stragglers_text(report) + functions_text(report, options.top) + totals_text(report);
  for (std::size_t i = 0; i < std::min(report.skipped.size(), kMostListed); ++i)
    text += fmt::format("skipped {}: {}\n", printable(report.skipped[i].path),
                        printable(report.skipped[i].why));
  if (report.skipped.size() > kMostListed)
    text += fmt::format("skipped {} more files\n", report.skipped.size() - kMostListed);
  for (const std::string& note : report.notes) text += "note: " + printable(note) + "\n";
  return text;
}

}  // namespace loft::view
