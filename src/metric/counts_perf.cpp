// What `perf stat -x` writes: value, unit, event, run time, share, ...; -I puts a time stamp first,
// -A and --per-* a place. An event's own commas are not quoted, so fields are told by their
// meaning.
#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "metric/counts_formats.hpp"

namespace loft::metric {
namespace {

struct Row {
  double stamp = 0;  // seconds; 0 without -I
  std::string value;
  std::string unit;
  std::string event;
  double running = 0;  // seconds
  double share = 1;
};

bool is_count(std::string_view text) {
  return parse_number(text).has_value() || text == "<not counted>" || text == "<not supported>";
}

// "cpu/event=0x3c,umask=0x1/" was split at its comma: fields are joined until slashes balance.
std::vector<std::string> with_whole_events(std::vector<std::string> fields) {
  std::vector<std::string> whole;
  for (std::string& field : fields) {
    const bool open = !whole.empty() && whole.back().find('/') != std::string::npos &&
                      whole.back().find('/') == whole.back().rfind('/') &&
                      whole.back().find('=') != std::string::npos;
    if (open) {
      whole.back() += "," + field;
    } else {
      whole.push_back(std::move(field));
    }
  }
  return whole;
}

// Where the count stands: first, or behind a time stamp, a place, a number of CPUs.
std::optional<std::size_t> count_position(const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i + 2 < fields.size() && i < 4; ++i) {
    const bool name_follows = !fields[i + 2].empty() && !is_count(fields[i + 2]);
    const bool unit_follows = !parse_number(fields[i + 1]).has_value();
    if (is_count(fields[i]) && name_follows && unit_follows) return i;
  }
  return std::nullopt;
}

std::optional<Row> parse_row(std::vector<std::string> fields) {
  fields = with_whole_events(std::move(fields));
  const auto at = count_position(fields);
  if (!at) return std::nullopt;
  Row row;
  if (*at > 0)
    if (const auto stamp = parse_number(fields[0])) row.stamp = stamp->as_double();
  row.value = fields[*at];
  row.unit = fields[*at + 1];
  row.event = fields[*at + 2];
  const auto number = [&](std::size_t offset, double otherwise) {
    if (*at + offset >= fields.size()) return otherwise;
    const auto value = parse_number(fields[*at + offset]);
    return value ? value->as_double() : otherwise;
  };
  row.running = number(3, 0) * 1e-9;
  row.share = number(4, 100) / 100;
  return row;
}

// All rows of one event: intervals, or the places of -A, to be summed.
struct Series {
  std::vector<Row> rows;

  [[nodiscard]] Quantity total() const {
    Quantity sum{Number{}, sample::Origin::counted, {}};
    for (const Row& row : rows) {
      const auto origin = row.share < 1 ? sample::Origin::scaled : sample::Origin::counted;
      const Quantity part = quantity_of(row.value, row.unit, origin);
      if (part.origin == sample::Origin::missing) return part;
      const auto added = add(sum.value, part.value);
      if (!added) return Quantity::missing("the sum is too large");
      sum.value = *added;
      if (origin == sample::Origin::scaled) sum.origin = origin;
    }
    return sum;
  }
};

// Events that ran for the same time in every interval were one group.
std::vector<GroupWindows> windows_of(const std::map<std::string, Series>& series) {
  std::map<std::vector<double>, GroupWindows> groups;
  for (const auto& [event, rows] : series) {
    std::vector<double> key;
    bool multiplexed = false;
    bool whole = true;
    for (const Row& row : rows.rows) {
      key.push_back(row.stamp);
      key.push_back(row.running);
      multiplexed = multiplexed || row.share < 1;
      whole = whole && row.share > 0 && parse_number(row.value).has_value();
    }
    if (!multiplexed || !whole || rows.rows.size() < kFewestWindows) continue;
    GroupWindows& group = groups[key];
    group.events.push_back(event);
    group.windows.resize(rows.rows.size());
    group.enabled = 0;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const Row& row = rows.rows[i];
      const Quantity value = quantity_of(row.value, row.unit, sample::Origin::scaled);
      group.windows[i].running = row.running;
      group.windows[i].counts.push_back(value.value.as_double() * row.share);
      group.enabled += row.running / row.share;
    }
  }
  std::vector<GroupWindows> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

}  // namespace

Result<CountsFile> read_perf_counts(const std::string& file_name, std::string_view text,
                                    char separator) {
  std::map<std::string, Series> series;
  double last = 0;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view body = trim(line);
    if (body.empty() || body[0] == '#') continue;
    const auto row = parse_row(csv_fields(body, separator));
    if (!row) {
      // Lines with only a metric (an empty count) carry nothing that was counted.
      if (body[0] == separator ||
          body.find(fmt::format("{0}{0}{0}", separator)) != std::string_view::npos)
        continue;
      return bad_counts(file_name, number, "value, unit and event of perf stat -x were expected");
    }
    last = std::max(last, row->stamp);
    series[row->event].rows.push_back(*row);
  }
  CountsFile file;
  file.format = "perf stat";
  for (const auto& [event, rows] : series) file.total.add(event, rows.total());
  if (const auto duration = series.find("duration_time"); duration != series.end()) {
    Quantity time = duration->second.total();
    time.value =
        Number::real(time.value.as_double() * (duration->second.rows[0].unit == "ns" ? 1 : 1e-9));
    file.total.add("time", std::move(time));
  } else if (last > 0) {
    file.total.add("time", Quantity::exact(Number::real(last)));
  }
  file.windows = windows_of(series);
  return file;
}

}  // namespace loft::metric
