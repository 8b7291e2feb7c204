#include "view/recording_page.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "event/recording_schema.hpp"
#include "view/calls_page.hpp"
#include "view/recording_page_tables.hpp"
#include "view/wakeups.hpp"

namespace loft::view {
namespace {

using sample::Origin;

constexpr auto kNoCpu = PageSchedule::kNoCpu;
constexpr std::size_t kSteps = 600;  // of a time line: about one per two pixels

double seconds_between(std::uint64_t from, std::uint64_t to) {
  return (static_cast<double>(to) - static_cast<double>(from)) * 1e-9;
}

class PageOfRecording {
 public:
  explicit PageOfRecording(const ShownRecording& shown)
      : report_(shown.report),
        profile_(shown.profile),
        filter_(shown.filter),
        calls_(shown.calls),
        schedule_slices_(shown.schedule),
        wakeups_(shown.wakeups) {}

  PageData make(sample::TreeOrder order) {
    find_start();
    head();
    figures();
    warnings();
    time_lines();
    schedule();
    thread_names();
    page_.flames = page_flames(
        profile_, sample::make_call_tree(profile_.result.tree, profile_.locations, order));
    for (PageFlame& flame : page_.flames)
      flame.from_callees = order == sample::TreeOrder::from_callees;
    page_.tables.push_back(function_table(report_));
    if (!profile_.result.timeline.entries().empty()) page_.tables.push_back(thread_table(profile_));
    if (!wakeups_.empty()) page_.tables.push_back(wakeups_table(wakeups_));
    facts();
    if (calls_ != nullptr)
      add_calls(page_, *calls_, Nanoseconds(static_cast<std::int64_t>(start_.value_or(0))));
    return std::move(page_);
  }

 private:
  [[nodiscard]] const sample::RecordingSummary& summary() const { return profile_.summary; }

  // Each moment that was kept stands for so many samples.
  [[nodiscard]] std::uint32_t step() const { return profile_.result.timeline.step(); }

  // Second 0 of the page: the first moment that any of its parts shows.
  void find_start() {
    start_ = report_.first_time;
    for (const auto& slice : schedule_slices_)
      if (is_wanted(slice)) start_ = std::min(start_.value_or(slice.start), from_of(slice));
    if (const auto first = calls_ == nullptr ? std::nullopt : first_call(*calls_)) {
      const auto began = static_cast<std::uint64_t>(first->count());
      start_ = std::min(start_.value_or(began), began);
    }
    run_times_ = run_times();
    const std::uint64_t earliest = std::max(filter_.from, summary().first_time.value_or(0));
    for (const auto& entry : profile_.result.timeline.entries())
      start_ = std::min(*start_, std::max(span_of(entry).start, earliest));
  }

  [[nodiscard]] std::uint64_t from_of(const sample::RunSlice& slice) const {
    return std::max(slice.start, filter_.from);
  }

  [[nodiscard]] bool is_wanted(const sample::RunSlice& slice) const {
    const auto lets = [](const std::set<std::uint32_t>& set, std::uint32_t value) {
      return set.empty() || set.contains(value);
    };
    return lets(filter_.tids, slice.tid) && lets(filter_.cpus, slice.cpu.value_or(kNoCpu)) &&
           (filter_.pids.empty() ||
            filter_.pids.contains(profile_.history.pid_of(slice.tid).value_or(0))) &&
           slice.end > filter_.from && slice.start <= filter_.until;
  }

  void head() {
    const auto& metadata = summary().metadata;
    page_.command = join(metadata.command_line, " ");
    page_.title = summary().path;
    page_.source = fmt::format("recording of {}", with_binary_prefix(summary().bytes));
    if (!metadata.perf_version.empty())
      page_.source +=
          (metadata.perf_version.starts_with("loft") ? ", written by " : ", written by perf ") +
          metadata.perf_version;
  }

