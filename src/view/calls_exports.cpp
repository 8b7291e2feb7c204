#include "view/calls_exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <protozero/pbf_builder.hpp>
#include <unordered_map>

#include "base/text.hpp"
#include "view/calls.hpp"
#include "view/gzip.hpp"
#include "view/perfetto_fields.hpp"
#include "view/pprof_fields.hpp"

namespace loft::view {
namespace {

using protozero::pbf_tag_type;
using sample::CallRun;
using sample::kNoCallNode;

// The format has no way to quote its own separator.
std::string frame_name(const std::string& name) {
  std::string text = printable(name);
  std::ranges::replace(text, ';', ':');
  return text.empty() ? "-" : text;
}

std::uint64_t whole_unit(const CallRun& run, std::size_t quantity, std::uint64_t raw) {
  const double value = run.in_unit(quantity, raw);
  return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

class PprofCalls {
 public:
  explicit PprofCalls(const CallRun& run) : run_(run), pb_(out_) {}

  std::string write() {
    add_type("calls", "count");
    for (std::size_t q = 0; q < run_.quantities.size(); ++q)
      if (is_known_of_tree(run_, q)) known_.push_back(q);
    for (const std::size_t q : known_) add_type(run_.quantities[q].name, run_.quantities[q].unit);
    for (std::size_t i = 0; i < run_.nodes.size(); ++i) add_sample(i);
    for (std::size_t i = 0; i < run_.functions.size(); ++i) add_function(i);
    for (const std::string& text : strings_.all())
      pb_.add_string(pprof::Profile::string_table, text);
    return std::move(out_);
  }

 private:
  void add_type(const std::string& name, const std::string& unit) {
    protozero::pbf_builder<pprof::ValueType> type(pb_, pprof::Profile::sample_type);
    type.add_int64(pprof::ValueType::type, strings_.of(printable(name)));
    type.add_int64(pprof::ValueType::unit,
                   strings_.of(unit == "ns" ? "nanoseconds" : printable(unit)));
  }

  // Innermost first, as the format wants it.
  void add_sample(std::size_t node) {
    std::vector<std::uint64_t> path;
    for (auto at = static_cast<std::uint32_t>(node); at != kNoCallNode; at = run_.nodes[at].parent)
      path.push_back(run_.nodes[at].function + 1);
    std::vector<std::int64_t> values{static_cast<std::int64_t>(run_.nodes[node].calls)};
    for (const std::size_t q : known_)
      values.push_back(
          static_cast<std::int64_t>(whole_unit(run_, q, run_.values_of_node(node)[q].self)));
    protozero::pbf_builder<pprof::Sample> sample(pb_, pprof::Profile::sample);
    sample.add_packed_uint64(pprof::Sample::location_id, path.begin(), path.end());
    sample.add_packed_int64(pprof::Sample::value, values.begin(), values.end());
  }

  void add_function(std::size_t function) {
    const std::int64_t name = strings_.of(printable(run_.functions[function].name));
    {
      protozero::pbf_builder<pprof::LocationField> location(pb_, pprof::Profile::location);
      location.add_uint64(pprof::LocationField::id, function + 1);
      location.add_uint64(pprof::LocationField::address, run_.functions[function].address);
      protozero::pbf_builder<pprof::Line> line(location, pprof::LocationField::line);
      line.add_uint64(pprof::Line::function_id, function + 1);
    }
    protozero::pbf_builder<pprof::FunctionField> entry(pb_, pprof::Profile::function);
    entry.add_uint64(pprof::FunctionField::id, function + 1);
    entry.add_int64(pprof::FunctionField::name, name);
    entry.add_int64(pprof::FunctionField::system_name, name);
  }

  const CallRun& run_;
  std::vector<std::size_t> known_;  // quantities
  std::string out_;
  protozero::pbf_builder<pprof::Profile> pb_;
  pprof::Strings strings_;
};

using namespace perfetto;

// Field numbers of what stands in the packets of calls.
enum class Track : pbf_tag_type { uuid = 1, thread = 4 };
enum class TrackThread : pbf_tag_type { pid = 1, tid = 2, name = 5 };
enum class Event : pbf_tag_type { annotation = 4, type = 9, track = 11, name = 23 };
enum class Annotation : pbf_tag_type { real = 5, integer = 3, name = 10 };
constexpr std::int32_t kBegin = 1;
constexpr std::int32_t kEnd = 2;
constexpr std::uint32_t kSequence = 1u << 20;  // samples beside them have others

class PerfettoCalls {
 public:
  PerfettoCalls(const CallRun& run, const std::function<bool(std::string_view)>& write)
      : run_(run), write_(write), trace_(out_) {}

  void write() {
    std::vector<std::vector<std::size_t>> by_thread(run_.threads.size());
    for (std::size_t i = 0; i < run_.calls.size(); ++i)
      by_thread[run_.calls[i].thread].push_back(i);
    for (std::uint32_t thread = 0; thread < by_thread.size(); ++thread) {
      if (by_thread[thread].empty()) continue;
      add_track(thread);
      if (!add_calls(thread, by_thread[thread])) return;
    }
    write_(out_);
  }

 private:
  void add_track(std::uint32_t thread) {
    const auto& task = run_.threads[thread];
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint32(Packet::sequence_id, kSequence);
    packet.add_uint32(Packet::sequence_flags, is_first_ ? kStateCleared : 0);
    is_first_ = false;
    protozero::pbf_builder<Track> track(packet, Packet::track_descriptor);
    track.add_uint64(Track::uuid, thread + 1);
    protozero::pbf_builder<TrackThread> of(track, Track::thread);
    of.add_int32(TrackThread::pid, task.process);
    of.add_int32(TrackThread::tid, task.thread);
    of.add_string(TrackThread::name, printable(task.name));
  }

  // Slices of a track lie inside of each other: one that would outlast the one around it (calls of
  // another stack) ends with it.
  bool add_calls(std::uint32_t thread, std::vector<std::size_t>& calls) {
    std::ranges::sort(calls, [&](std::size_t a, std::size_t b) {
      const auto& left = run_.calls[a];
      const auto& right = run_.calls[b];
      return left.begin != right.begin ? left.begin < right.begin : left.depth < right.depth;
    });
    std::vector<std::uint64_t> ends;  // of the slices that are open, the innermost last
    for (const std::size_t i : calls) {
      const auto& call = run_.calls[i];
      const std::uint64_t begin = time_of(call.begin);
      std::uint64_t end = time_of(call.begin + call.ticks);
      while (!ends.empty() && ends.back() <= begin) {
        add_end(thread, ends.back());
        ends.pop_back();
      }
      if (!ends.empty()) end = std::min(end, ends.back());
      add_begin(thread, begin, i);
      ends.push_back(std::max(begin, end));
      if (!flush()) return false;
    }
    for (; !ends.empty(); ends.pop_back()) add_end(thread, ends.back());
    return true;
  }

  [[nodiscard]] std::uint64_t time_of(std::uint64_t tick) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, run_.clock.time_of(tick).count()));
  }

