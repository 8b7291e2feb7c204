#include "papi/events.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "engine/classify/events.hpp"
#include "engine/door.hpp"
#include "event/presets.hpp"
#include "papi/interface.h"
#include "papi/presets_text.hpp"

namespace loft::papi {
namespace {

constexpr std::string_view kPrefix = "loft::";

// Cycles are not counted anywhere here. Who asks for an estimate gets the thread's time instead.
bool takes_time_for_cycles() {
  const char* wanted = std::getenv("LOFT_PAPI_CYCLES");
  return wanted != nullptr && std::string_view(wanted) == "time";
}

// "virtual::a + virtual::b - virtual::c"; nothing when one of them is not counted exactly.
std::optional<std::vector<Term>> parse_terms(std::string_view formula) {
  std::vector<Term> terms;
  int factor = 1;
  for (const std::string_view word : split(formula, ' ')) {
    if (word == "+" || word == "-") {
      factor = word == "+" ? 1 : -1;
      continue;
    }
    const auto event = engine::find_event(word);
    if (!event) return std::nullopt;
    terms.push_back({*event, factor});
  }
  return terms;
}

unsigned categories_of(std::string_view name) {
  const auto bit = [](int number) { return 1u << number; };
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  unsigned bits = 0;
  if (has("_L1_")) bits |= bit(PAPI_PRESET_ENUM_L1) | bit(PAPI_PRESET_ENUM_CACH);
  if (has("_L2_")) bits |= bit(PAPI_PRESET_ENUM_L2) | bit(PAPI_PRESET_ENUM_CACH);
  if (has("_L3_")) bits |= bit(PAPI_PRESET_ENUM_L3) | bit(PAPI_PRESET_ENUM_CACH);
  if (has("_CA_")) bits |= bit(PAPI_PRESET_ENUM_CACH);
  if (has("TLB")) bits |= bit(PAPI_PRESET_ENUM_TLB);
  if (has("_BR_") || has("BTAC") || has("BRU")) bits |= bit(PAPI_PRESET_ENUM_BR);
  if (has("_INS") || has("_IIS")) bits |= bit(PAPI_PRESET_ENUM_INS);
  if (has("_IDL")) bits |= bit(PAPI_PRESET_ENUM_IDL);
  if (has("CSR")) bits |= bit(PAPI_PRESET_ENUM_CND);
  if (has("_MEM_")) bits |= bit(PAPI_PRESET_ENUM_MEM);
  if (has("_FP_") || has("_FMA") || has("_FML") || has("_FAD") || has("_FDV") || has("_FSQ") ||
      has("_FNV") || has("_SP_") || has("_DP_") || has("VEC"))
    bits |= bit(PAPI_PRESET_ENUM_FP);
  return bits != 0 ? bits : bit(PAPI_PRESET_ENUM_MSC);
}

// Also for the native event that stands for them.
void count_cycles(Event& preset) {
  if (takes_time_for_cycles()) {
    preset.terms = {{Term::kTime, 1}};
    preset.note =
        "modelled: the thread's own time under loft's engine times the rate of the time stamp "
        "counter, not cycles of a core";
    return;
  }
  preset.why_missing =
      "this machine counts no cycles for the program; LOFT_PAPI_CYCLES=time takes the thread's "
      "time "
      "instead";
}

}  // namespace

bool Event::is_preset() const { return (code & PAPI_PRESET_MASK) != 0; }

Catalogue::Catalogue() {
  if (engine::door::ask(engine::door::Request::hello) != engine::door::kVersion)
    why_disabled_ =
        "the program does not run under loft's engine: start it with 'loft run --papi -- PROGRAM'";
  add_natives();
  add_presets();
  add_user_events();
}

void Catalogue::add_natives() {
  const auto& table = engine::event_table();
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    Event event;
    event.code = PAPI_NATIVE_MASK | i;
    event.name = std::string(kPrefix) + table[i].name;
    event.description = table[i].description;
    event.unit = table[i].unit;
    event.terms = {{i, 1}};
    event.why_missing = why_disabled_;
    natives_.push_back(std::move(event));
  }
  Event cycles;
  cycles.code = PAPI_NATIVE_MASK | static_cast<unsigned>(table.size());
  cycles.name = std::string(kPrefix) + "time_cycles";
  cycles.description = "The thread's own time, in cycles of the time stamp counter (modelled)";
  count_cycles(cycles);
  if (!why_disabled_.empty()) cycles.why_missing = why_disabled_;
  natives_.push_back(std::move(cycles));
}

