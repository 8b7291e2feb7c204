#include "view/recording_page_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"

namespace loft::view {
namespace {

using sample::Dimension;
using sample::Report;
using sample::RowKeys;

constexpr std::uint64_t kSampleCpu = 1u << 7;  // PERF_SAMPLE_CPU: samples say where they were taken

// The words of a row, in the order of the columns.
std::vector<std::string> words_of(const Report& report, const RowKeys& keys) {
  std::vector<std::string> words;
  for (const Dimension dimension : report.by) {
    switch (dimension) {
      case Dimension::function:
        words.push_back(keys.function);
        break;
      case Dimension::line:
        words.push_back(keys.function);
        words.push_back(keys.file.empty() ? "" : fmt::format("{}:{}", keys.file, keys.line));
        break;
      case Dimension::thread:
        words.push_back(keys.tid ? fmt::format("{} {}", keys.comm, *keys.tid) : "");
        break;
      case Dimension::process:
        words.push_back(keys.pid ? fmt::format("{} {}", keys.comm, *keys.pid) : "");
        break;
      case Dimension::binary:
        words.push_back(keys.binary);
        break;
      case Dimension::cpu:
        words.push_back(keys.cpu ? fmt::format("CPU {}", *keys.cpu) : "");
        break;
      case Dimension::comm:
        words.push_back(keys.comm);
        break;
    }
  }
  return words;
}

std::vector<std::string> word_names(const Report& report) {
  std::vector<std::string> names;
  for (const Dimension dimension : report.by) {
    switch (dimension) {
      case Dimension::function:
        names.emplace_back("function");
        break;
      case Dimension::line:
        names.emplace_back("function");
        names.emplace_back("source line");
        break;
      case Dimension::thread:
        names.emplace_back("thread");
        break;
      case Dimension::process:
        names.emplace_back("process");
        break;
      case Dimension::binary:
        names.emplace_back("binary");
        break;
      case Dimension::cpu:
        names.emplace_back("CPU");
        break;
      case Dimension::comm:
        names.emplace_back("name");
        break;
    }
  }
  return names;
}

// Columns of one event. Where it has no sample, 0 is what was counted; where rows were left out,
// nobody knows whether this was one of them.
struct EventColumns {
  PageColumn share, total, samples;
  double unseen = 0;

  EventColumns(const std::string& event, bool has_inclusive)
      : share{.name = has_inclusive ? "self" : "share",
              .form = CellForm::share,
              .help = "of the event's sum, in the function itself",
              .event = event},
        total{.name = "total",
              .form = CellForm::share,
              .help = "of the event's sum, with all that the function called",
              .event = event},
        samples{.name = "samples", .form = CellForm::count, .event = event} {}

