#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "view/json_text.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

// The samples of one thread and one event, in order of time. What was in one place for several
// samples is said once, with their weight.
class ThreadWriter {
 public:
  ThreadWriter(const sample::NamedProfile& profile, const TextSink& write)
      : profile_(profile), write_(write) {}

  bool write(std::span<const sample::TimelineEntry> entries, std::uint32_t event) {
    const bool by_period = profile_.events[event].period_is_known;
    std::optional<sample::Trie::NodeId> node;
    std::uint64_t weight = 0;
    std::uint64_t whole = 0;
    weights_.clear();
    for (const auto& entry : entries) {
      if (entry.event != event) continue;
      if (!node) start(entries.front().tid, event);
      if (node && *node != entry.node && !add(*node, std::exchange(weight, 0))) return false;
      node = entry.node;
      weight += by_period ? entry.period : 1;
      whole += by_period ? entry.period : 1;
    }
    if (!node) return true;
    if (!add(*node, weight)) return false;
    text_ += fmt::format("],\"weights\":[{}],\"endValue\":{}}}", weights_, whole);
    return flush();
  }

 private:
  void start(std::uint32_t tid, std::uint32_t event) {
    const auto& info = profile_.events[event];
    const auto comm = profile_.history.comm_at(tid, ~std::uint64_t{0});
    if (!std::exchange(is_first_, false)) text_ += ',';
    text_ += fmt::format(
        "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{}\",\"startValue\":0,\"samples\":[",
        json_text(fmt::format("{} {} ({})", profile_.history.names()[comm], tid, info.name)),
        info.is_time ? "nanoseconds" : "none");
  }

  bool add(sample::Trie::NodeId node, std::uint64_t weight) {
    constexpr std::size_t kPiece = 1u << 20;
    text_ += weights_.empty() ? "[" : ",[";
    const char* comma = "";
    for (const auto function : profile_.path_to(node)) {
      text_ += comma;
      append_number(text_, function);
      comma = ",";
    }
    text_ += ']';
    if (!weights_.empty()) weights_ += ',';
    append_number(weights_, weight);
    return text_.size() < kPiece || flush();
  }

  bool flush() {
    const bool goes_on = write_(text_);
    text_.clear();
    return goes_on;
  }

  const sample::NamedProfile& profile_;
  const TextSink& write_;
  std::string text_;
  std::string weights_;
  bool is_first_ = true;
};

}  // namespace

std::string shown_part(const sample::NamedProfile& profile) {
  const auto step = profile.result.timeline.step();
  return step == 1 ? profile.summary.path
                   : fmt::format("{} (1 of {} samples)", profile.summary.path, step);
}

void speedscope_json(const sample::NamedProfile& profile, const TextSink& write) {
  std::string out =
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"loft\","
      "\"name\":" +
      json_text(shown_part(profile)) + ",\"shared\":{\"frames\":[";
  for (std::uint32_t function = 0; function < profile.locations.function_count(); ++function) {
    if (function != 0) out += ',';
    out += "{\"name\":" + json_text(profile.function_name(function)) +
           ",\"file\":" + json_text(profile.binary_path(function)) + "}";
  }
  out += "]},\"profiles\":[";
  if (!write(out)) return;
  ThreadWriter writer(profile, write);
  const std::span<const sample::TimelineEntry> all(profile.result.timeline.entries());
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].tid == all[first].tid) ++end;
    for (const auto event : profile.used_events())
      if (!writer.write(all.subspan(first, end - first), event)) return;
    first = end;
  }
  write("]}\n");
}

}  // namespace loft::view