void Catalogue::add_presets() {
  const auto presets = event::Presets::parse(kPresetsText, "papi-presets.txt");
  if (!presets) return;  // a test parses the same text
  for (const event::Preset& preset : presets->all()) {
    Event event;
    event.code = PAPI_PRESET_MASK | static_cast<unsigned>(presets_.size());
    event.name = preset.name;
    event.description = preset.description;
    event.categories = categories_of(preset.name);
    const auto mapping =
        std::ranges::find(preset.mappings, "virtual", &event::PresetMapping::family);
    std::optional<std::vector<Term>> terms;
    if (mapping != preset.mappings.end())
      terms =
          parse_terms(mapping->formula.empty() ? mapping->alternatives.front() : mapping->formula);
    // The cache is not modelled inside of a run, but every load and store asks it.
    if (!terms && preset.name == "PAPI_L1_DCA") {
      terms = parse_terms("virtual::loads + virtual::stores");
      event.note = "every load and every store";
    }
    if (terms)
      event.terms = *std::move(terms);
    else if (preset.name == "PAPI_TOT_CYC" || preset.name == "PAPI_REF_CYC")
      count_cycles(event);
    else
      event.why_missing =
          mapping != preset.mappings.end()
              ? "a model computes it at the end of a run; 'loft stat --model' shows it"
              : "the virtual PMU does not count it";
    if (!why_disabled_.empty()) event.why_missing = why_disabled_;
    presets_.push_back(std::move(event));
  }
}

// Every name that the user's files have, so that tools can list them.
void Catalogue::add_user_events() {
  for (const std::string& name : metrics_.names()) {
    const auto known = std::ranges::find(users_, name, &Event::name);
    if (known == users_.end()) static_cast<void>(add_user_event(name));
  }
}

// Null when nothing has this name.
const Event* Catalogue::add_user_event(const std::string& name) {
  constexpr std::string_view kDouble = ":fp64";
  const bool is_double = name.ends_with(kDouble);
  const std::string metric = name.substr(0, name.size() - (is_double ? kDouble.size() : 0));
  if (!metrics_.is_known(metric)) return nullptr;
  Event event;
  event.code = (PAPI_PRESET_MASK | PAPI_NATIVE_MASK) | static_cast<unsigned>(users_.size());
  event.name = name;
  event.is_double = is_double;
  if (auto formula = metrics_.find(metric)) {
    event.formula = *std::move(formula);
    event.description = event.formula->description();
    event.unit = event.formula->unit();
    for (const std::uint32_t term : event.formula->terms()) event.terms.push_back({term, 1});
    event.note = is_double ? "user-defined; the bits of a double" : "user-defined; a whole number";
  } else {
    event.why_missing = formula.error().why;
  }
  if (!why_disabled_.empty()) event.why_missing = why_disabled_;
  users_.push_back(std::move(event));
  return &users_.back();
}

Result<void> Catalogue::load(const std::string& path) {
  const std::lock_guard lock(users_mutex_);
  LOFT_CHECK(metrics_.load(path));
  add_user_events();
  return {};
}

const Event* Catalogue::at(int code) const {
  const auto bits = static_cast<unsigned>(code);
  const unsigned kinds = PAPI_PRESET_MASK | PAPI_NATIVE_MASK;
  const unsigned number = bits & ~kinds;
  if ((bits & kinds) == kinds) {
    const std::lock_guard lock(users_mutex_);
    return number < users_.size() ? &users_[number] : nullptr;
  }
  const auto& list = (bits & kinds) == PAPI_PRESET_MASK ? presets_ : natives_;
  const bool is_known = (bits & kinds) == PAPI_PRESET_MASK || (bits & kinds) == PAPI_NATIVE_MASK;
  return is_known && number < list.size() ? &list[number] : nullptr;
}

const Event* Catalogue::find_counted(std::string_view name) const {
  if (const auto preset = std::ranges::find(presets_, name, &Event::name); preset != presets_.end())
    return &*preset;
  if (name == natives_.back().name) return &natives_.back();
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto native = engine::find_event(name);
  return native ? &natives_[*native] : nullptr;
}

const Event* Catalogue::find(std::string_view name) {
  if (const Event* counted = find_counted(name)) return counted;
  const std::lock_guard lock(users_mutex_);
  if (metrics_.load_those_of_libloft()) add_user_events();
  const auto known = std::ranges::find(users_, name, &Event::name);
  return known != users_.end() ? &*known : add_user_event(std::string(name));
}

std::size_t Catalogue::user_count() const {
  const std::lock_guard lock(users_mutex_);
  return users_.size();
}

void Catalogue::disable() {
  why_disabled_ = "the program has disabled it";
  for (auto* events : {&presets_, &natives_})
    for (Event& event : *events) event.why_missing = why_disabled_;
}

Catalogue& catalogue() {
  static Catalogue& all = *new Catalogue();  // programs stop sets when they end, in any order
  return all;
}

}  // namespace loft::papi
