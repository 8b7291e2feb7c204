#include "roof/call_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.hpp"
#include "roof/call_runs.hpp"

namespace loft::roof {
namespace {

using model::RoofPoint;
using model::Scope;
using model::Subject;
using model::Work;

// As many as can be counted of a call at the same time.
const std::vector<std::string> kEvents{"flops_sp", "flops_dp", "load_bytes", "store_bytes"};

class CallPoints {
 public:
  CallPoints(const sample::CallRun& run, const model::RoofReport& report)
      : run_(run), report_(report) {
    for (std::size_t q = 0; q < run.quantities.size(); ++q) place_of_[run.quantities[q].name] = q;
    for (const sample::KeptCall& call : run.calls) first_ = std::min(first_, call.begin);
    for (const RoofPoint& point : report.chart.points)
      if (point.subject.scope == Scope::function && point.subject.work)
        functions_[{point.subject.name, point.subject.binary}] = &*point.subject.work;
  }

  std::vector<Subject> subjects() {
    std::vector<Subject> subjects;
    for (std::size_t i = 0; i < run_.calls.size(); ++i) {
      if ((run_.calls[i].flags & sample::kOpen) != 0) continue;
      if (auto work = work_of(i))
        subjects.push_back(subject_of(run_.calls[i], *work));
      else
        ++unknown_;
    }
    return subjects;
  }

  [[nodiscard]] std::size_t unknown() const { return unknown_; }

 private:
  [[nodiscard]] std::optional<double> count(std::size_t call, const std::string& event) const {
    const auto place = place_of_.find(event);
    if (place == place_of_.end()) return std::nullopt;
    const sample::CallValue& value = run_.values_of(call)[place->second];
    if (value == sample::kUnknownValue) return std::nullopt;
    return run_.in_unit(place->second, value.value);
  }

  // The widths of its instructions are taken from its function, in the same proportions.
  [[nodiscard]] std::optional<Work> work_of(std::size_t call) const {
    const auto single = count(call, kEvents[0]);
    const auto twice = count(call, kEvents[1]);
    const auto loads = count(call, kEvents[2]);
    const auto stores = count(call, kEvents[3]);
    if (!single || !twice || !loads || !stores) return std::nullopt;
    const sample::WatchedFunction& function = run_.functions[run_.calls[call].function];
    Work work;
    const auto known = functions_.find({function.name, function.dso});
    if (known != functions_.end() && known->second->flops() > 0)
      work = known->second->scaled_by((*single + *twice) / known->second->flops());
    work.flops_sp = *single;
    work.flops_dp = *twice;
    work.flops_x87 = 0;
    work.bytes = *loads + *stores;
    work.instructions = std::nullopt;
    work.int_ops = std::nullopt;
    return work;
  }

  [[nodiscard]] Subject subject_of(const sample::KeptCall& call, const Work& work) const {
    const double tick = run_.clock.nanoseconds_per_tick * 1e-9;
    Subject subject;
    subject.scope = Scope::slice;
    subject.name = run_.functions[call.function].name;
    subject.binary = run_.functions[call.function].dso;
    subject.tid = run_.threads[call.thread].thread;
    subject.start = static_cast<double>(call.begin - first_) * tick;
    subject.seconds = static_cast<double>(call.ticks) * tick;
    subject.end = subject.start + subject.seconds;
    subject.work = work;
    const double wall = to_seconds(run_.end.elapsed);
    if (wall > 0) subject.share_of_time = subject.seconds / wall;
    return subject;
  }

  const sample::CallRun& run_;
  const model::RoofReport& report_;
  std::map<std::string, std::size_t> place_of_;
  std::map<std::pair<std::string, std::string>, const Work*> functions_;
  std::uint64_t first_ = ~std::uint64_t{0};
  std::size_t unknown_ = 0;
};

// From the slowest to the fastest call of a function, for those who read text.
void note_ranges(const std::vector<RoofPoint>& points, std::vector<std::string>& notes) {
  struct Range {
    std::size_t calls = 0;
    double least = 0;
    double most = 0;
  };
  std::map<std::string, Range> ranges;
  for (const RoofPoint& point : points) {
    if (point.subject.scope != Scope::slice || !point.flops_per_second) continue;
    Range& range = ranges[point.subject.name];
    range.least =
        range.calls == 0 ? *point.flops_per_second : std::min(range.least, *point.flops_per_second);
    range.most = std::max(range.most, *point.flops_per_second);
    ++range.calls;
  }
  for (const auto& [name, range] : ranges)
    notes.push_back(fmt::format("{} calls of {}: from {} to {}", with_separators(range.calls), name,
                                with_si_prefix(range.least, "FLOP/s"),
                                with_si_prefix(range.most, "FLOP/s")));
}

}  // namespace

Result<sample::CallRun> measure_call_points(const std::vector<std::string>& patterns,
                                            const std::vector<std::string>& command) {
  sample::CallRequest request;
  request.patterns = patterns;
  request.events = kEvents;
  request.keeps_calls = true;
  return count_calls_twice(request, command, Heard::never);
}

void place_calls(const sample::CallRun& run, const model::Machine& machine,
                 model::RoofReport& report) {
  CallPoints calls(run, report);
  std::vector<Subject> of_calls = calls.subjects();
  std::ranges::stable_sort(of_calls, {}, &Subject::start);  // they came as they ended
  std::vector<Subject> subjects;
  for (RoofPoint& point : report.chart.points)
    if (point.subject.scope != Scope::slice) subjects.push_back(std::move(point.subject));
  std::ranges::move(of_calls, std::back_inserter(subjects));
  const std::size_t shown = report.chart.shown.size();
  report.chart = model::place(machine, std::move(subjects), std::max<std::size_t>(shown, 1),
                              report.chart.roofline.work);
  for (const sample::CallThread& thread : run.threads)
    report.thread_names.push_back({static_cast<std::uint32_t>(thread.thread), thread.name});
  report.schedule.clear();  // of another run than the calls
  note_ranges(report.chart.points, report.notes);
  for (const std::string& note : run.notes) report.notes.push_back("calls: " + note);
  if (calls.unknown() != 0)
    report.notes.push_back(fmt::format("{} calls have no place: what they did is not known",
                                       with_separators(calls.unknown())));
}

}  // namespace loft::roof
