#include "top/core.hpp"

#include "metric/run_counts.hpp"
#include "source/perf_events/combine.hpp"

namespace loft::top {
namespace {

constexpr const char* kIsOff = "the CPU is off, or loft may not run on it";

}  // namespace

void fill_counts(CoreSample& sample, const CoreSet& set, std::span<const RawReading> before,
                 std::span<const RawReading> after) {
  using source::perf_events::operator-;
  sample::IntervalCounts interval{sample.start, sample.end, {}, {}, {}};
  for (std::size_t i = 0; i < after.size(); ++i)
    interval.counts.push_back(set.why_missing[i].empty()
                                  ? source::perf_events::count_of(after[i] - before[i])
                                  : sample::Count::missing(set.why_missing[i]));
  sample.metrics = metric::evaluate_interval(set.request, set.frame, interval);
  sample.counts = std::move(interval.counts);
}

void Core::change(CoreSet set) { next_ = std::make_shared<CoreSet>(std::move(set)); }

const metric::Request* Core::request() const {
  if (next_) return &next_->request;
  if (asked_for_) return &asked_for_->request;
  return set_ ? &set_->request : nullptr;
}

Result<void> Core::ask(Gate& gate) {
  if (!reader_) {
    LOFT_TRY(auto reader, CoreReader::start(cpu_, gate));
    reader_.emplace(std::move(reader));
  }
  if (is_awaited_) return {};
  if (next_) {
    asked_for_ = std::move(next_);
    reader_->use(asked_for_->counters.get(), asked_for_->request.events.size());
  }
  reader_->ask();
  is_awaited_ = true;
  return {};
}

bool Core::has_answered() const { return reader_ && reader_->answer() != nullptr; }

const Report* Core::report() const { return reader_ ? reader_->answer() : nullptr; }

CoreSample Core::take(Nanoseconds origin) {
  CoreSample sample;
  sample.cpu = cpu_;
  sample.set = set_;
  const Report* report = this->report();
  if (report == nullptr || !is_awaited_) {
    sample.why = reader_ ? "its reader did not get the CPU in time" : kIsOff;
    return sample;
  }
  is_awaited_ = false;
  was_moved_ = report->cpu != cpu_;
  sample.end = report->at - origin;
  sample.wake_delay = report->at - report->asked;
  if (was_moved_) {
    sample.why = kIsOff;
  } else if (!report->is_read) {
    sample.why = "its counters could not be read";
  } else if (!begin_) {
    sample.why = "counting has just begun";
  } else {
    sample.start = *begin_ - origin;
    fill_counts(sample, *set_, last_, report->readings);
  }
  if (report->is_read && !was_moved_) {
    begin_ = report->at;
    last_ = report->readings;
  }
  if (asked_for_) {
    if (report->has_changed) {
      set_ = std::move(asked_for_);
      begin_ = report->at;
      last_.assign(set_->request.events.size(), RawReading{});
    } else {
      sample.note = "the new events could not be started; the old ones stay";
    }
    asked_for_.reset();
  }
  return sample;
}

void Core::stop() {
  reader_.reset();
  set_.reset();
  next_.reset();
  asked_for_.reset();
  begin_.reset();
  is_awaited_ = was_moved_ = false;
}

}  // namespace loft::top
