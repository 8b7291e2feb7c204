#include "view/regions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "view/csv.hpp"
#include "view/stat_parts.hpp"

namespace loft::view {
namespace {

using nlohmann::ordered_json;
using sample::Count;
using sample::RegionCounts;
using sample::RunCounts;

std::string path_text(const RegionCounts& region) {
  return fmt::format("{}", fmt::join(region.path, "/"));
}

std::optional<double> seconds_of(const std::optional<Nanoseconds>& time) {
  return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

std::optional<double> value_in_unit(const Count& count, const sample::CountedEvent& event) {
  return count.is_available() ? std::optional(count.value() * event.scale) : std::nullopt;
}

ordered_json or_nothing(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

bool has_times(const RunCounts& run) {
  return std::ranges::any_of(run.regions, [](const auto& row) { return row.time.has_value(); });
}

// Regions of all threads together, by quantity: what is inside, without what regions in it have.
class RegionFlame {
 public:
  RegionFlame(std::string title, std::string unit) {
    flame_.title = std::move(title);
    flame_.unit = std::move(unit);
    flame_.add(0, "regions", 0, 0);
  }

  void add(const RegionCounts& region, std::optional<double> total, std::optional<double> self) {
    if (!total) return;
    std::vector<std::string> around(region.path.begin(), region.path.end() - 1);
    const auto parent = nodes_.find(around);
    const std::uint32_t above = parent == nodes_.end() ? 0 : parent->second;
    nodes_[region.path] = flame_.add(above, region.path.back(), self.value_or(0), *total);
    if (region.path.size() == 1) flame_.total[0] += *total;
  }

  [[nodiscard]] PageFlame take() { return std::move(flame_); }

 private:
  PageFlame flame_;
  std::map<std::vector<std::string>, std::uint32_t> nodes_;
};

// Time without that of regions directly inside.
double own_seconds(const RunCounts& run, const RegionCounts& region) {
  double own = to_seconds(*region.time);
  for (const RegionCounts& other : run.regions)
    if (!other.thread && other.time && other.path.size() == region.path.size() + 1 &&
        std::equal(region.path.begin(), region.path.end(), other.path.begin()))
      own -= to_seconds(*other.time);
  return std::max(own, 0.0);
}

void add_flames(const RunCounts& run, PageData& page) {
  if (has_times(run)) {
    RegionFlame flame("regions: time", "s");
    for (const RegionCounts& region : run.regions)
      if (!region.thread && region.time)
        flame.add(region, to_seconds(*region.time), own_seconds(run, region));
    page.flames.push_back(flame.take());
  }
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    RegionFlame flame("regions: " + run.events[i].name, run.events[i].unit);
    for (const RegionCounts& region : run.regions)
      if (!region.thread)
        flame.add(region, value_in_unit(region.counts[i], run.events[i]),
                  value_in_unit(region.self[i], run.events[i]));
    PageFlame made = flame.take();
    if (made.total[0] > 0) page.flames.push_back(std::move(made));
  }
}

PageTable regions_table(const RunCounts& run) {
  PageColumn name{.name = "region", .form = CellForm::text};
  PageColumn thread{.name = "thread", .form = CellForm::text, .help = "empty: all of them"};
  PageColumn visits{.name = "visits", .form = CellForm::count};
  PageColumn time{.name = "time", .form = CellForm::seconds, .help = "added up over threads"};
  PageColumn elapsed{
      .name = "elapsed", .form = CellForm::seconds, .help = "while any thread was in it"};
  std::vector<PageColumn> counts(run.events.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = {.name = run.events[i].name,
                 .form = CellForm::count,
                 .unit = run.events[i].unit,
                 .help = "with the regions inside of it"};
  for (const RegionCounts& region : run.regions) {
    name.texts.push_back(path_text(region));
    thread.texts.push_back(region.thread ? fmt::format("{} {}", run.threads[*region.thread].tid,
                                                       run.threads[*region.thread].comm)
                                         : "");
    visits.numbers.push_back(static_cast<double>(region.visits));
    time.numbers.push_back(or_unknown(seconds_of(region.time)));
    elapsed.numbers.push_back(or_unknown(seconds_of(region.elapsed)));
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i].numbers.push_back(or_unknown(value_in_unit(region.counts[i], run.events[i])));
  }
  PageTable table{"Regions", {name, thread}, {}};
  if (has_times(run)) table.columns.insert(table.columns.end(), {time, elapsed});
  std::ranges::move(counts, std::back_inserter(table.columns));
  table.columns.push_back(visits);
  return table;
}

}  // namespace

std::string regions_text(const RunCounts& run) { return region_table(run); }

std::string regions_csv(const RunCounts& run) {
  std::string text = "region,tid,quantity,value,self,unit\n";
  for (const RegionCounts& region : run.regions) {
    const std::string start =
        csv_field(path_text(region)) + "," +
        (region.thread ? std::to_string(run.threads[*region.thread].tid) : std::string());
    const auto number = [](std::optional<double> value) {
      return value ? fmt::format("{}", *value) : std::string();
    };
    text += fmt::format("{},visits,{},,\n", start, region.visits);
    if (region.time) text += fmt::format("{},time,{},,s\n", start, to_seconds(*region.time));
    if (region.elapsed)
      text += fmt::format("{},elapsed,{},,s\n", start, to_seconds(*region.elapsed));
    for (std::size_t i = 0; i < run.events.size(); ++i)
      text += fmt::format("{},{},{},{},{}\n", start, csv_field(run.events[i].name),
                          number(value_in_unit(region.counts[i], run.events[i])),
                          number(value_in_unit(region.self[i], run.events[i])),
                          csv_field(run.events[i].unit));
  }
  return text;
}

std::string regions_json(const RunCounts& run) {
  ordered_json json{{"schema", "loft.regions/1"}, {"regions", ordered_json::array()}};
  for (const RegionCounts& region : run.regions) {
    ordered_json row{
        {"name", region.path.back()}, {"path", region.path}, {"visits", region.visits}};
    if (region.thread) row["tid"] = run.threads[*region.thread].tid;
    row["time_s"] = or_nothing(seconds_of(region.time));
    row["elapsed_s"] = or_nothing(seconds_of(region.elapsed));
    for (std::size_t i = 0; i < run.events.size(); ++i)
      row["events"].push_back(
          {{"name", run.events[i].name},
           {"value", or_nothing(value_in_unit(region.counts[i], run.events[i]))},
           {"self", or_nothing(value_in_unit(region.self[i], run.events[i]))},
           {"unit", run.events[i].unit},
           {"kind", sample::to_string(region.counts[i].origin)}});
    json["regions"].push_back(std::move(row));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void add_regions(const RunCounts& run, PageData& page) {
  if (run.regions.empty()) return;
  add_flames(run, page);
  page.tables.push_back(regions_table(run));
}

}  // namespace loft::view
