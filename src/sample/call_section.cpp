#include "sample/call_section.hpp"

#include "base/compact_bytes.hpp"

namespace loft::sample {
namespace {

constexpr std::uint64_t kMagic = 0x324C4C4143;  // "CALL2"

// Small numbers of either sign as small numbers.
std::uint64_t folded(std::uint64_t difference) {
  const auto value = static_cast<std::int64_t>(difference);
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::uint64_t unfolded(std::uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

using Writer = CompactWriter;
using Reader = CompactReader;

void write(Writer& out, const CallDistribution& of) {
  for (const std::uint64_t value : {of.calls, of.total, of.self, of.sum, ~of.min, of.max})
    out.number(value);
  const auto counts = of.histogram.counts();
  out.number(counts.size());
  for (const std::uint64_t count : counts) out.number(count);
}

CallDistribution read_distribution(Reader& in) {
  CallDistribution of;
  of.calls = in.number();
  of.total = in.number();
  of.self = in.number();
  of.sum = in.number();
  of.min = ~in.number();
  of.max = in.number();
  std::vector<std::uint64_t> counts(in.count());
  for (std::uint64_t& count : counts) count = in.number();
  of.histogram = CallHistogram(counts);
  return of;
}

void write_values(Writer& out, std::span<const CallValue> values) {
  for (const CallValue& value : values) {
    out.number(value.value);
    out.number(folded(value.value - value.self));
  }
}

void read_values(Reader& in, std::size_t count, std::vector<CallValue>& values) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = in.number();
    values.push_back({value, value - unfolded(in.number())});
  }
}

void write_functions(Writer& out, const CallRun& run) {
  out.number(run.functions.size());
  for (std::size_t i = 0; i < run.functions.size(); ++i) {
    const WatchedFunction& function = run.functions[i];
    const CallStatistics& statistics = run.statistics[i];
    out.text(function.name);
    out.text(function.dso);
    out.number(function.address);
    out.text(function.why_not);
    out.text(function.hint);
    for (const std::uint64_t value :
         {statistics.calls, statistics.open, statistics.ended_early, statistics.unmeasured})
      out.number(value);
    for (std::size_t q = 0; q < run.quantities.size(); ++q) write(out, statistics.of[q]);
  }
}

void read_functions(Reader& in, CallRun& run) {
  for (std::size_t left = in.count(); left != 0 && !in.has_failed(); --left) {
    WatchedFunction& function = run.functions.emplace_back();
    CallStatistics& statistics = run.statistics.emplace_back();
    function.name = in.text();
    function.dso = in.text();
    function.address = in.number();
    function.why_not = in.text();
    function.hint = in.text();
    for (std::uint64_t* value :
         {&statistics.calls, &statistics.open, &statistics.ended_early, &statistics.unmeasured})
      *value = in.number();
    for (std::size_t q = 0; q < run.quantities.size(); ++q)
      statistics.of.push_back(read_distribution(in));
  }
}

void write_frame(Writer& out, const CallRun& run) {
  out.text(run.route);
  out.number(run.has_values ? 1 : 0);
  out.number(run.quantities.size());
  for (const CallQuantity& quantity : run.quantities) {
    out.text(quantity.name);
    out.text(quantity.unit);
    out.real(quantity.scale);
    out.number(static_cast<std::uint64_t>(quantity.origin));
    out.number(quantity.is_time ? 1 : 0);
  }
  out.real(run.clock.nanoseconds_per_tick);
  out.number(run.clock.zero);
  out.number(static_cast<std::uint64_t>(run.clock.at_zero.count()));
  out.number(run.overhead_ns ? 1 : 0);
  if (run.overhead_ns) out.real(*run.overhead_ns);
  out.number(static_cast<std::uint64_t>(run.end.exit_code));
  out.number(static_cast<std::uint64_t>(run.end.signal));
  out.number(static_cast<std::uint64_t>(run.end.elapsed.count()));
  for (const auto* texts : {&run.command, &run.notes}) {
    out.number(texts->size());
    for (const std::string& text : *texts) out.text(text);
  }
  out.number(run.threads.size());
  for (const CallThread& thread : run.threads) {
    out.number(static_cast<std::uint64_t>(thread.process));
    out.number(static_cast<std::uint64_t>(thread.thread));
    out.text(thread.name);
  }
}

void read_frame(Reader& in, CallRun& run) {
  run.route = in.text();
  run.has_values = in.number() != 0;
  for (std::size_t left = in.count(); left != 0 && !in.has_failed(); --left) {
    CallQuantity& quantity = run.quantities.emplace_back();
    quantity.name = in.text();
    quantity.unit = in.text();
    quantity.scale = in.real();
    quantity.origin = static_cast<Origin>(in.index(static_cast<std::size_t>(Origin::missing) + 1));
    quantity.is_time = in.number() != 0;
  }
  if (run.quantities.empty()) in.fail();
  run.clock.nanoseconds_per_tick = in.real();
  run.clock.zero = in.number();
  run.clock.at_zero = Nanoseconds(static_cast<std::int64_t>(in.number()));
  if (in.number() != 0) run.overhead_ns = in.real();
  run.end.exit_code = static_cast<int>(in.number());
  run.end.signal = static_cast<int>(in.number());
  run.end.elapsed = Nanoseconds(static_cast<std::int64_t>(in.number()));
  for (auto* texts : {&run.command, &run.notes})
    for (std::size_t left = in.count(); left != 0 && !in.has_failed(); --left)
      texts->push_back(in.text());
  for (std::size_t left = in.count(); left != 0 && !in.has_failed(); --left) {
    CallThread& thread = run.threads.emplace_back();
    thread.process = static_cast<pid_t>(in.number());
    thread.thread = static_cast<pid_t>(in.number());
    thread.name = in.text();
  }
}

void write_nodes(Writer& out, const CallRun& run) {
  out.number(run.nodes.size());
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const CallNode& node = run.nodes[i];
    out.number(node.parent == kNoCallNode ? 0 : node.parent + 1);
    out.number(node.function);
    out.number(node.calls);
    write_values(out, run.values_of_node(i));
  }
}

void read_nodes(Reader& in, CallRun& run) {
  for (std::size_t left = in.count(); left != 0 && !in.has_failed(); --left) {
    CallNode node;
    node.parent = in.index_or(run.nodes.size(), kNoCallNode);
    node.function = in.index(run.functions.size());
    node.calls = in.number();
    if (in.has_failed()) return;
    run.nodes.push_back(node);
    read_values(in, run.quantities.size(), run.node_values);
  }
}

void write_calls(Writer& out, const CallRun& run) {
  out.number(run.has_all_calls ? 1 : 0);
  out.number(run.lost);
  out.number(run.calls.size());
  std::uint64_t before = run.clock.zero;
  for (std::size_t i = 0; i < run.calls.size(); ++i) {
    const KeptCall& call = run.calls[i];
    out.number(call.function);
    out.number(call.thread);
    out.number(folded(call.begin - before));
    out.number(call.ticks);
    out.number(call.depth);
    out.number(call.caller == kNoFunction ? 0 : call.caller + 1);
    out.number(call.flags);
    write_values(out, run.values_of(i));
    before = call.begin;
  }
}

void read_calls(Reader& in, CallRun& run) {
  run.has_all_calls = in.number() != 0;
  run.lost = in.number();
  std::uint64_t before = run.clock.zero;
  for (std::size_t left = in.count(); left != 0 && !in.has_failed(); --left) {
    KeptCall call;
    call.function = in.index(run.functions.size());
    call.thread = in.index(run.threads.size());
    call.begin = before + unfolded(in.number());
    call.ticks = in.number();
    call.depth = static_cast<std::uint32_t>(in.number());
    call.caller = in.index_or(run.functions.size(), kNoFunction);
    call.flags = static_cast<std::uint16_t>(in.number());
    if (in.has_failed()) return;
    run.calls.push_back(call);
    read_values(in, run.quantities.size(), run.values);
    before = call.begin;
  }
  run.seen = run.calls.size() + run.lost;
}

}  // namespace

std::vector<std::byte> call_section(const CallRun& run) {
  Writer out;
  out.number(kMagic);
  write_frame(out, run);
  write_functions(out, run);
  write_nodes(out, run);
  write_calls(out, run);
  return out.take();
}

Result<CallRun> read_call_section(std::span<const std::byte> bytes, const std::string& where) {
  Reader in(bytes);
  CallRun run;
  if (in.number() != kMagic) in.fail();
  read_frame(in, run);
  read_functions(in, run);
  read_nodes(in, run);
  read_calls(in, run);
  if (in.has_failed())
    return failure(ErrorKind::malformed, "read the calls of '" + where + "'",
                   "its section of calls is damaged, or of another version", "record it again");
  return run;
}

}  // namespace loft::sample
