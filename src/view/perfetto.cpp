#include <algorithm>
#include <map>
#include <numeric>
#include <protozero/pbf_builder.hpp>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "view/perfetto_fields.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

using protozero::pbf_tag_type;
using namespace perfetto;

enum class Defaults : pbf_tag_type { perf_sample = 12 };
enum class SampleDefaults : pbf_tag_type { timebase = 1 };
enum class Timebase : pbf_tag_type { period = 1, frequency = 2, name = 10 };
enum class ProcessTree : pbf_tag_type { process = 1, thread = 2 };
enum class ProcessField : pbf_tag_type { pid = 1, cmdline = 3 };
enum class ThreadField : pbf_tag_type { tid = 1, name = 2, tgid = 3 };
enum class Interned : pbf_tag_type {
  function_name = 5,
  frame = 6,
  callstack = 7,
  path = 17,
  mapping = 19
};
enum class InternedText : pbf_tag_type { iid = 1, text = 2 };
enum class FrameField : pbf_tag_type { iid = 1, function = 2, mapping = 3 };
enum class MappingField : pbf_tag_type { iid = 1, path = 7 };
enum class Callstack : pbf_tag_type { iid = 1, frame = 2 };
enum class PerfSample : pbf_tag_type {
  cpu = 1,
  pid = 2,
  tid = 3,
  callstack = 4,
  mode = 5,
  count = 6
};

constexpr std::uint32_t kTaskSequence = 1;
constexpr std::uint32_t kFirstEventSequence = 2;

// What was counted on its CPU up to each sample, in the order of the entries: a reader shows the
// counter itself, not what one sample stands for.
std::vector<std::uint64_t> counts_so_far(const sample::Timeline& timeline) {
  const auto& entries = timeline.entries();
  std::vector<std::uint32_t> by_time(entries.size());
  std::iota(by_time.begin(), by_time.end(), 0u);
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::uint32_t a, std::uint32_t b) {
    return entries[a].time < entries[b].time;
  });
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums;  // by event and CPU
  std::vector<std::uint64_t> counts(entries.size());
  for (const std::uint32_t i : by_time)
    counts[i] = sums[{entries[i].event, entries[i].cpu}] += entries[i].period * timeline.step();
  return counts;
}

// The samples of one event. Readers tell events apart by their sequences of packets, each of which
// says what it samples, and has numbers of its own for functions and stacks.
class EventSequence {
 public:
  EventSequence(const sample::NamedProfile& profile, std::uint32_t event)
      : profile_(profile), event_(event) {}

  void write(const sample::TimelineEntry& entry, std::uint64_t count,
             protozero::pbf_builder<Trace>& trace) {
    std::string interned;
    const auto callstack = intern_stack(entry.node, interned);
    protozero::pbf_builder<Packet> packet(trace, Trace::packet);
    packet.add_uint64(Packet::timestamp, entry.time);
    packet.add_uint32(Packet::sequence_id, kFirstEventSequence + event_);
    packet.add_uint32(Packet::sequence_flags,
                      is_first_ ? kStateCleared | kNeedsState : kNeedsState);
    if (is_first_) write_defaults(packet);
    is_first_ = false;
    if (!interned.empty()) packet.add_message(Packet::interned_data, interned);
    protozero::pbf_builder<PerfSample> sample(packet, Packet::perf_sample);
    sample.add_uint32(PerfSample::cpu, entry.cpu);
    sample.add_uint32(PerfSample::pid, entry.pid);
    sample.add_uint32(PerfSample::tid, entry.tid);
    sample.add_uint64(PerfSample::callstack, callstack);
    if (profile_.events[event_].period_is_known) sample.add_uint64(PerfSample::count, count);
  }

 private:
  void write_defaults(protozero::pbf_builder<Packet>& packet) const {
    const auto& attr = profile_.summary.metadata.events[event_].attr;
    protozero::pbf_builder<Defaults> defaults(packet, Packet::defaults);
    protozero::pbf_builder<SampleDefaults> samples(defaults, Defaults::perf_sample);
    protozero::pbf_builder<Timebase> timebase(samples, SampleDefaults::timebase);
    timebase.add_uint64(attr.freq ? Timebase::frequency : Timebase::period, attr.sample_period);
    timebase.add_string(Timebase::name, printable(profile_.events[event_].name));
  }

