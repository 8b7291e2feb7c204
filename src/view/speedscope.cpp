#include <fmt/format.h>

#include <unordered_map>

#include "view/json_text.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

// The samples of one thread and one event, in order of time.
void write_thread(const sample::NamedProfile& profile,
                  std::span<const sample::TimelineEntry> entries, std::uint32_t event,
                  std::string& out) {
  const auto& info = profile.events[event];
  const auto comm = profile.history.comm_at(entries.front().tid, ~std::uint64_t{0});
  std::string samples;
  std::string weights;
  std::uint64_t whole = 0;
  for (const auto& entry : entries) {
    if (entry.event != event) continue;
    samples += samples.empty() ? "[" : ",[";
    const char* comma = "";
    for (const auto function : profile.path_to(entry.node)) {
      samples += comma;
      append_number(samples, function);
      comma = ",";
    }
    samples += ']';
    if (!weights.empty()) weights += ',';
    const std::uint64_t weight = info.period_is_known ? entry.period : 1;
    append_number(weights, weight);
    whole += weight;
  }
  if (samples.empty()) return;
  if (out.back() == '}') out += ',';
  out += fmt::format(
      "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},"
      "\"samples\":[{}],\"weights\":[{}]}}",
      json_text(
          fmt::format("{} {} ({})", profile.history.names()[comm], entries.front().tid, info.name)),
      info.is_time ? "nanoseconds" : "none", whole, samples, weights);
}

}  // namespace

std::string speedscope_json(const sample::NamedProfile& profile) {
  std::string out =
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"loft\","
      "\"name\":" +
      json_text(profile.summary.path) + ",\"shared\":{\"frames\":[";
  for (std::uint32_t function = 0; function < profile.locations.function_count(); ++function) {
    if (function != 0) out += ',';
    out += "{\"name\":" + json_text(profile.function_name(function)) +
           ",\"file\":" + json_text(profile.binary_path(function)) + "}";
  }
  out += "]},\"profiles\":[";
  const std::span<const sample::TimelineEntry> all(profile.result.timeline);
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].tid == all[first].tid) ++end;
    for (const auto event : profile.used_events())
      write_thread(profile, all.subspan(first, end - first), event, out);
    first = end;
  }
  return out + "]}\n";
}

}  // namespace loft::view
