#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "job/summary.hpp"

namespace loft::job {
namespace {

constexpr std::size_t kMostName = 160;   // templates have names of any length
constexpr std::size_t kMostField = 512;  // of texts that people wrote: commands, notes
constexpr std::size_t kMostNotesOfRank = 4;

bool is_kept(unsigned char byte) { return byte >= 0x20 && byte != '%' && byte != 0x7f; }

// Bytes that separate fields, and the escape itself, as %XX.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (is_kept(byte))
      out += letter;
    else
      out += fmt::format("%{:02x}", byte);
  }
  return out;
}

// A long name keeps its beginning, and a number made of the whole: other names stay other names.
std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: the same on every node
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  std::size_t end = most - 18;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // whole letters
  return fmt::format("{}~{:016x}", name.substr(0, end), hash);
}

std::string field(const std::string& text) { return escaped(shortened(text, kMostField)); }

void add_line(std::string& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out += fmt::format("{}={}\n", key, value);
}

template <class Number>
void add_number(std::string& out, std::string_view key, const std::optional<Number>& value) {
  if (value) out += fmt::format("{}={}\n", key, *value);
}

std::string head_text(const RankSummary& summary) {
  std::string out = "loft.rank/1\n";
  const Rank& rank = summary.rank;
  out += fmt::format("rank={}\nsize={}\n", rank.number, rank.size);
  add_number(out, "local", rank.local);
  add_line(out, "node", field(rank.node));
  add_line(out, "job", field(rank.job));
  add_line(out, "launch", field(rank.launch));
  add_line(out, "launcher", field(rank.launcher));
  add_line(out, "state", summary.state == State::ended ? "ended" : "running");
  add_line(out, "command", field(summary.command));
  add_line(out, "source", field(summary.source));
  add_line(out, "pass", field(summary.pass));
  out += fmt::format("exit={}\nstart={}\nwall={}\n", summary.exit_status, summary.start_ns,
                     summary.wall_ns);
  add_number(out, "cpu", summary.cpu_ns);
  add_number(out, "sample", summary.sample_ns);
  if (summary.mpi)
    out += fmt::format("mpi={}\nmpi_calls={}\nmpi_span={}\n", summary.mpi->ns, summary.mpi->calls,
                       summary.mpi->span_ns);
  for (std::size_t i = 0; i < std::min(summary.notes.size(), kMostNotesOfRank); ++i)
    add_line(out, "note", field(summary.notes[i]));
  for (std::size_t i = 0; i < summary.columns.size(); ++i) {
    const Column& column = summary.columns[i];
    const auto total = i < summary.totals.size() ? summary.totals[i] : std::nullopt;
    out += fmt::format("column={}\t{}\t{}\t{}\n", field(column.name), field(column.unit),
                       to_string(column.origin), total ? std::to_string(*total) : "-");
  }
  return out;
}

class FunctionLines {
 public:
  explicit FunctionLines(const RankSummary& summary) : summary_(summary) {}

  // A binary is written once, before the first function that is in it.
  std::string line(const FunctionRow& row) {
    std::string out;
    const auto [found, is_new] = binaries_.try_emplace(row.binary, binaries_.size());
    if (is_new) out += fmt::format("binary={}\n", field(row.binary));
    out += fmt::format("function={}\t{}\t{}", escaped(shortened(row.name, kMostName)),
                       found->second, row.in_mpi ? 1 : 0);
    for (std::size_t i = 0; i < summary_.columns.size(); ++i)
      out += fmt::format("\t{}", i < row.values.size() ? row.values[i] : 0);
    return out + "\n";
  }

 private:
  const RankSummary& summary_;
  std::map<std::string, std::size_t> binaries_;
};

void add_values(FunctionRow& to, const FunctionRow& more) {
  to.values.resize(std::max(to.values.size(), more.values.size()));
  for (std::size_t i = 0; i < more.values.size(); ++i) to.values[i] += more.values[i];
}

// Those with the largest share of any column first.
std::vector<const FunctionRow*> by_weight(const RankSummary& summary) {
  std::vector<double> sums(summary.columns.size(), 0);
  for (const FunctionRow& row : summary.functions)
    for (std::size_t i = 0; i < std::min(sums.size(), row.values.size()); ++i)
      sums[i] += static_cast<double>(row.values[i]);
  std::vector<std::pair<double, const FunctionRow*>> weighed;
  for (const FunctionRow& row : summary.functions) {
    double most = 0;
    for (std::size_t i = 0; i < std::min(sums.size(), row.values.size()); ++i)
      if (sums[i] > 0) most = std::max(most, static_cast<double>(row.values[i]) / sums[i]);
    weighed.emplace_back(most, &row);
  }
  std::ranges::stable_sort(weighed, std::greater{}, &std::pair<double, const FunctionRow*>::first);
  std::vector<const FunctionRow*> rows;
  for (const auto& [weight, row] : weighed) rows.push_back(row);
  return rows;
}

}  // namespace

std::string summary_text(const RankSummary& summary, std::size_t most_bytes) {
  std::string out = head_text(summary);
  FunctionLines lines(summary);
  // Room for the two rows of all others, with the longest numbers.
  const std::size_t others_room = 2 * (kOtherFunctions.size() + 32 + 21 * summary.columns.size());
  FunctionRow others[2] = {{std::string(kOtherFunctions), "", false, {}},
                           {std::string(kOtherFunctions), "", true, {}}};
  bool is_full = false;
  for (const FunctionRow* row : by_weight(summary)) {
    const std::string line = is_full ? std::string() : lines.line(*row);
    is_full = is_full || out.size() + line.size() + others_room > most_bytes;
    if (is_full)
      add_values(others[row->in_mpi ? 1 : 0], *row);
    else
      out += line;
  }
  for (const FunctionRow& row : others) {
    if (row.values.empty()) continue;
    FunctionLines own(summary);
    out += "binaries\n";  // numbers of binaries begin anew
    out += own.line(row);
  }
  return out + "end\n";
}

}  // namespace loft::job
