#include "sample/report.hpp"

#include <algorithm>
#include <numeric>

#include "event/recording_schema.hpp"

namespace loft::sample {
namespace {

constexpr std::uint64_t kSampleRead = 1u << 4;
constexpr std::uint64_t kSampleCallchain = 1u << 5;
constexpr std::uint64_t kSamplePeriod = 1u << 8;
constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};

// A row before its names are looked up: only those that are shown need them.
struct BareRow {
  Trie::NodeId node = 0;
  Weight self;
  Weight inclusive;
};

class RowNamer {
 public:
  RowNamer(const ProfileResult& result, Locations& locations, const TaskHistory& history,
           const ReportOptions& options)
      : result_(result), locations_(locations), history_(history), options_(options) {}

  RowKeys keys_of(Trie::NodeId node) const {
    RowKeys keys;
    for (std::size_t i = options_.by.size(); i-- > 0; node = result_.rows[node].parent)
      fill(options_.by[i], result_.rows[node].key, keys);
    return keys;
  }

  // Tells all rows apart, so that their order never depends on who counted what first.
  struct SortName {
    std::string text;
    std::vector<std::uint64_t> numbers;
    auto operator<=>(const SortName&) const = default;
  };
  SortName name_of(Trie::NodeId node) const {
    const RowKeys keys = keys_of(node);
    SortName name{keys.function + keys.comm + keys.binary + keys.file, {keys.line}};
    for (std::size_t i = options_.by.size(); i-- > 0; node = result_.rows[node].parent)
      add_numbers(options_.by[i], result_.rows[node].key, name);
    return name;
  }

 private:
  void fill(Dimension dimension, std::uint32_t key, RowKeys& keys) const {
    const bool is_known = key != kUnknownKey;
    switch (dimension) {
      case Dimension::function:
        return fill_function(key, keys);
      case Dimension::line:
        return fill_line(key, keys);
      case Dimension::binary:
        keys.binary = is_known ? history_.binaries()[key].path : "[not mapped]";
        if (is_known) keys.build_id = history_.binaries()[key].build_id;
        return;
      case Dimension::comm:
        keys.comm = history_.names()[key];
        return;
      case Dimension::cpu:
        if (is_known) keys.cpu = key;
        return;
      case Dimension::process:
      case Dimension::thread:
        if (!is_known) return;
        (dimension == Dimension::thread ? keys.tid : keys.pid) = key;
        if (dimension == Dimension::thread) keys.pid = history_.pid_of(key);
        if (keys.comm.empty()) keys.comm = history_.names()[history_.comm_at(key, kAtTheEnd)];
        return;
    }
  }

  // Two functions of one name (static ones of two files) differ by their place, which no worker
  // decides; the ids of functions and locations are given by whoever comes first.
  void add_numbers(Dimension dimension, std::uint32_t key, SortName& name) const {
    if (dimension == Dimension::function) return add_place(key, name);
    if (dimension != Dimension::line) return name.numbers.push_back(key);
    const Location location = locations_.at(key);
    add_place(location.function, name);
    for (std::uint32_t i = 0; i < location.inlined_count; ++i)
      name.text += locations_.function(locations_.inlined_function(location, i)).name;
  }

  void add_place(std::uint32_t id, SortName& name) const {
    const Function& function = locations_.function(id);
    name.numbers.insert(name.numbers.end(), {function.binary, function.address});
  }

  void fill_function(std::uint32_t id, RowKeys& keys) const {
    const Function& function = locations_.function(id);
    keys.function = function.name;
    keys.function_is_named = function.is_named;
    if (function.binary != Function::kNoBinary) {
      keys.binary = history_.binaries()[function.binary].path;
      keys.build_id = history_.binaries()[function.binary].build_id;
    }
    if (options_.source_files && keys.file.empty()) keys.file = locations_.source_file(id);
  }

  void fill_line(std::uint32_t id, RowKeys& keys) const {
    const Location location = locations_.at(id);
    fill_function(location.function, keys);
    if (location.line == 0) return;
    keys.file = locations_.file(location.file);
    keys.line = location.line;
  }

