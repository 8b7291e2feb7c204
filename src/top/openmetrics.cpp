#include "top/openmetrics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "top/values.hpp"

namespace loft::top {
namespace {

// A label's value, escaped.
std::string quoted_label(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string cpu_label(int cpu) { return fmt::format("cpu=\"{}\"", cpu); }

// Writes families one after the other, and no more series than allowed.
class Writer {
 public:
  Writer(ExpositionFormat format, std::size_t most) : format_(format), most_(most) {}

  void family(std::string_view name, bool is_counter, std::string_view help) {
    name_ = is_counter ? fmt::format("{}_total", name) : std::string(name);
    // In OpenMetrics a counter's family lacks the ending of its samples.
    const std::string_view shown = format_ == ExpositionFormat::openmetrics ? name : name_;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", shown, help, shown,
                         is_counter ? "counter" : "gauge");
  }

  void series(const std::string& labels, double value) {
    if (!std::isfinite(value)) return;
    if (++count_ > most_) return;
    text_ += labels.empty() ? fmt::format("{} {}\n", name_, value)
                            : fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }

  std::string finish() {
    const std::size_t dropped = count_ > most_ ? count_ - most_ : 0;
    count_ = 0;
    family("loft_series_dropped", false, "Series beyond the limit, which are not shown.");
    series("", static_cast<double>(dropped));
    if (format_ == ExpositionFormat::openmetrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  ExpositionFormat format_;
  std::size_t most_;
  std::size_t count_ = 0;
  std::string name_;
  std::string text_;
};

void write_cores(Writer& out, const Frame& frame) {
  out.family("loft_core_up", false, "Whether the core was read in the last sample.");
  for (const CoreSample& core : frame.cores) out.series(cpu_label(core.cpu), core.is_read());
  out.family("loft_core_busy_ratio", false,
             "Share of the time in which the core ran something, from ticks where the kernel has "
             "no schedstat.");
  for (const CoreSample& core : frame.cores)
    if (core.busy) out.series(cpu_label(core.cpu), *core.busy);
  out.family("loft_core_waiting_tasks", false,
             "Tasks that were ready and waited for the core, on average.");
  for (const CoreSample& core : frame.cores)
    if (core.waiting) out.series(cpu_label(core.cpu), *core.waiting);
  out.family("loft_core_metric", false, "Metrics of the last sample, in the unit of the label.");
  for (const CoreSample& core : frame.cores) {
    if (!core.is_read()) continue;
    for (const NamedValue& value : values_of(core))
      if (value.value && value.count == nullptr)
        out.series(fmt::format("{},metric={},unit={}", cpu_label(core.cpu),
                               quoted_label(value.name), quoted_label(value.unit)),
                   *value.value);
  }
}

void write_cost(Writer& out, const Cost& cost, std::uint64_t samples) {
  out.family("loft_samples", true, "Samples that were taken.");
  out.series("", static_cast<double>(samples));
  out.family("loft_samples_skipped", true, "Samples that were left out, because loft did not run.");
  out.series("", static_cast<double>(cost.skipped));
  out.family("loft_readings_late", true, "Readings of a core that did not come in time.");
  out.series("", static_cast<double>(cost.late));
  out.family("loft_own_cpu_ratio", false, "What loft itself takes, of one CPU.");
  out.series("", cost.cpu_share);
  out.family("loft_own_reading_seconds", false, "Time of a core for one reading.");
  out.series("", to_seconds(cost.reader_time));
  out.family("loft_sample_lateness_seconds", false,
             "Of the latest reading, after the moment it was due.");
  out.series("", to_seconds(cost.lateness));
  if (cost.resident_bytes > 0) {
    out.family("loft_own_memory_bytes", false, "Resident memory of loft.");
    out.series("", static_cast<double>(cost.resident_bytes));
  }
}

}  // namespace

std::string content_type(ExpositionFormat format) {
  return format == ExpositionFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

ExpositionFormat format_for(const std::string& accept) {
  return accept.find("application/openmetrics-text") != std::string::npos
             ? ExpositionFormat::openmetrics
             : ExpositionFormat::prometheus;
}

void Exposition::add_core(const CoreSample& core) {
  if (!core.set) return;
  for (std::size_t i = 0; i < core.set->frame.events.size(); ++i) {
    const sample::CountedEvent& event = core.set->frame.events[i];
    EventSum& sum = events_[{core.cpu, event.name}];
    sum.is_available = core.is_read() && core.counts[i].is_available();
    if (!sum.is_available) continue;
    sum.value += core.counts[i].value() * event.scale;
    sum.running = core.counts[i].running_share();
  }
}

void Exposition::add(const Frame& frame) {
  ++samples_;
  // A core that was not read in time keeps its sums; an event that it no longer counts goes.
  std::erase_if(events_, [&](const auto& entry) {
    const auto core = std::ranges::find(frame.cores, entry.first.first, &CoreSample::cpu);
    return core == frame.cores.end() || !core->set ||
           std::ranges::find(core->set->frame.events, entry.first.second,
                             &sample::CountedEvent::name) == core->set->frame.events.end();
  });
  for (const CoreSample& core : frame.cores) add_core(core);
  for (const EnergySample& energy : frame.energy)
    if (energy.joules) joules_[energy.domain] += *energy.joules;
  last_ = frame;
}

std::string Exposition::text(ExpositionFormat format) const {
  Writer out(format, most_series_);
  write_cost(out, last_.cost, samples_);
  out.family("loft_energy_joules", true, "Energy since monitoring began, by meter.");
  for (const auto& [domain, joules] : joules_) out.series("domain=" + quoted_label(domain), joules);
  out.family("loft_power_watts", false, "Power in the last sample, by meter.");
  for (const EnergySample& energy : last_.energy)
    if (energy.watts) out.series("domain=" + quoted_label(energy.domain), *energy.watts);
  write_cores(out, last_);
  const auto label = [](const EventKey& key) {
    return fmt::format("{},event={}", cpu_label(key.first), quoted_label(key.second));
  };
  out.family("loft_core_events", true, "What was counted on the core since it is counted there.");
  for (const auto& [key, sum] : events_)
    if (sum.is_available || sum.value > 0) out.series(label(key), sum.value);
  out.family("loft_core_event_running_ratio", false,
             "Share of the time in which the event had a counter; below 1 its sum is an estimate.");
  for (const auto& [key, sum] : events_)
    if (sum.is_available) out.series(label(key), sum.running);
  out.family("loft_core_event_available", false,
             "Whether the event was counted in the last sample.");
  for (const auto& [key, sum] : events_) out.series(label(key), sum.is_available);
  return out.finish();
}

}  // namespace loft::top
