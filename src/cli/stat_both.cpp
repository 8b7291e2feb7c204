#include "cli/stat_both.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "metric/request.hpp"
#include "metric/run_counts.hpp"
#include "roof/repeat_streams.hpp"
#include "source/choice/count.hpp"
#include "source/perf_events/open.hpp"
#include "view/two_sources.hpp"

namespace loft::cli {
namespace {

// What processors and the virtual PMU both tell; PAPI's names mean the same everywhere.
constexpr const char* kNames =
    "instructions,branches,PAPI_BR_MSP,PAPI_L1_DCM,PAPI_L2_DCM,PAPI_L3_TCM,PAPI_TLB_DM";

std::vector<std::string> names_of(const BothFlags& flags) {
  std::vector<std::string> names;
  const std::vector<std::string> lists =
      flags.events.empty() ? std::vector<std::string>{kNames} : flags.events;
  for (const std::string& list : lists)
    for (const auto name : split(list, ','))
      if (!trim(name).empty()) names.emplace_back(trim(name));
  return names;
}

// What one source makes of the names: each is an event, a metric, or nothing it knows.
class Side {
 public:
  Side(const std::vector<std::string>& names, event::PlainNames plain,
       const metric::Library& library)
      : resolver_(source::known_names(plain)) {
    const metric::LoadLibrary load = [&]() -> Result<metric::Library> { return library; };
    for (const std::string& name : names) {
      Asked& asked = asked_.emplace_back();
      auto read = metric::read_request({name}, resolver_, load);
      if (!read) {
        asked.why = to_string(read.error());
        continue;
      }
      // A name that hardware does not have may stand for what the virtual PMU counts.
      if (plain == event::PlainNames::never_virtual &&
          std::ranges::any_of(read->events,
                              [](const auto& each) { return each.encoding.is_virtual(); })) {
        asked.why = source::perf_events::has_core_pmu()
                        ? "this machine's counters have no such event"
                        : "the kernel offers no hardware counters on this machine";
        continue;
      }
      asked.request = *std::move(read);
      asked.first = request_.events.size();
      std::ranges::copy(asked.request.events, std::back_inserter(request_.events));
    }
  }

  [[nodiscard]] source::CountRequest& request() { return request_; }

  // Nothing of it is counted where that fails: the reason stands in the place of each value.
  [[nodiscard]] Result<sample::RunCounts> count(sample::Source only) const {
    if (request_.events.empty())
      return failure(ErrorKind::unsupported, "count", "none of the names is known");
    source::CountOptions options;
    options.only = only;
    return source::count(request_, options);
  }

  void set_values(const Result<sample::RunCounts>& run, std::vector<view::TwoSources::Row>& rows,
                  metric::Value view::TwoSources::Row::*side) const {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const Asked& asked = asked_[i];
      if (!asked.why.empty())
        (rows[i].*side).why = asked.why;
      else if (!run)
        (rows[i].*side).why = run.error().why;
      else
        set_value(asked, *run, rows[i], side);
    }
  }

 private:
  struct Asked {
    metric::Request request;
    std::size_t first = 0;  // of its events among all
    std::string why;        // it is not known
  };

  static void set_value(const Asked& asked, const sample::RunCounts& run,
                        view::TwoSources::Row& row, metric::Value view::TwoSources::Row::*side) {
    sample::RunCounts part;
    part.source = run.source;
    part.wall = run.wall;
    const auto first = run.events.begin() + static_cast<std::ptrdiff_t>(asked.first);
    part.events.assign(first, first + static_cast<std::ptrdiff_t>(asked.request.events.size()));
    if (!asked.request.programs.empty()) {
      const metric::Evaluated metric = metric::evaluate_run(asked.request, part).total.front();
      row.unit = metric.unit;
      row.*side = metric.value;
      return;
    }
    const sample::CountedEvent& event = part.events.front();
    metric::Value& value = row.*side;
    value.kind = event.total.origin;
    value.why = event.total.why;
    if (event.total.is_available()) value.number = metric::Number::real(event.value());
  }

  event::Resolver resolver_;
  std::vector<Asked> asked_;
  source::CountRequest request_;
};

void add_notes(const Result<sample::RunCounts>& run, view::TwoSources& both) {
  if (run) std::ranges::copy(run->notes, std::back_inserter(both.notes));
}

}  // namespace

Result<int> run_both(const BothFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  const std::vector<std::string> names = names_of(flags);
  Side native(names, event::PlainNames::never_virtual, library);
  Side counted(names, event::PlainNames::virtual_first, library);
  LOFT_TRY(const core::MachineGeometry modelled, machine::chosen_geometry(flags.machine));
  LOFT_TRY(auto streams, roof::RepeatStreams::prepare());
  native.request().command = counted.request().command = flags.command;
  native.request().streams = streams.first();
  const auto first = native.count(sample::Source::perf_events);
  if (first) {
    LOFT_TRY(counted.request().streams, streams.second());
  } else {
    counted.request().streams = streams.first();
  }
  counted.request().model = &modelled;
  counted.request().model_is_sampled = flags.is_sampled;
  const auto second = counted.count(sample::Source::virtual_pmu);
  if (!first && !second) return Failure(second.error());
  view::TwoSources both;
  both.command = flags.command;
  both.exit_status = first ? first->exit_status : second->exit_status;
  if (first) both.native_seconds = to_seconds(first->wall);
  for (const std::string& name : names) both.rows.emplace_back().name = name;
  native.set_values(first, both.rows, &view::TwoSources::Row::native);
  counted.set_values(second, both.rows, &view::TwoSources::Row::virtual_pmu);
  add_notes(first, both);
  add_notes(second, both);
  const std::string text = format == Format::json  ? view::two_sources_json(both)
                           : format == Format::csv ? view::two_sources_csv(both)
                                                   : view::two_sources_text(both);
  LOFT_CHECK(write_result(flags.output, text, Stream::notes, terminal));
  return both.exit_status;
}

}  // namespace loft::cli
