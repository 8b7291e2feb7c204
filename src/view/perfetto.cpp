#include <protozero/pbf_builder.hpp>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "view/stacks.hpp"

namespace loft::view {
namespace {

using protozero::pbf_tag_type;

// Field numbers of Perfetto's trace packets.
enum class Trace : pbf_tag_type { packet = 1 };
enum class Packet : pbf_tag_type {
  process_tree = 2,
  timestamp = 8,
  sequence_id = 10,
  interned_data = 12,
  sequence_flags = 13,
  clock_id = 58,
  perf_sample = 66
};
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

constexpr std::uint32_t kSequence = 1;
constexpr std::uint32_t kStateCleared = 1;
constexpr std::uint32_t kNeedsState = 2;

class PerfettoWriter {
 public:
  explicit PerfettoWriter(const sample::NamedProfile& profile) : profile_(profile), trace_(out_) {}

  void write(const TextSink& write) {
    constexpr std::size_t kPiece = 1u << 20;
    write_tasks();
    bool is_first = true;
    for (const auto& entry : profile_.result.timeline.entries()) {
      write_sample(entry, is_first);
      is_first = false;
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
    packet.add_uint32(Packet::sequence_id, kSequence);
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

  void write_sample(const sample::TimelineEntry& entry, bool is_first) {
    std::string interned;
    const auto callstack = intern_stack(entry.node, interned);
    protozero::pbf_builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, entry.time);
    packet.add_uint32(Packet::sequence_id, kSequence);
    packet.add_uint32(Packet::sequence_flags, is_first ? kStateCleared | kNeedsState : kNeedsState);
    if (!interned.empty()) packet.add_message(Packet::interned_data, interned);
    protozero::pbf_builder<PerfSample> sample(packet, Packet::perf_sample);
    sample.add_uint32(PerfSample::cpu, entry.cpu);
    sample.add_uint32(PerfSample::pid, entry.pid);
    sample.add_uint32(PerfSample::tid, entry.tid);
    sample.add_uint64(PerfSample::callstack, callstack);
    sample.add_uint64(PerfSample::count, entry.period);
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
  std::string out_;
  protozero::pbf_builder<Trace> trace_;
  std::unordered_map<sample::Trie::NodeId, std::uint64_t> stacks_;
  std::unordered_map<std::uint32_t, std::uint64_t> frames_;
  std::unordered_map<std::string, std::uint64_t> mappings_;
};

}  // namespace

void perfetto_trace(const sample::NamedProfile& profile, const TextSink& write) {
  PerfettoWriter(profile).write(write);
}

}  // namespace loft::view