  void add_row() {
    share.numbers.push_back(unseen);
    total.numbers.push_back(unseen);
    samples.numbers.push_back(unseen);
  }
};

std::string left_out_of(const Report& report) {
  std::vector<std::string> parts;
  for (std::size_t event = 0; event < report.rows_left_out.size(); ++event)
    if (report.rows_left_out[event] != 0)
      parts.push_back(fmt::format("{} others of {}", with_separators(report.rows_left_out[event]),
                                  report.events[event].name));
  return join(parts, ", ");
}

}  // namespace

PageTable function_table(const Report& report) {
  const bool has_inclusive = !report.rows.empty() && report.rows.front().inclusive.has_value();
  std::vector<std::uint32_t> used;  // in the order in which they are shown
  for (const auto& row : report.rows)
    if (std::ranges::find(used, row.event) == used.end()) used.push_back(row.event);
  std::map<std::uint32_t, EventColumns> events;
  for (const auto event : used) {
    EventColumns columns(report.events[event].name, has_inclusive);
    if (event < report.rows_left_out.size() && report.rows_left_out[event] != 0)
      columns.unseen = kNotKnown;
    events.emplace(event, std::move(columns));
  }
  std::vector<PageColumn> words;
  for (const auto& name : word_names(report)) words.push_back({name, CellForm::text});
  PageColumn binaries{"binary", CellForm::text};
  PageColumn files{"source file", CellForm::text};
  std::map<std::vector<std::string>, std::size_t> places;
  for (const auto& row : report.rows) {
    auto key = words_of(report, row.keys);
    key.push_back(row.keys.binary);
    const auto [entry, is_new] = places.emplace(key, places.size());
    if (is_new) {
      for (std::size_t i = 0; i < words.size(); ++i) words[i].texts.push_back(key[i]);
      binaries.texts.push_back(row.keys.binary);
      files.texts.push_back(row.keys.file);
      for (auto& [event, columns] : events) columns.add_row();
    }
    EventColumns& columns = events.find(row.event)->second;
    columns.share.numbers[entry->second] = row.share;
    columns.total.numbers[entry->second] = row.inclusive_share;
    columns.samples.numbers[entry->second] = static_cast<double>(row.self.samples);
  }
  const bool names_functions = words.front().name == "function" && words.size() == 1;
  PageTable table{names_functions ? "Functions" : "Rows", std::move(words), left_out_of(report)};
  if (names_functions) table.columns.push_back(std::move(binaries));
  for (const std::uint32_t event : used) {
    EventColumns& columns = events.find(event)->second;
    if (has_inclusive) table.columns.push_back(std::move(columns.total));
    table.columns.push_back(std::move(columns.share));
    table.columns.push_back(std::move(columns.samples));
  }
  if (names_functions) table.columns.push_back(std::move(files));
  return table;
}

PageTable thread_table(const sample::NamedProfile& profile) {
  struct Thread {
    std::uint32_t pid = 0;
    std::set<std::uint32_t> cpus;
    std::map<std::uint32_t, sample::Weight> events;
  };
  std::map<std::uint32_t, Thread> threads;
  const std::uint64_t step = profile.result.timeline.step();  // samples that an entry stands for
  for (const auto& entry : profile.result.timeline.entries()) {
    Thread& thread = threads[entry.tid];
    thread.pid = entry.pid;
    const auto& attr = profile.summary.metadata.events[entry.event].attr;
    if ((attr.sample_type & kSampleCpu) != 0) thread.cpus.insert(entry.cpu);
    thread.events[entry.event] += {step, step * entry.period};
  }
  PageColumn names{"thread", CellForm::text}, tids{"tid", CellForm::text},
      pids{"process", CellForm::text}, cpus{"CPUs", CellForm::count};
  cpus.help = "on which it had samples";
  for (const auto& [tid, thread] : threads) {
    names.texts.push_back(profile.history.names()[profile.history.comm_at(tid, ~std::uint64_t{0})]);
    tids.texts.push_back(std::to_string(tid));
    pids.texts.push_back(std::to_string(thread.pid));
    cpus.numbers.push_back(thread.cpus.empty() ? kNotKnown
                                               : static_cast<double>(thread.cpus.size()));
  }
  PageTable table{"Threads", {names, tids, pids}};
  const auto used = profile.used_events();
  for (const auto event : used) {
    const auto& one = profile.events[event];
    EventColumns columns(one.name, false);
    columns.share.help = "of the event's sum";
    for (const auto& [tid, thread] : threads) {
      const auto found = thread.events.find(event);
      const sample::Weight weight = found == thread.events.end() ? sample::Weight{} : found->second;
      const bool by_period = one.period_is_known && one.total.period != 0;
      columns.share.numbers.push_back(
          by_period ? static_cast<double>(weight.period) / static_cast<double>(one.total.period)
                    : static_cast<double>(weight.samples) / static_cast<double>(one.total.samples));
      columns.samples.numbers.push_back(static_cast<double>(weight.samples));
    }
    if (step != 1)
      columns.share.origins = columns.samples.origins =
          std::vector(threads.size(), sample::Origin::scaled);
    table.columns.push_back(std::move(columns.share));
    table.columns.push_back(std::move(columns.samples));
  }
  table.columns.push_back(std::move(cpus));
  return table;
}

}  // namespace loft::view