  void add_begin(std::uint32_t thread, std::uint64_t time, std::size_t i) {
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, time);
    packet.add_uint32(Packet::sequence_id, kSequence);
    protozero::pbf_builder<Event> event(packet, Packet::track_event);
    event.add_int32(Event::type, kBegin);
    event.add_uint64(Event::track, thread + 1);
    event.add_string(Event::name, printable(run_.functions[run_.calls[i].function].name));
    for (std::size_t q = 0; q < run_.quantities.size(); ++q) {
      if (run_.quantities[q].is_time || run_.values_of(i)[q] == sample::kUnknownValue) continue;
      protozero::pbf_builder<Annotation> value(event, Event::annotation);
      value.add_string(Annotation::name, printable(run_.quantities[q].name));
      value.add_uint64(Annotation::integer, whole_unit(run_, q, run_.values_of(i)[q].value));
    }
  }

  void add_end(std::uint32_t thread, std::uint64_t time) {
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, time);
    packet.add_uint32(Packet::sequence_id, kSequence);
    protozero::pbf_builder<Event> event(packet, Packet::track_event);
    event.add_int32(Event::type, kEnd);
    event.add_uint64(Event::track, thread + 1);
  }

  bool flush() {
    constexpr std::size_t kPiece = 1u << 20;
    if (out_.size() < kPiece) return true;
    const bool goes_on = write_(out_);
    out_.clear();
    return goes_on;
  }

  const CallRun& run_;
  const std::function<bool(std::string_view)>& write_;
  std::string out_;
  protozero::pbf_builder<Trace> trace_;
  bool is_first_ = true;
};

}  // namespace

std::string calls_folded(const CallRun& run) {
  std::map<std::string, std::uint64_t> stacks;  // functions of one name are one here
  std::vector<std::string> paths(run.nodes.size());
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const auto& node = run.nodes[i];
    if (node.parent != kNoCallNode) paths[i] = paths[node.parent] + ";";
    paths[i] += frame_name(run.functions[node.function].name);
    stacks[paths[i]] += whole_unit(run, 0, run.values_of_node(i)[0].self);
  }
  std::string text;
  for (const auto& [stack, value] : stacks)
    if (value != 0) text += fmt::format("{} {}\n", stack, value);
  return text;
}

Result<std::string> calls_pprof(const CallRun& run) {
  return gzipped(PprofCalls(run).write(), "calls for pprof");
}

void calls_perfetto(const CallRun& run, const std::function<bool(std::string_view)>& write) {
  PerfettoCalls(run, write).write();
}

}  // namespace loft::view
