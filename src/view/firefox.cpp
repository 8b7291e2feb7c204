#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "view/json_text.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

using sample::TimelineEntry;

std::string repeated(const char* value, std::size_t count) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    out += value;
  }
  return out + "]";
}

template <class T>
std::string numbers(const std::vector<T>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    out += fmt::format("{}", values[i]);
  }
  return out + "]";
}

// One thread of the processed format: tables of strings, functions, frames and stacks, which the
// samples refer to by number. Each thread has tables of its own.
class ThreadWriter {
 public:
  explicit ThreadWriter(const sample::NamedProfile& profile) : profile_(profile) {}

  std::string write(std::span<const TimelineEntry> entries, std::uint64_t start, bool is_main) {
    const auto pid = entries.front().pid;
    const auto tid = entries.front().tid;
    const auto comm = profile_.history.comm_at(tid, ~std::uint64_t{0});
    std::vector<std::uint32_t> stacks;
    std::vector<double> times;
    std::vector<std::uint64_t> weights;
    std::string cpu_times;
    for (const auto& entry : entries) {
      stacks.push_back(stack_of(entry.node));
      times.push_back(static_cast<double>(entry.time - start) * 1e-6);
      weights.push_back(1);
      // A sample of a clock stands for so much time on a CPU; others say nothing about it.
      if (!cpu_times.empty()) cpu_times += ',';
      if (profile_.events[entry.event].is_time) {
        append_number(cpu_times, entry.period);
      } else {
        cpu_times += "null";
      }
    }
    const std::size_t count = stacks.size();
    std::string out = fmt::format(
        "{{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
        "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":{},"
        "\"processName\":{},\"isMainThread\":{},\"pid\":\"{}\",\"tid\":{},",
        json_text(profile_.history.names()[comm]), json_text(profile_.history.names()[comm]),
        is_main, pid, tid);
    out += fmt::format(
        "\"samples\":{{\"weightType\":\"samples\",\"weight\":{},\"stack\":{},\"time\":{},"
        "\"threadCPUDelta\":[{}],\"length\":{}}},",
        numbers(weights), numbers(stacks), numbers(times), cpu_times, count);
    out +=
        "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
        "\"category\":[],\"length\":0},";
    out += tables();
    return out + "}";
  }

 private:
  // Frames are functions here, so a frame and its function have the same number.
  std::uint32_t frame_of(std::uint32_t function) {
    const auto [entry, is_new] =
        frames_.emplace(function, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) functions_.push_back(function);
    return entry->second;
  }

  std::uint32_t stack_of(sample::Trie::NodeId node) {
    if (const auto known = stacks_.find(node); known != stacks_.end()) return known->second;
    const auto& tree = profile_.result.tree;
    const auto parent = tree[node].parent;
    const bool is_first = tree[parent].parent == sample::Trie::kRoot;
    const std::string prefix = is_first ? "null" : std::to_string(stack_of(parent));
    stack_frames_.push_back(frame_of(tree[node].key));
    if (!prefixes_.empty()) prefixes_ += ',';
    prefixes_ += prefix;
    const auto id = static_cast<std::uint32_t>(stack_frames_.size() - 1);
    stacks_.emplace(node, id);
    return id;
  }

  std::string tables() {
    const std::size_t count = functions_.size();
    std::vector<std::uint32_t> own(count);
    std::string names = "[";
    for (std::size_t i = 0; i < count; ++i) {
      own[i] = static_cast<std::uint32_t>(i);
      if (i != 0) names += ',';
      append_json_text(names, profile_.function_name(functions_[i]));
    }
    names += ']';
    const auto zeros = repeated("0", count);
    const auto nulls = repeated("null", count);
    const auto minus = repeated("-1", count);
    const auto falses = repeated("false", count);
    const std::size_t stacks = stack_frames_.size();
    std::string out = fmt::format(
        "\"stackTable\":{{\"frame\":{},\"category\":{},\"subcategory\":{},\"prefix\":[{}],"
        "\"length\":{}}},",
        numbers(stack_frames_), repeated("0", stacks), repeated("0", stacks), prefixes_, stacks);
    out += fmt::format(
        "\"frameTable\":{{\"address\":{},\"inlineDepth\":{},\"category\":{},\"subcategory\":{},"
        "\"func\":{},\"nativeSymbol\":{},\"innerWindowID\":{},\"implementation\":{},\"line\":{},"
        "\"column\":{},\"length\":{}}},",
        minus, zeros, zeros, zeros, numbers(own), nulls, nulls, nulls, nulls, nulls, count);
    out += fmt::format(
        "\"funcTable\":{{\"name\":{},\"isJS\":{},\"relevantForJS\":{},\"resource\":{},"
        "\"fileName\":{},\"lineNumber\":{},\"columnNumber\":{},\"length\":{}}},",
        numbers(own), falses, falses, minus, nulls, nulls, nulls, count);
    out +=
        "\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
        "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
        "\"length\":0},\"stringArray\":";
    return out + names;
  }

  const sample::NamedProfile& profile_;
  std::unordered_map<std::uint32_t, std::uint32_t> frames_;
  std::vector<std::uint32_t> functions_;
  std::unordered_map<sample::Trie::NodeId, std::uint32_t> stacks_;
  std::vector<std::uint32_t> stack_frames_;
  std::string prefixes_;
};

}  // namespace

void firefox_json(const sample::NamedProfile& profile, const TextSink& write) {
  const std::uint64_t start = profile.result.first_time.value_or(0);
  const auto& clock = profile.summary.metadata.clock;
  const double wall_ms =
      clock ? static_cast<double>(clock->wall_clock_ns - clock->clock_ns + start) * 1e-6 : 0;
  std::string out = fmt::format(
      "{{\"meta\":{{\"interval\":1,\"startTime\":{},\"abi\":{},\"oscpu\":{},\"processType\":0,"
      "\"product\":{},\"stackwalk\":1,\"version\":24,\"preprocessedProfileVersion\":46,"
      "\"symbolicated\":true,\"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\","
      "\"threadCPUDelta\":\"ns\"}},\"markerSchema\":[],\"extensions\":{{\"baseURL\":[],\"id\":[],"
      "\"length\":0,\"name\":[]}},\"categories\":[{{\"name\":\"Other\",\"color\":\"grey\","
      "\"subcategories\":[\"Other\"]}}],\"importedFrom\":\"loft\"}},\"libs\":[],\"pages\":[],"
      "\"profilerOverhead\":[],\"counters\":[],\"threads\":[",
      wall_ms, json_text(profile.summary.metadata.arch),
      json_text(profile.summary.metadata.os_release), json_text(shown_part(profile)));
  const std::span<const TimelineEntry> all(profile.result.timeline.entries());
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].tid == all[first].tid) ++end;
    if (first != 0) out += ',';
    out += ThreadWriter(profile).write(all.subspan(first, end - first), start,
                                       all[first].pid == all[first].tid);
    if (!write(out)) return;
    out.clear();
    first = end;
  }
  write(out + "]}\n");
}

}  // namespace loft::view
