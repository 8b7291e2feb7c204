#include "metric/counts_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "metric/counts_formats.hpp"

namespace loft::metric {
namespace {

struct Line {
  std::size_t number = 0;
  std::vector<std::string> fields;
};

std::vector<Line> lines_of(std::string_view text, char separator) {
  std::vector<Line> lines;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view body = trim(line);
    if (!body.empty() && body[0] != '#') lines.push_back({number, csv_fields(body, separator)});
  }
  return lines;
}

std::size_t position(const std::vector<std::string>& header, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
}

sample::Origin origin_of(std::string_view kind) {
  for (const auto origin :
       {sample::Origin::scaled, sample::Origin::modelled, sample::Origin::missing})
    if (kind == sample::to_string(origin)) return origin;
  return sample::Origin::counted;
}

// What loft stat writes: scope,part,event,value,unit,kind,running,why. A header "name,value" is the
// same without the rest.
Result<CountsFile> read_long(const std::string& file_name, const std::vector<Line>& lines,
                             std::size_t name, std::size_t value) {
  const std::vector<std::string>& header = lines[0].fields;
  const std::size_t unit = position(header, "unit");
  const std::size_t kind = position(header, "kind");
  const std::size_t scope = position(header, "scope");
  const std::size_t why = position(header, "why");
  CountsFile file;
  file.format = "loft stat CSV";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto field = [&](std::size_t at) -> std::string_view {
      return at < lines[i].fields.size() ? std::string_view(lines[i].fields[at]) : "";
    };
    if (!field(scope).empty() && field(scope) != "run") continue;
    if (field(name).empty()) return bad_counts(file_name, lines[i].number, "an event has no name");
    Quantity quantity = quantity_of(field(value), field(unit), origin_of(field(kind)));
    if (quantity.origin == sample::Origin::missing && !field(why).empty())
      quantity.why = field(why);
    file.total.add(std::string(field(name)), std::move(quantity));
  }
  return file;
}

// Lines of a name and a value, without a header.
bool are_pairs(const std::vector<Line>& lines) {
  return std::ranges::all_of(lines, [](const Line& line) {
    return line.fields.size() == 2 && !parse_number(line.fields[0]) &&
           (parse_number(line.fields[1]) || line.fields[1].empty());
  });
}

Result<CountsFile> read_pairs(const std::string& file_name, const std::vector<Line>& lines) {
  CountsFile file;
  file.format = "name,value";
  for (const Line& line : lines) {
    if (line.fields[0].empty()) return bad_counts(file_name, line.number, "an event has no name");
    file.total.add(line.fields[0], quantity_of(line.fields[1], {}, sample::Origin::counted));
  }
  return file;
}

Result<CountsFile> read_table(const std::string& file_name, const std::vector<Line>& lines) {
  CountsFile file;
  file.format = "table";
  file.rows = lines.size() - 1;
  for (const std::string& name : lines[0].fields) {
    if (name.empty()) return bad_counts(file_name, lines[0].number, "a column has no name");
    if (file.find_column(name) != nullptr)
      return bad_counts(file_name, lines[0].number,
                        fmt::format("two columns are called '{}'", name));
    file.columns.push_back({name, std::vector<double>(file.rows), {}});
  }
  for (std::size_t row = 0; row < file.rows; ++row) {
    const Line& line = lines[row + 1];
    if (line.fields.size() != file.columns.size())
      return bad_counts(file_name, line.number,
                        fmt::format("{} fields stand below {} column names", line.fields.size(),
                                    file.columns.size()));
    for (std::size_t c = 0; c < file.columns.size(); ++c) {
      const auto number = parse_number(line.fields[c]);
      file.columns[c].numbers[row] =
          number ? number->as_double() : std::numeric_limits<double>::quiet_NaN();
      if (!number && !line.fields[c].empty() && file.columns[c].texts.empty())
        file.columns[c].texts.resize(file.rows);
      if (!file.columns[c].texts.empty()) file.columns[c].texts[row] = line.fields[c];
    }
  }
  // A column that turned out to be text has its earlier cells as text too.
  for (std::size_t c = 0; c < file.columns.size(); ++c)
    for (std::size_t row = 0; row < file.columns[c].texts.size(); ++row)
      file.columns[c].texts[row] = lines[row + 1].fields[c];
  return file;
}

char separator_of(std::string_view line) {
  for (const char separator : {',', ';', '\t'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ',';
}

// perf stat -x has no header: its first field is a count, a time stamp or "<not counted>".
bool looks_like_perf(const std::vector<std::string>& fields) {
  if (fields.size() < 4) return false;
  return parse_number(trim(fields[0])).has_value() || fields[0].starts_with("<not ");
}

}  // namespace

Failure bad_counts(const std::string& file_name, std::size_t line, std::string why) {
  return failure(ErrorKind::malformed, fmt::format("read counts from '{}'", file_name),
                 fmt::format("line {}: {}", line, why));
}

std::vector<std::string> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) field = std::string(trim(field));
  return fields;
}

Quantity quantity_of(std::string_view value, std::string_view unit, sample::Origin origin) {
  if (origin == sample::Origin::missing) return Quantity::missing("not counted");
  const auto number = parse_number(trim(value));
  if (!number) return Quantity::missing(value.empty() ? "not counted" : std::string(trim(value)));
  Literal literal{*number, std::nullopt};
  if (auto known = parse_unit(unit)) literal.unit = *std::move(known);
  return {in_base_units(literal), origin, {}};
}

const Column* CountsFile::find_column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

Result<CountsFile> read_counts(const std::string& file_name, std::string_view text) {
  if (text.find('\0') != std::string_view::npos)
    return bad_counts(file_name, 1, "the file is binary");
  if (trim(text).starts_with('{')) return read_json_counts(file_name, text);
  if (text.find("TABLE,Group") != std::string_view::npos)
    return read_likwid_counts(file_name, text);
  std::string_view rest = text;
  std::string_view first;
  while (first.empty() && !rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    first = trim(rest.substr(0, end));
    if (first.starts_with('#')) first = {};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const char separator = separator_of(first);
  if (looks_like_perf(csv_fields(first, separator)))
    return read_perf_counts(file_name, text, separator);
  const auto lines = lines_of(text, separator);
  if (!lines.empty() && are_pairs(lines)) return read_pairs(file_name, lines);
  if (lines.size() < 2)
    return bad_counts(file_name, 1, "a header and at least one row were expected");
  const std::vector<std::string>& header = lines[0].fields;
  const std::size_t value = position(header, "value");
  const std::size_t name = std::min(position(header, "event"), position(header, "name"));
  if (value < header.size() && name < header.size())
    return read_long(file_name, lines, name, value);
  return read_table(file_name, lines);
}

}  // namespace loft::metric