  void figures() {
    std::uint64_t samples = 0;
    std::vector<std::string> names;
    for (const auto event : profile_.used_events()) {
      samples += report_.events[event].total.samples;
      names.push_back(report_.events[event].name);
    }
    page_.figures.push_back({"samples", with_separators(samples), join(names, ", ")});
    if (report_.first_time)
      page_.figures.push_back(
          {"from first to last",
           format_seconds(seconds_between(*report_.first_time, *report_.last_time)), ""});
    page_.figures.push_back({"threads", with_separators(report_.threads), "with samples"});
    for (const auto event : profile_.used_events()) {
      const auto& one = report_.events[event];
      if (!one.period_is_known || page_.figures.size() > 5) continue;
      page_.figures.push_back({one.name,
                               one.is_time
                                   ? format_seconds(static_cast<double>(one.total.period) * 1e-9)
                                   : with_si_prefix(static_cast<double>(one.total.period), ""),
                               "sum of the samples' periods", Origin::scaled});
    }
    verdict();
  }

  // Seconds a second: of running, or of waiting for a CPU.
  static const char* time_unit(const sample::ReportEvent& event) {
    return event::recording::is_waiting(event.name) ? "threads" : "CPUs";
  }

  void verdict() {
    std::map<std::uint32_t, const sample::ReportRow*> heaviest;  // by event
    for (const auto& row : report_.rows) {
      const auto [entry, is_new] = heaviest.emplace(row.event, &row);
      if (!is_new && row.share > entry->second->share) entry->second = &row;
    }
    for (const auto& [event, row] : heaviest)
      if (!row->keys.function.empty() && row->keys.function != "[not mapped]" &&
          row->keys.function != "[no address]" &&
          event::recording::has_address(report_.events[event].name))
        page_.verdict.push_back(fmt::format("{:.1f} % of {} is in {}{}.", 100 * row->share,
                                            report_.events[event].name, row->keys.function,
                                            row->inclusive ? " itself" : ""));
  }

  void warnings() {
    const auto warn = [&](WarningKind kind, std::uint64_t count, const char* what) {
      if (count != 0) page_.warnings.push_back({kind, with_separators(count) + " " + what});
    };
    warn(WarningKind::lost, summary().lost, "records that the recorder could not keep");
    warn(WarningKind::missing, summary().unreadable_samples,
         "samples of no known event or too short");
    warn(WarningKind::missing, summary().damaged_bytes, "bytes that are no record");
    warn(WarningKind::note, report_.filtered_out, "samples left out by filters");
    for (const sample::ReportEvent& event : report_.events)
      if (event.shown_share < 1 && event.total.samples != 0)
        page_.warnings.push_back(
            {WarningKind::note, fmt::format("{:.3g} % of {} is shown; shares are of what is shown",
                                            100 * event.shown_share, event.name)});
    if (step() != 1)
      page_.warnings.push_back(
          {WarningKind::estimated,
           fmt::format("time lines and threads are estimated from 1 of {} samples, evenly chosen; "
                       "--time, --tid or --event choose a part that is shown whole",
                       step())});
    for (const auto& note : summary().notes) page_.warnings.push_back({WarningKind::note, note});
  }

  // From when to when an entry of the timeline stands for: the time that it counts, or the run time
  // of its thread that ended with it. Others stand for their moment.
  struct Span {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  using RunTimes = std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>;

  // How long each thread had run when a sample of its run time was taken.
  [[nodiscard]] RunTimes run_times() const {
    RunTimes times;
    for (const auto& entry : profile_.result.timeline.entries())
      if (is_run_time(report_.events[entry.event]))
        times[{entry.tid, entry.time}] = entry.period * step();
    return times;
  }

  static bool is_run_time(const sample::ReportEvent& event) {
    return event.is_time && event.period_is_known && !event::recording::is_waiting(event.name);
  }

  [[nodiscard]] Span span_of(const sample::TimelineEntry& entry) const {
    const auto& event = report_.events[entry.event];
    std::uint64_t length = 0;
    if (event.is_time && event.period_is_known)
      length = entry.period * step();
    else if (const auto run = run_times_.find({entry.tid, entry.time}); run != run_times_.end())
      length = run->second;
    return {entry.time - std::min(entry.time, length), entry.time};
  }

  // Per event: what its samples stand for, per second.
  void time_lines() {
    if (!report_.first_time || *report_.last_time <= *start_) return;
    for (const auto event : profile_.used_events()) page_.time_lines.push_back(time_line(event));
  }

