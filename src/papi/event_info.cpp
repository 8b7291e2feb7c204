// Names, codes and descriptions of events through PAPI's functions.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "papi/events.hpp"
#include "papi/interface.h"
#include "papi/library.hpp"

namespace loft::papi {
namespace {

template <std::size_t Size>
void copy_text(char (&to)[Size], std::string_view text) {
  const std::size_t length = std::min(text.size(), Size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// PAPI writes presets of several native events as "N0|N1|+|N2|-|".
void describe_terms(const Event& event, PAPI_event_info_t& info) {
  const std::size_t count = std::min<std::size_t>(event.terms.size(), PAPI_MAX_INFO_TERMS);
  info.count = static_cast<unsigned>(count);
  std::string postfix;
  bool is_sum = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Term& term = event.terms[i];
    const auto& natives = catalogue().natives();
    const Event& native = term.event == Term::kTime ? natives.back() : natives[term.event];
    info.code[i] = native.code;
    copy_text(info.name[i], native.name);
    postfix += "N" + std::to_string(i) + "|";
    if (i > 0) postfix += term.factor > 0 ? "+|" : "-|";
    is_sum = is_sum && term.factor > 0;
  }
  copy_text(info.derived, count == 1   ? "NOT_DERIVED"
                          : is_sum     ? "DERIVED_ADD"
                          : count == 2 ? "DERIVED_SUB"
                                       : "DERIVED_POSTFIX");
  if (count > 2 && !is_sum) copy_text(info.postfix, postfix);
}

// The next event of a list behind `code`, of those that `modifier` asks for.
int next_in(const std::vector<Event>& list, int& code, int modifier) {
  const auto matches = [&](const Event& event) {
    if (modifier == PAPI_PRESET_ENUM_AVAIL) return event.is_available();
    if (modifier >= PAPI_PRESET_ENUM_MSC && modifier <= PAPI_PRESET_ENUM_FP)
      return (event.categories >> modifier & 1) != 0;
    return true;
  };
  const unsigned kinds = PAPI_PRESET_MASK | PAPI_NATIVE_MASK;
  std::size_t next =
      modifier == PAPI_ENUM_FIRST ? 0 : (static_cast<unsigned>(code) & ~kinds) + std::size_t{1};
  while (next < list.size() && !matches(list[next])) ++next;
  if (next >= list.size()) return PAPI_ENOEVNT;
  code = static_cast<int>(list[next].code);
  return PAPI_OK;
}

int next_user_event(int& code, int modifier) {
  const unsigned kinds = PAPI_PRESET_MASK | PAPI_NATIVE_MASK;
  unsigned next = modifier == PAPI_ENUM_FIRST ? 0 : (static_cast<unsigned>(code) & ~kinds) + 1;
  const auto is_left_out = [&] {
    const Event* event = catalogue().at(static_cast<int>(kinds | next));
    return event != nullptr && modifier == PAPI_PRESET_ENUM_AVAIL && !event->is_available();
  };
  while (is_left_out()) ++next;
  if (next >= catalogue().user_count()) return PAPI_ENOEVNT;
  code = static_cast<int>(kinds | next);
  return PAPI_OK;
}

}  // namespace
}  // namespace loft::papi

using namespace loft::papi;

extern "C" {

PAPI_EXPORT int PAPI_query_event(int code) {
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  const Event* event = catalogue().at(code);
  if (event == nullptr && (static_cast<unsigned>(code) & PAPI_PRESET_MASK) != 0)
    return PAPI_ENOTPRESET;
  return event != nullptr && event->is_available() ? PAPI_OK : PAPI_ENOEVNT;
}

PAPI_EXPORT int PAPI_event_name_to_code(const char* name, int* code) {
  if (name == nullptr || code == nullptr) return PAPI_EINVAL;
  if (check_started() != PAPI_OK) return PAPI_ENOINIT;
  const Event* event = catalogue().find(name);
  if (event == nullptr) return PAPI_ENOEVNT;
  *code = static_cast<int>(event->code);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_query_named_event(const char* name) {
  int code = 0;
  const int error = PAPI_event_name_to_code(name, &code);
  return error != PAPI_OK ? error : PAPI_query_event(code);
}

PAPI_EXPORT int PAPI_event_code_to_name(int code, char* name) {
  if (name == nullptr) return PAPI_EINVAL;
  const Event* event = catalogue().at(code);
  if (event == nullptr)
    return (static_cast<unsigned>(code) & PAPI_PRESET_MASK) != 0 ? PAPI_ENOTPRESET : PAPI_ENOEVNT;
  const std::size_t length = std::min<std::size_t>(event->name.size(), PAPI_MAX_STR_LEN - 1);
  std::memcpy(name, event->name.data(), length);
  name[length] = '\0';
  return PAPI_OK;
}

// A preset that cannot be counted has no terms, and its note says why.
PAPI_EXPORT int PAPI_get_event_info(int code, PAPI_event_info_t* info) {
  if (info == nullptr) return PAPI_EINVAL;
  const Event* event = catalogue().at(code);
  if (event == nullptr)
    return (static_cast<unsigned>(code) & PAPI_PRESET_MASK) != 0 ? PAPI_ENOTPRESET : PAPI_ENOEVNT;
  *info = PAPI_event_info_t{};
  info->event_code = event->code;
  copy_text(info->symbol, event->name);
  copy_text(info->short_descr, event->description);
  copy_text(info->long_descr, event->description);
  copy_text(info->units, event->unit);
  copy_text(info->note, event->is_available() ? event->note : event->why_missing);
  info->event_type = event->categories;
  if (event->is_preset() && event->is_available()) describe_terms(*event, *info);
  return PAPI_OK;
}

PAPI_EXPORT int PAPI_enum_event(int* code, int modifier) {
  if (code == nullptr) return PAPI_EINVAL;
  const auto bits = static_cast<unsigned>(*code);
  const bool is_preset = (bits & PAPI_PRESET_MASK) != 0;
  if (modifier > PAPI_PRESET_ENUM_FP) return PAPI_ENOEVNT;
  if (!is_preset && (bits & PAPI_NATIVE_MASK) == 0) return PAPI_EINVAL;
  const Catalogue& all = catalogue();
  if (is_preset && (bits & PAPI_NATIVE_MASK) != 0) return next_user_event(*code, modifier);
  if (!is_preset && !all.why_disabled().empty()) return PAPI_ENOEVNT;
  return next_in(is_preset ? all.presets() : all.natives(), *code, modifier);
}

PAPI_EXPORT int PAPI_enum_cmp_event(int* code, int modifier, int component) {
  return component == 0 ? PAPI_enum_event(code, modifier) : PAPI_ENOCMP;
}

PAPI_EXPORT int PAPI_get_event_component(int code) {
  return catalogue().at(code) != nullptr ? 0 : PAPI_ENOEVNT;
}

}  // extern "C"
