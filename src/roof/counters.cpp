#include "roof/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "metric/evaluation.hpp"
#include "metric/request.hpp"
#include "metric/run_counts.hpp"
#include "source/perf_events/open.hpp"

namespace loft::roof {
namespace {

using sample::Origin;

// Beside operations and bytes, if the machine tells them. Widths are operations, not instructions.
constexpr std::array kCompanions{"FLOPs_sp",  "FLOPs_dp",  "FLOPs_scalar",
                                 "FLOPs_128", "FLOPs_256", "FLOPs_512"};

// Counters of a whole package know no tasks.
bool knows_tasks(const event::Event& event) {
  return !event.encoding.is_virtual() && event.cpus.empty();
}

// How often each event was seen, by its position; position 0 is the time.
using Seen = std::vector<double>;

void add(Seen& seen, std::size_t event, double period) {
  if (seen.size() <= event) seen.resize(event + 1);
  seen[event] += period;
}

double at(const Seen& seen, std::size_t event) { return event < seen.size() ? seen[event] : 0; }

// A part of what was counted, by its share of the samples of each event.
metric::CountSet part_of(const std::vector<sample::CountedEvent>& events, const Seen& all,
                         const Seen& part) {
  metric::CountSet counts;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const metric::Quantity total = metric::quantity_of(events[i]);
    const double sampled = at(all, i);
    if (total.origin == Origin::missing)
      counts.add(events[i].name, total);
    else if (total.value.as_double() > 0 && sampled == 0)
      counts.add(events[i].name,
                 metric::Quantity::missing("no sample of it: whose it was is not known"));
    else
      counts.add(
          events[i].name,
          {metric::Number::real(sampled > 0 ? total.value.as_double() * at(part, i) / sampled : 0),
           Origin::scaled,
           {}});
  }
  return counts;
}

}  // namespace

Result<WorkCounters> WorkCounters::find(const metric::Library& library, bool dram) {
  event::Resolver resolver;
  const metric::Available known = metric::available_events(resolver);
  const metric::Available available = [&](std::string_view name) {
    if (!known(name)) return false;
    const auto events = resolver.resolve_list(std::string(name));
    return events && std::ranges::all_of(*events, knows_tasks);
  };
  const auto is_countable = [&](const metric::Program& program) {
    return !program.inputs().empty() && std::ranges::all_of(program.inputs(), available);
  };
  WorkCounters counters;
  counters.dram_ = dram;
  std::vector<metric::Program> used;
  for (const char* needed : {"FLOPs", dram ? "DRAM_bytes" : "bytes"}) {
    LOFT_TRY(auto program, metric::compile(library, needed, available));
    if (!is_countable(program)) {
      const std::string why =
          source::perf_events::has_core_pmu()
              ? fmt::format("the metric {} has no variant whose events this machine counts", needed)
              : "the kernel offers no hardware counters on this machine";
      return failure(ErrorKind::unsupported, "count operations and bytes with hardware counters",
                     why,
                     dram ? "the cache-aware roofline (--model cache) needs none"
                          : "with --source virtual the program runs twice instead");
    }
    used.push_back(program);
    counters.programs_.emplace(needed, std::move(program));
  }
  for (const char* wanted : kCompanions) {
    auto program = metric::compile(library, wanted, available);
    if (!program || !is_countable(*program)) continue;
    used.push_back(*program);
    counters.programs_.emplace(wanted, *std::move(program));
  }
  std::vector<std::string> names = metric::needs(used);
  if (source::perf_events::has_core_pmu() && available("instructions") &&
      std::ranges::find(names, "instructions") == names.end())
    names.emplace_back("instructions");
  for (const std::string& name : names) {
    LOFT_TRY(auto events, resolver.resolve_list(name));
    std::ranges::move(events, std::back_inserter(counters.events_));
  }
  return counters;
}

std::vector<std::string> WorkCounters::notes() const {
  std::vector<std::string> notes;
  if (!programs_.contains("FLOPs_sp") || !programs_.contains("FLOPs_dp"))
    notes.emplace_back(
        "these counters do not tell single from double precision: it is taken for double");
  if (!programs_.contains("FLOPs_scalar"))
    notes.emplace_back(
        "these counters do not tell the width of instructions: the widest peak is the roof");
  if (!dram_ && programs_.contains("bytes"))
    notes.push_back("bytes: " + programs_.at("bytes").description());
  notes.emplace_back("functions and threads: by samples of each event, scaled to what was counted");
  return notes;
}

std::optional<double> WorkCounters::value(const char* name, const metric::CountSet& counts) const {
  const auto found = programs_.find(name);
  if (found == programs_.end()) return std::nullopt;
  const metric::Value value = found->second.evaluate(counts);
  return value.number ? std::optional(value.number->as_double()) : std::nullopt;
}

std::optional<model::Work> WorkCounters::work_in(const metric::CountSet& counts) const {
  const auto flops = value("FLOPs", counts);
  const auto bytes = value(dram_ ? "DRAM_bytes" : "bytes", counts);
  if (!flops || !bytes) return std::nullopt;
  model::Work work;
  work.bytes = *bytes;
  const auto single = value("FLOPs_sp", counts);
  const auto double_ = value("FLOPs_dp", counts);
  const bool tells_precision = single && double_;
  work.flops_sp = tells_precision ? *single : 0;
  work.flops_dp = tells_precision ? *double_ : *flops;
  const auto scalar = value("FLOPs_scalar", counts);
  work.widths.scalar = scalar.value_or(0);
  work.widths.bits128 = value("FLOPs_128", counts).value_or(0);
  work.widths.bits256 = value("FLOPs_256", counts).value_or(0);
  // Unknown widths stand under the widest peak.
  work.widths.bits512 = scalar ? value("FLOPs_512", counts).value_or(0) : *flops;
  const metric::Quantity* instructions = counts.find("instructions");
  work.instructions.reset();
  work.int_ops.reset();
  if (instructions != nullptr && instructions->origin != Origin::missing)
    work.instructions = instructions->value.as_double();
  return work;
}

CountedWork WorkCounters::counted_in(const NativeProfile& native) const {
  const auto& result = native.profile.result;
  Seen all;
  std::map<std::uint32_t, Seen> by_function;
  std::map<std::uint32_t, Seen> by_thread;
  for (const sample::TimelineEntry& entry : result.timeline.entries()) {
    const auto period = static_cast<double>(entry.period);
    add(all, entry.event, period);
    add(by_function[result.tree[entry.node].key], entry.event, period);
    add(by_thread[entry.tid], entry.event, period);
  }
  CountedWork counted;
  counted.by = CountedBy::counters;
  // The core's bytes follow from an assumption on how wide loads and stores are.
  counted.origin = dram_ ? Origin::scaled : Origin::modelled;
  counted.total = work_in(metric::counts_of(native.counts));
  const auto& events = native.counts.events;
  for (const model::ThreadName& thread : native.threads())
    if (by_thread.contains(thread.tid))
      counted.threads.push_back(
          {thread.tid, thread.name, work_in(part_of(events, all, by_thread[thread.tid]))});
  for (const auto& [function, seen] : by_function)
    counted.functions.push_back({native.function(function), work_in(part_of(events, all, seen))});
  return counted;
}

}  // namespace loft::roof