  [[nodiscard]] PageTimeLine time_line(std::uint32_t event) const {
    const double width = seconds_between(*start_, *report_.last_time) / kSteps;
    const auto& one = report_.events[event];
    PageTimeLine line;
    line.name = one.name;
    line.unit = !one.period_is_known ? "samples/s" : one.is_time ? time_unit(one) : "1/s";
    line.origin = one.period_is_known || step() != 1 ? Origin::scaled : Origin::counted;
    line.value.assign(kSteps, 0.0);
    for (std::size_t i = 0; i < kSteps; ++i) {
      line.start_s.push_back(width * static_cast<double>(i));
      line.end_s.push_back(width * static_cast<double>(i + 1));
    }
    const double scale = (one.period_is_known && one.is_time ? 1e-9 : 1) * step() / width;
    for (const auto& entry : profile_.result.timeline.entries()) {
      if (entry.event != event) continue;
      const Span span = span_of(entry);
      const double amount = scale * (one.period_is_known ? static_cast<double>(entry.period) : 1);
      spread(line.value, seconds_between(*start_, span.start) / width,
             seconds_between(*start_, span.end) / width, amount);
    }
    return line;
  }

  // Adds `amount` to the steps from `from` to `to`, evenly; what lies before them is not shown.
  static void spread(std::vector<double>& steps, double from, double to, double amount) {
    const auto last = static_cast<double>(steps.size());
    const auto step_at = [&](double at) {
      return std::min(steps.size() - 1, static_cast<std::size_t>(std::clamp(at, 0.0, last)));
    };
    if (!(to > from)) {
      steps[step_at(to)] += amount;
      return;
    }
    for (std::size_t i = step_at(from); i <= step_at(to); ++i) {
      const double left = std::max(from, static_cast<double>(i));
      const double right = std::min(to, static_cast<double>(i + 1));
      if (right > left) steps[i] += amount * (right - left) / (to - from);
    }
  }

  void schedule() {
    PageSchedule schedule;
    for (const auto& slice : schedule_slices_)
      if (is_wanted(slice))
        schedule.add(slice.tid, slice.cpu.value_or(kNoCpu),
                     seconds_between(*start_, from_of(slice)),
                     seconds_between(*start_, std::min(slice.end, filter_.until)));
    if (!schedule.tid.empty()) page_.schedule = std::move(schedule);
  }

  void thread_names() {
    std::set<std::uint32_t> tids = profile_.result.tids;
    if (page_.schedule) tids.insert(page_.schedule->tid.begin(), page_.schedule->tid.end());
    for (const auto tid : tids)
      page_.threads.push_back(
          {tid, profile_.history.names()[profile_.history.comm_at(tid, ~std::uint64_t{0})]});
  }

  void facts() {
    const auto& metadata = summary().metadata;
    PageFacts machine{"Machine", {}};
    const auto add = [](PageFacts& list, const char* name, const std::string& value) {
      if (!value.empty()) list.facts.push_back({name, value});
    };
    add(machine, "host", metadata.hostname);
    add(machine, "CPU", metadata.cpu_description);
    if (metadata.cpus_online) add(machine, "CPUs online", std::to_string(*metadata.cpus_online));
    if (metadata.total_memory_kib)
      add(machine, "memory", with_binary_prefix(*metadata.total_memory_kib * 1024));
    add(machine, "kernel", metadata.os_release);
    add(machine, "architecture", metadata.arch);
    PageFacts recording{"Recording", {}};
    add(recording, "file", summary().path);
    add(recording, "size", with_binary_prefix(summary().bytes));
    for (const auto& [type, count] : summary().records)
      recording.facts.push_back({type + " records", with_separators(count)});
    for (auto& list : {machine, recording})
      if (!list.facts.empty()) page_.facts.push_back(list);
  }

  const sample::Report& report_;
  const sample::NamedProfile& profile_;
  const sample::ProfileFilter& filter_;
  const sample::CallRun* calls_;
  const std::vector<sample::RunSlice>& schedule_slices_;
  const std::vector<sample::Wakeups>& wakeups_;
  std::optional<std::uint64_t> start_;
  RunTimes run_times_;
  PageData page_;
};

}  // namespace

PageData recording_page(const ShownRecording& shown) {
  return PageOfRecording(shown).make(shown.order);
}

}  // namespace loft::view