  const ProfileResult& result_;
  Locations& locations_;
  const TaskHistory& history_;
  const ReportOptions& options_;
};

std::uint32_t event_of(const Trie& rows, Trie::NodeId node) {
  while (rows[node].parent != Trie::kRoot) node = rows[node].parent;
  return rows[node].key;
}

// The leaves of the row trie, by event.
std::vector<std::vector<BareRow>> bare_rows(const ProfileResult& result, std::size_t levels,
                                            std::size_t events) {
  std::vector<std::vector<BareRow>> rows(events);
  std::vector<std::uint32_t> depth(result.rows.nodes().size());
  for (Trie::NodeId node = 1; node < depth.size(); ++node) {
    depth[node] = depth[result.rows[node].parent] + 1;
    if (depth[node] != levels + 1) continue;
    BareRow row{node, result.rows[node].self, {}};
    if (node < result.inclusive.size()) row.inclusive = result.inclusive[node];
    if (row.self.samples + row.inclusive.samples == 0) continue;
    rows[event_of(result.rows, node)].push_back(row);
  }
  return rows;
}

void sort_rows(std::vector<BareRow>& rows, SortBy sort, bool by_samples, const RowNamer& namer) {
  const auto value = [&](const BareRow& row) {
    if (sort == SortBy::name) return std::pair(std::uint64_t{0}, std::uint64_t{0});
    const Weight& weight = sort == SortBy::inclusive ? row.inclusive : row.self;
    return by_samples || sort == SortBy::samples ? std::pair(weight.samples, weight.period)
                                                 : std::pair(weight.period, weight.samples);
  };
  // The last word is the name: two workers number the same functions in two ways.
  std::vector<std::pair<RowNamer::SortName, BareRow>> named;
  named.reserve(rows.size());
  for (const auto& row : rows) named.emplace_back(namer.name_of(row.node), row);
  std::sort(named.begin(), named.end(), [&](const auto& a, const auto& b) {
    const auto left = value(a.second);
    const auto right = value(b.second);
    return left != right ? left > right : a.first < b.first;
  });
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = named[i].second;
}

double share_of(const Weight& part, const Weight& whole, bool period_is_known) {
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
  };
  return period_is_known && whole.period != 0 ? ratio(part.period, whole.period)
                                              : ratio(part.samples, whole.samples);
}

double share_of(const Weight& part, const ReportEvent& event) {
  return share_of(part, event.total, event.period_is_known);
}

}  // namespace

std::vector<std::uint32_t> shown_order(const std::vector<ReportEvent>& events) {
  std::vector<std::uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return std::pair(!events[i].has_stacks, !events[i].is_time);
  });
  return order;
}

std::vector<ReportEvent> events_of(const std::vector<perf_data::EventDescription>& events,
                                   const ProfileResult& result) {
  std::vector<ReportEvent> list;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& attr = events[i].attr;
    ReportEvent event{events[i].name, result.events[i], true, false};
    event.period_is_known = (attr.sample_type & kSamplePeriod) != 0 || !attr.freq;
    // cpu-clock and task-clock, and what 'loft record' counts beside them.
    event.is_time =
        (attr.type == 1 && attr.config <= 1) || event::recording::is_waiting(event.name);
    event.is_energy = event.name.starts_with(event::recording::kMeterPrefix);
    event.has_stacks = (attr.sample_type & kSampleCallchain) != 0;
    event.is_counted = (attr.sample_type & kSampleRead) != 0;
    if (i < result.filtered_out.size() && result.filtered_out[i].samples != 0) {
      Weight all = event.total;
      event.shown_share =
          share_of(event.total, all += result.filtered_out[i], event.period_is_known);
    }
    list.push_back(std::move(event));
  }
  return list;
}

Report make_report(const RecordingSummary& summary, const ProfileResult& result,
                   Locations& locations, const TaskHistory& history, const ReportOptions& options) {
  Report report;
  report.summary = summary;
  report.summary.unreadable_samples = result.unreadable;
  report.by = options.by;
  report.events = events_of(summary.metadata.events, result);
  for (ReportEvent& event : report.events)
    if (options.energy_shared_by && event.is_energy)
      event.shared_by = report.events[*options.energy_shared_by].name;
  report.rows_left_out.resize(report.events.size());
  report.threads = result.tids.size();
  report.first_time = result.first_time;
  report.last_time = result.last_time;
  for (const Weight& weight : result.filtered_out) report.filtered_out += weight.samples;
  if (!options.rows) return report;
  ReportOptions without_files = options;
  without_files.source_files = false;
  const RowNamer quick(result, locations, history, without_files);
  const RowNamer namer(result, locations, history, options);
  auto rows = bare_rows(result, options.by.size(), report.events.size());
  for (const std::uint32_t event : shown_order(report.events)) {
    const ReportEvent& known = report.events[event];
    sort_rows(rows[event], options.sort, !known.period_is_known, quick);
    if (options.top != 0 && rows[event].size() > options.top) {
      report.rows_left_out[event] = rows[event].size() - options.top;
      rows[event].resize(options.top);
    }
    for (const BareRow& bare : rows[event]) {
      ReportRow row{event, namer.keys_of(bare.node), bare.self, share_of(bare.self, known), {}, 0};
      if (!result.inclusive.empty()) {
        row.inclusive = bare.inclusive;
        row.inclusive_share = share_of(bare.inclusive, known);
      }
      report.rows.push_back(std::move(row));
    }
  }
  return report;
}

}  // namespace loft::sample