  // What is said once is referred to by its number ever after.
  std::uint64_t intern_stack(sample::Trie::NodeId node, std::string& out) {
    const auto [entry, is_new] = stacks_.emplace(node, stacks_.size() + 1);
    if (!is_new) return entry->second;
    protozero::pbf_builder<Interned> interned(out);
    const auto path = profile_.path_to(node);
    for (const auto function : path) intern_frame(function, interned);
    protozero::pbf_builder<Callstack> stack(interned, Interned::callstack);
    stack.add_uint64(Callstack::iid, entry->second);
    for (const auto function : path) stack.add_uint64(Callstack::frame, frames_[function]);
    return entry->second;
  }

  void intern_frame(std::uint32_t function, protozero::pbf_builder<Interned>& interned) {
    const auto [entry, is_new] = frames_.emplace(function, frames_.size() + 1);
    if (!is_new) return;
    const auto mapping = intern_mapping(profile_.binary_path(function), interned);
    {
      protozero::pbf_builder<InternedText> name(interned, Interned::function_name);
      name.add_uint64(InternedText::iid, entry->second);
      name.add_string(InternedText::text, printable(profile_.function_name(function)));
    }
    protozero::pbf_builder<FrameField> frame(interned, Interned::frame);
    frame.add_uint64(FrameField::iid, entry->second);
    frame.add_uint64(FrameField::function, entry->second);
    frame.add_uint64(FrameField::mapping, mapping);
  }

  std::uint64_t intern_mapping(const std::string& path,
                               protozero::pbf_builder<Interned>& interned) {
    const auto [entry, is_new] = mappings_.emplace(path, mappings_.size() + 1);
    if (!is_new) return entry->second;
    {
      protozero::pbf_builder<InternedText> text(interned, Interned::path);
      text.add_uint64(InternedText::iid, entry->second);
      text.add_string(InternedText::text, printable(path));
    }
    protozero::pbf_builder<MappingField> mapping(interned, Interned::mapping);
    mapping.add_uint64(MappingField::iid, entry->second);
    mapping.add_uint64(MappingField::path, entry->second);
    return entry->second;
  }

  const sample::NamedProfile& profile_;
  std::uint32_t event_;
  bool is_first_ = true;
  std::unordered_map<sample::Trie::NodeId, std::uint64_t> stacks_;
  std::unordered_map<std::uint32_t, std::uint64_t> frames_;
  std::unordered_map<std::string, std::uint64_t> mappings_;
};

class PerfettoWriter {
 public:
  explicit PerfettoWriter(const sample::NamedProfile& profile) : profile_(profile), trace_(out_) {}

  void write(const TextSink& write) {
    constexpr std::size_t kPiece = 1u << 20;
    write_tasks();
    std::vector<EventSequence> sequences;
    for (std::uint32_t event = 0; event < profile_.events.size(); ++event)
      sequences.emplace_back(profile_, event);
    const auto& entries = profile_.result.timeline.entries();
    const auto counts = counts_so_far(profile_.result.timeline);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      sequences[entries[i].event].write(entries[i], counts[i], trace_);
      if (out_.size() < kPiece) continue;
      if (!write(out_)) return;
      out_.clear();
    }
    write(out_);
  }

 private:
  void write_tasks() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> tasks;
    for (const auto& entry : profile_.result.timeline.entries())
      tasks.emplace(entry.pid, entry.tid);
    if (tasks.empty()) return;
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, profile_.result.first_time.value_or(0));
    packet.add_uint32(Packet::sequence_id, kTaskSequence);
    protozero::pbf_builder<ProcessTree> tree(packet, Packet::process_tree);
    std::uint32_t last = 0xFFFFFFFF;
    for (const auto& [pid, tid] : tasks) {
      if (pid != last) {
        protozero::pbf_builder<ProcessField> process(tree, ProcessTree::process);
        process.add_int32(ProcessField::pid, static_cast<std::int32_t>(pid));
        process.add_string(ProcessField::cmdline, name_of(pid));
        last = pid;
      }
      protozero::pbf_builder<ThreadField> thread(tree, ProcessTree::thread);
      thread.add_int32(ThreadField::tid, static_cast<std::int32_t>(tid));
      thread.add_string(ThreadField::name, name_of(tid));
      thread.add_int32(ThreadField::tgid, static_cast<std::int32_t>(pid));
    }
  }

  [[nodiscard]] std::string name_of(std::uint32_t tid) const {
    return printable(profile_.history.names()[profile_.history.comm_at(tid, ~std::uint64_t{0})]);
  }

  const sample::NamedProfile& profile_;
  std::string out_;
  protozero::pbf_builder<Trace> trace_;
};

}  // namespace

void perfetto_trace(const sample::NamedProfile& profile, const TextSink& write) {
  PerfettoWriter(profile).write(write);
}

}  // namespace loft::view
