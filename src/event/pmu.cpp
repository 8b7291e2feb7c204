#include "event/pmu.hpp"

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/grammar.hpp"

namespace loft::event {
namespace {

constexpr std::string_view kDevices = "/sys/bus/event_source/devices";
constexpr std::size_t kLargestSysfsFile = 1 << 16;

// Terms that every PMU has, whatever its format/ says.
constexpr std::string_view kWords[] = {"config", "config1", "config2", "config3"};

// Files of events/ that describe an event and are none themselves.
constexpr std::string_view kSuffixes[] = {".scale", ".unit", ".snapshot", ".per-pkg"};

// Names come from a command line and become parts of paths.
bool is_safe_path_part(std::string_view name) {
  return !name.empty() && name.size() < 256 && name.front() != '.' &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

bool is_description(std::string_view file) {
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                     [&](std::string_view suffix) { return file.ends_with(suffix); });
}

Failure bad_format(std::string_view text) {
  return failure(ErrorKind::malformed, "read the format " + in_quotes(text),
                 "it is not of the form config:0-7,32");
}

std::array<std::uint64_t*, 3> words_of(Event& event) {
  return {&event.encoding.config, &event.encoding.config1, &event.encoding.config2};
}

// Puts the low bits of `value` into the field's ranges; what was there before is replaced.
void store(const BitField& field, std::uint64_t value, Event& event) {
  std::uint64_t& word = *words_of(event)[static_cast<std::size_t>(field.word)];
  for (const auto& [first, last] : field.bit_ranges) {
    const int width = last - first + 1;
    const std::uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
    word = (word & ~(mask << first)) | (value & mask) << first;
    value = width == 64 ? 0 : value >> width;
  }
}

std::string trimmed_line(const std::string& path) {
  const auto line = read_line(path);
  return line ? std::string(trim(*line)) : std::string();
}

}  // namespace

Result<BitField> BitField::parse(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return bad_format(text);
  const auto* word = std::find(std::begin(kWords), std::end(kWords), text.substr(0, colon));
  if (word == std::end(kWords)) return bad_format(text);
  BitField field;
  field.word = static_cast<int>(word - std::begin(kWords));
  for (const std::string_view range : split(text.substr(colon + 1), ',')) {
    const auto dash = range.find('-');
    const auto first = parse_u64(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last > 63) return bad_format(text);
    field.bit_ranges.emplace_back(static_cast<int>(*first), static_cast<int>(*last));
  }
  if (field.width() > 64) return bad_format(text);
  return field;
}

int BitField::width() const {
  int bits = 0;
  for (const auto& [first, last] : bit_ranges) bits += last - first + 1;
  return bits;
}

std::vector<std::string> Pmu::event_names() const {
  auto names = list_directory(folder_ + "/events");
  if (!names) return {};
  std::erase_if(*names, [](const std::string& name) { return is_description(name); });
  return *std::move(names);
}

bool Pmu::has_event(std::string_view event) const {
  return is_safe_path_part(event) && !is_description(event) &&
         file_exists(folder_ + "/events/" + std::string(event));
}

Result<Event> Pmu::encode(std::string_view terms) const {
  Event event;
  event.encoding.pmu = name_;
  event.encoding.type = type_;
  event.cpus = cpus_;
  LOFT_CHECK(apply(terms, event, false));
  return event;
}

Result<void> Pmu::apply(std::string_view terms, Event& event, bool inside_alias) const {
  if (trim(terms).empty()) return {};  // "pmu//" is the PMU's event 0, as for perf
  std::vector<std::pair<std::string_view, std::optional<std::string_view>>> pairs;
  for (const std::string_view piece : split(terms, ',')) {
    const std::string_view term = trim(piece);
    const auto equals = term.find('=');
    if (equals == std::string_view::npos) {
      pairs.emplace_back(term, std::nullopt);
    } else {
      pairs.emplace_back(term.substr(0, equals), term.substr(equals + 1));
    }
  }
  // A named event first, so that terms beside it can change it wherever they stand.
  std::stable_partition(pairs.begin(), pairs.end(), [&](const auto& pair) {
    return !pair.second && !inside_alias && has_event(pair.first);
  });
  const auto is_given_later = [&](std::string_view key, const auto* self) {
    return std::any_of(pairs.begin(), pairs.end(),
                       [&](const auto& pair) { return &pair > self && pair.first == key; });
  };
  for (const auto& pair : pairs) {
    if (is_given_later(pair.first, &pair))
      return failure(ErrorKind::invalid_input,
                     "encode " + in_quotes(name_ + "/" + std::string(terms) + "/"),
                     "the term " + in_quotes(pair.first) + " stands there twice");
    LOFT_CHECK(apply_term(pair.first, pair.second, event, inside_alias));
  }
  return {};
}

Result<void> Pmu::apply_term(std::string_view key, std::optional<std::string_view> value,
                             Event& event, bool inside_alias) const {
  if (!is_safe_path_part(key)) return unknown_term(key);
  if (!value && !inside_alias && has_event(key)) return apply_alias(key, event);

  const std::string what = "encode the term " + in_quotes(key) + " of the PMU " + in_quotes(name_);
  BitField field;
  if (const auto* word = std::find(std::begin(kWords), std::end(kWords), key);
      word != std::end(kWords)) {
    field = {static_cast<int>(word - std::begin(kWords)), {{0, 63}}};
  } else {
    const auto format = read_file(folder_ + "/format/" + std::string(key), kLargestSysfsFile);
    if (!format) return unknown_term(key);
    LOFT_TRY(field, BitField::parse(trim(*format)));
  }
  if (field.word > 2)
    return failure(ErrorKind::unsupported, what, "it needs config3, which loft does not pass on",
                   "use an event without this term");
  if (value == "?")
    return failure(ErrorKind::invalid_input, what, "the event leaves its value open",
                   "write the terms of the event yourself, with a value for this one");
  const auto number = value ? parse_u64(*value) : std::optional<std::uint64_t>(1);
  if (!number)
    return failure(ErrorKind::invalid_input, what, in_quotes(*value) + " is not a number",
                   "write a decimal number, or a hexadecimal one behind 0x");
  const int width = field.width();
  if (width < 64 && *number >> width != 0)
    return failure(
        ErrorKind::invalid_input, what,
        std::to_string(*number) + " does not fit its " + std::to_string(width) + " bits");
  store(field, *number, event);
  return {};
}

Result<void> Pmu::apply_alias(std::string_view alias, Event& event) const {
  const std::string path = folder_ + "/events/" + std::string(alias);
  LOFT_TRY(const std::string content, read_file(path, kLargestSysfsFile));
  LOFT_CHECK(apply(trim(content), event, true));
  event.unit = trimmed_line(path + ".unit");
  const std::string scale = trimmed_line(path + ".scale");
  if (scale.empty()) return {};
  const auto factor = parse_double(scale);
  if (!factor)
    return failure(ErrorKind::malformed, "read '" + path + ".scale'",
                   in_quotes(scale) + " is not a number");
  event.scale = *factor;
  return {};
}

Failure Pmu::unknown_term(std::string_view key) const {
  std::vector<std::string> known;
  if (const auto formats = list_directory(folder_ + "/format")) known = *formats;
  std::string hint = known.empty() ? "it takes config, config1 and config2 alone"
                                   : "its terms are " + join(known, ", ");
  const auto events = event_names();
  known.insert(known.end(), events.begin(), events.end());
  const auto near = nearest(key, known);
  if (!near.empty()) hint = "did you mean " + join(near, ", ") + "?";
  return failure(ErrorKind::not_found, "encode for the PMU " + in_quotes(name_),
                 "it has no term and no event " + in_quotes(key), hint);
}

const std::vector<std::string>& PmuTable::names() {
  if (!names_) names_ = list_directory(root_.at(kDevices)).value_or(std::vector<std::string>{});
  return *names_;
}

Result<Pmu> PmuTable::find(std::string_view name) {
  const std::string what = "find the PMU " + in_quotes(name);
  const std::string folder = join_path(root_.at(kDevices), name);
  if (!is_safe_path_part(name) || !file_exists(folder)) {
    const auto near = nearest(name, names());
    return failure(ErrorKind::not_found, what, "this machine has none of this name",
                   near.empty() ? "the PMUs here are " + join(names(), ", ")
                                : "did you mean " + join(near, ", ") + "?");
  }
  Pmu pmu(folder, std::string(name));
  LOFT_TRY(const std::string type, read_line(folder + "/type"));
  const auto number = parse_u64(trim(type));
  if (!number || *number > 0x7FFFFFFF)
    return failure(ErrorKind::malformed, what, "its type " + in_quotes(type) + " is not a number");
  pmu.type_ = static_cast<std::uint32_t>(*number);
  if (const std::string mask = trimmed_line(folder + "/cpumask"); !mask.empty()) {
    LOFT_TRY(pmu.cpus_, parse_cpu_list(mask));
  }
  return pmu;
}

const std::vector<std::string>& PmuTable::core_names() {
  if (cores_) return *cores_;
  cores_.emplace();
  for (const std::string& name : names())
    // x86 and RISC-V call it cpu; on hybrids and on Arm each names its CPUs; IBM Z has cpum_cf.
    if (name == "cpu" || name == "cpum_cf" ||
        file_exists(join_path(root_.at(kDevices), name) + "/cpus"))
      cores_->push_back(name);
  return *cores_;
}

std::vector<std::string> PmuTable::matching(std::string_view name) {
  const auto& all = names();
  if (std::find(all.begin(), all.end(), name) != all.end()) return {std::string(name)};
  std::vector<std::string> found;
  for (const std::string& candidate : all) {
    const std::string_view stem = pmu_stem(candidate);
    if (stem.size() == candidate.size()) continue;  // not one of several
    if (stem == name || (stem.starts_with("uncore_") && stem.substr(7) == name))
      found.push_back(candidate);
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);  // 2 before 10
  });
  return found;
}

std::string_view pmu_stem(std::string_view name) {
  const auto digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 == name.size()) return name;
  return name[digits] == '_' && digits > 0 ? name.substr(0, digits) : name;
}

}  // namespace loft::event
