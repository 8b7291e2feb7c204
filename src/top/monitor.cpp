#include "top/monitor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::top {
namespace {

std::uint64_t resident_bytes() {
  const auto line = read_line("/proc/self/statm");  // pages: size, resident, ...
  if (!line) return 0;
  const auto words = split(*line, ' ');
  const auto pages = words.size() > 1 ? parse_u64(words[1]) : std::nullopt;
  return pages.value_or(0) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Several GPUs of a kind have one name.
std::vector<std::string> names_of(const source::energy::Gauges& gauges) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < gauges.size(); ++i) {
    std::string name = gauges.name(i);
    for (int number = 2; std::ranges::find(names, name) != names.end(); ++number)
      name = fmt::format("{} ({})", gauges.name(i), number);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Monitor::Monitor(MonitorOptions options) : options_(std::move(options)), accounts_(options_.root) {
  for (const int cpu : options_.cores) cores_.push_back({Core(cpu), {}, {}});
}

Result<Monitor> Monitor::start(MonitorOptions options, const metric::Request& request) {
  if (options.cores.empty())
    return failure(ErrorKind::invalid_input, "watch cores", "there are none");
  if (options.cpu < 0) options.cpu = options.cores.back();
  Monitor monitor(std::move(options));
  // Where the monitor may not run there it runs anywhere: its readings are the readers' own.
  (void)set_allowed_cpus(0, {monitor.options_.cpu});
  LOFT_TRY(monitor.gate_, Gate::make());
  LOFT_TRY(monitor.timer_, source::make_timer());
  for (Watched& watched : monitor.cores_) {
    watched.wanted = request;
    LOFT_TRY(auto set, monitor.options_.open(request, watched.core.cpu()));
    watched.core.change(std::move(set));
  }
  monitor.gauges_ = source::energy::Gauges::open(monitor.options_.root);
  monitor.metered_.resize(monitor.gauges_.size());
  monitor.domains_ = names_of(monitor.gauges_);
  return monitor;
}

Result<void> Monitor::change(int cpu, metric::Request request) {
  const auto found = std::ranges::find(cores_, cpu, [](const Watched& w) { return w.core.cpu(); });
  if (found == cores_.end())
    return failure(ErrorKind::not_found, fmt::format("change what CPU {} counts", cpu),
                   "it is not watched", "watched are " + format_cpu_list(options_.cores));
  LOFT_TRY(auto set, options_.open(request, cpu));
  if (!set.counts_something() && !request.events.empty())
    return failure(ErrorKind::unsupported, fmt::format("change what CPU {} counts", cpu),
                   set.why_missing.front());
  found->wanted = std::move(request);
  found->core.change(std::move(set));
  return {};
}

void Monitor::set_interval(Nanoseconds interval) {
  options_.interval = interval;
  has_new_pace_ = true;
}

Result<void> Monitor::set_pace() {
  has_new_pace_ = false;
  const Nanoseconds first = options_.first.count() > 0 ? options_.first : options_.interval;
  options_.first = {};
  due_ = now() + first - options_.interval;
  return source::set_timer(timer_, first, options_.interval);
}

void Monitor::revive(Watched& watched, Nanoseconds at) {
  if (watched.core.was_moved()) {
    watched.core.stop();
    watched.next_try = at + options_.retry;
  }
  if (watched.core.is_running() || at < watched.next_try) return;
  watched.next_try = at + options_.retry;
  if (watched.core.request() != nullptr) return;  // a set is waiting already
  const auto online = online_cpus(options_.root);
  if (online && !std::ranges::binary_search(*online, watched.core.cpu())) return;
  if (auto set = options_.open(watched.wanted, watched.core.cpu()))
    watched.core.change(*std::move(set));
}

void Monitor::ask() {
  const Nanoseconds at = now();
  gate_->open_request();  // ours, so that nobody wakes us before all are asked
  for (Watched& watched : cores_) {
    revive(watched, at);
    if (watched.core.is_running() || watched.core.request() != nullptr)
      (void)watched.core.ask(*gate_);  // one that cannot be started is tried again
  }
  is_asked_ = true;
  gate_->close_request();
}

bool Monitor::is_complete() const {
  return std::ranges::all_of(cores_, [](const Watched& watched) {
    return !watched.core.is_running() || watched.core.has_answered();
  });
}

Frame Monitor::collect() {
  Frame frame;
  const Nanoseconds at = now();
  frame.number = number_;
  frame.origin = origin_;
  frame.time = at - origin_;
  accounts_.read(at);
  for (Watched& watched : cores_) {
    CoreSample sample = watched.core.take(origin_);
    if (sample.end.count() != 0)
      frame.cost.lateness = std::max(frame.cost.lateness, sample.end + origin_ - due_);
    else if (watched.core.is_running())
      ++late_;
    sample.busy = accounts_.busy(sample.cpu);
    sample.busy_origin = accounts_.is_exact() ? sample::Origin::counted : sample::Origin::scaled;
    sample.waiting = accounts_.waiting(sample.cpu);
    frame.cores.push_back(std::move(sample));
  }
  add_energy(frame, at);
  add_cost(frame, at);
  is_asked_ = false;
  return frame;
}

// A meter that is not read this time shows what it did over its last readings.
void Monitor::add_energy(Frame& frame, Nanoseconds at) {
  using sample::Origin;
  const auto steps = gauges_.advance_sparingly(at);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EnergySample sample{domains_[i], steps[i].joules, std::nullopt, gauges_.is_gpu(i),
                        gauges_.is_power(i) ? Origin::modelled
                        : steps[i].is_read  ? Origin::counted
                                            : Origin::scaled};
    Metered& metered = metered_[i];
    metered.joules += steps[i].joules.value_or(0);
    if (steps[i].is_read) metered.watts.reset();
    if (steps[i].joules && steps[i].seconds > 0)
      metered.watts = *steps[i].joules / steps[i].seconds;
    // A meter that never moved does not work: no machine runs without energy.
    if (metered.joules <= 0)
      sample.joules.reset();
    else
      sample.watts = metered.watts;
    frame.energy.push_back(std::move(sample));
  }
}

void Monitor::add_cost(Frame& frame, Nanoseconds at) {
  const Nanoseconds used = now(CLOCK_PROCESS_CPUTIME_ID);
  const Nanoseconds own = now(CLOCK_THREAD_CPUTIME_ID);
  if (at > last_time_)
    frame.cost.cpu_share = to_seconds(used - last_used_) / to_seconds(at - last_time_);
  frame.cost.monitor_time = own - last_own_;
  // All but the monitor is readers. Asking each for its own time would be a tenth of that time.
  frame.cost.reader_time =
      (used - last_used_ - frame.cost.monitor_time) / static_cast<Nanoseconds::rep>(cores_.size());
  frame.cost.resident_bytes = resident_bytes();
  frame.cost.late = late_;
  frame.cost.skipped = skipped_;
  last_time_ = at;
  last_used_ = used;
  last_own_ = own;
}

bool Monitor::end_sample(const RunOptions& options) {
  const Frame frame = collect();
  const bool is_first = number_++ == 0;  // which only says when counting began
  if (is_first) return true;
  const bool goes_on = options.on_frame(frame) && !is_stopped_;
  return goes_on && (options.samples == 0 || frame.number < options.samples);
}

Result<void> Monitor::run(const RunOptions& options) {
  LOFT_TRY(auto supervisor, source::Supervisor::create({}));
  bool goes_on = true;
  bool is_due = false;
  supervisor.on_readable(timer_.get(), [&] {
    const std::uint64_t times = source::take_expirations(timer_);
    if (times == 0) return;
    due_ += options_.interval * static_cast<Nanoseconds::rep>(times);
    skipped_ += times - 1;
    is_due = true;
  });
  supervisor.on_readable(gate_->fd(), [&] { gate_->take(); });
  for (const auto& [fd, action] : options.readable) supervisor.on_readable(fd, action);

  origin_ = last_time_ = now();
  LOFT_CHECK(set_pace());
  ask();
  while (goes_on && !is_stopped_) {
    LOFT_CHECK(supervisor.wait(std::nullopt));
    if (supervisor.is_interrupted()) break;
    options.after_wait();
    // A sample ends when all have answered, and at the latest when the next one is due.
    if (is_asked_ && (is_complete() || is_due)) goes_on = end_sample(options);
    if (!is_due || !goes_on) continue;
    is_due = false;
    options.at_boundary();
    if (has_new_pace_) LOFT_CHECK(set_pace());
    ask();
  }
  return {};
}

}  // namespace loft::top
