#include "sample/counting.hpp"

#include <array>
#include <utility>

namespace loft::sample {
namespace {

constexpr std::array<std::pair<Source, const char*>, 4> kNames{{
    {Source::perf_events, "perf_events"},
    {Source::virtual_pmu, "virtual"},
    {Source::file, "file"},
    {Source::combined, "perf_events+virtual"},
}};

}  // namespace

const char* to_string(Source source) {
  for (const auto& [known, name] : kNames)
    if (known == source) return name;
  return "";
}

std::optional<Source> source_named(std::string_view name) {
  for (const auto& [source, known] : kNames)
    if (known == name) return source;
  return std::nullopt;
}

const char* to_string(ThresholdAction action) {
  switch (action) {
    case ThresholdAction::snapshot:
      return "snapshot";
    case ThresholdAction::stop:
      return "stop";
    case ThresholdAction::signal:
      return "signal";
    case ThresholdAction::print:
      return "print";
  }
  return "";
}

}  // namespace loft::sample
