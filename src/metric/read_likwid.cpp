// LIKWID's group files: counters with their events, then formulas over counter names.
//
// A label such as "Memory bandwidth [MBytes/s]" becomes the name Memory_bandwidth with its unit;
// the formula's value is in that unit already, so it is brought to base units by one more factor.
// Of two labels that differ in the unit alone, the second has it in its name.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

std::string name_of_label(std::string_view label) {
  std::string name;
  for (const char c : label) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

// ":EDGEDETECT:THRESHOLD=0x4" in libpfm4's words: ":e:c=0x4".
std::string event_options(std::string_view options) {
  std::string text;
  for (const std::string_view option : split(options, ':')) {
    if (option.empty()) continue;
    text += ':';
    if (option == "EDGEDETECT") {
      text += 'e';
    } else if (option == "INVERT") {
      text += 'i';
    } else if (option.starts_with("THRESHOLD=")) {
      text += "c=" + std::string(option.substr(option.find('=') + 1));
    } else {
      text += option;
    }
  }
  return text;
}

// "MEM" of ".../zen3/MEM.txt".
std::string group_of_file(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

class LikwidReader {
 public:
  explicit LikwidReader(const std::string& name) {
    file_.name = name;
    group_ = group_of_file(name);
  }

  MetricFile read(std::string_view text) {
    for (const std::string_view whole : split(text, '\n')) {
      ++line_;
      raw_ = whole;
      const std::string_view line = trim(whole);
      if (line.starts_with("LONG")) break;  // prose from here on
      if (line.empty() || line[0] == '#') continue;
      if (line.starts_with("SHORT")) continue;
      if (line == "EVENTSET" || line == "METRICS" || line == "REQUIRE_NOHT") {
        section_ = std::string(line);
      } else if (section_ == "EVENTSET") {
        event(line);
      } else if (section_ == "METRICS") {
        metric(line);
      } else {
        complain(line, "EVENTSET or METRICS was expected before this line");
      }
    }
    if (section_ != "METRICS") file_.complain(line_, 0, "there is no METRICS section");
    return std::move(file_);
  }

 private:
  void complain(std::string_view at, std::string text) {
    file_.complain(line_, static_cast<unsigned>(at.data() - raw_.data()) + 1, std::move(text));
  }

  // "PMC3:EDGEDETECT EVENT": in formulas the counter stands with or without its options.
  void event(std::string_view line) {
    const auto blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) {
      complain(line, "'COUNTER EVENT' was expected");
      return;
    }
    const std::string_view counter = line.substr(0, blank);
    std::string name(trim(line.substr(blank)));
    const auto colon = std::min(counter.find(':'), counter.size());
    name += event_options(counter.substr(colon));
    events_[std::string(counter)] = name;
    events_.emplace(std::string(counter.substr(0, colon)), name);
  }

  void metric(std::string_view line) {
    // A formula has no brackets, but some have blanks.
    const auto unit_end = line.rfind(']');
    const auto blank = unit_end != std::string_view::npos ? unit_end + 1 : line.find_last_of(" \t");
    if (blank == std::string_view::npos || blank >= line.size()) {
      complain(line, "'LABEL FORMULA' was expected");
      return;
    }
    const std::string_view text = trim(line.substr(blank));
    auto formula = parse_infix(text, Dialect::likwid);
    if (!formula) {
      file_.complain(line_, static_cast<std::size_t>(text.data() - raw_.data()), formula.error());
      return;
    }
    for (std::string& name : formula->names)
      if (const auto known = events_.find(name); known != events_.end()) name = known->second;
    define(trim(line.substr(0, blank)), *std::move(formula));
  }

  void define(std::string_view label, Formula formula) {
    Definition definition;
    definition.description = std::string(label);
    const std::string_view whole = label;
    if (const auto open = label.rfind('[');
        open != std::string_view::npos && label.ends_with(']')) {
      if (auto unit = parse_unit(label.substr(open + 1, label.size() - open - 2))) {
        definition.unit = *std::move(unit);
        label = trim(label.substr(0, open));
      }
    }
    definition.name = group_ + "." + name_of_label(label);
    if (std::ranges::any_of(file_.definitions,
                            [&](const auto& each) { return each.name == definition.name; }))
      definition.name = group_ + "." + name_of_label(whole);
    if (definition.unit && definition.unit->factor != 1) {
      formula.push_number(Number::integer(1), definition.unit, 0);
      formula.push(Op::multiply, 0);
    }
    definition.formula = std::move(formula);
    definition.group = group_;
    definition.place = {file_.name, line_, 1};
    file_.define(std::move(definition));
  }

  MetricFile file_;
  std::string group_;
  std::string section_;
  std::map<std::string, std::string, std::less<>> events_;
  std::string_view raw_;
  unsigned line_ = 0;
};

}  // namespace

MetricFile read_likwid(const std::string& file_name, std::string_view text) {
  return LikwidReader(file_name).read(text);
}

}  // namespace loft::metric
