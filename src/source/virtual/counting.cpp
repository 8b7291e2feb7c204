#include "source/virtual/counting.hpp"

#ifdef LOFT_HAS_ENGINE
#include "engine/run.hpp"
#include "engine/tally.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
namespace {

// What is asked for, as the engine knows it.
struct Wanted {
  std::optional<engine::EventIndex> index;
  std::string why_missing;
};

Wanted look_up(const event::Event& event) {
  if (event.encoding.pmu != "virtual") return {{}, "the virtual PMU counts virtual:: events alone"};
  const auto index = static_cast<engine::EventIndex>(event.encoding.config);
  if (!engine::event_table()[index].is_available)
    return {{}, "needs a model of caches and predictors, which is not there yet"};
  return {index, {}};
}

class VirtualRun final : public CountingRun {
 public:
  VirtualRun(CountRequest request, engine::Run run)
      : request_(std::move(request)), run_(std::move(run)), tally_(run_.shared()) {
    for (const event::Event& event : request_.events) wanted_.push_back(look_up(event));
  }

  [[nodiscard]] std::string source_name() const override { return "virtual"; }
  [[nodiscard]] const std::vector<event::Event>& events() const override { return request_.events; }
  [[nodiscard]] std::vector<std::string> notes() const override { return run_.shared().messages(); }
  [[nodiscard]] Result<void> start() override { return run_.start(); }
  [[nodiscard]] ChildProcess* program() override { return &run_.child(); }
  [[nodiscard]] Result<Reading> read() override;

 private:
  [[nodiscard]] std::vector<sample::Count> chosen(const engine::EventVector& all) const;

  CountRequest request_;
  engine::Run run_;
  engine::Tally tally_;
  std::vector<Wanted> wanted_;
};

std::vector<sample::Count> VirtualRun::chosen(const engine::EventVector& all) const {
  std::vector<sample::Count> counts;
  for (const Wanted& wanted : wanted_)
    counts.push_back(wanted.index ? sample::Count::exact(all[*wanted.index])
                                  : sample::Count::missing(wanted.why_missing));
  return counts;
}

Result<Reading> VirtualRun::read() {
  LOFT_CHECK(run_.check());
  Reading reading;
  reading.time = now() - run_.start_time();
  LOFT_TRY(const auto total, tally_.of_all());
  reading.totals = chosen(total);
  if (request_.split != Split::threads) return reading;
  const auto slots = run_.shared().slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    LOFT_TRY(const auto events, tally_.of_slot(i));
    reading.threads.push_back({static_cast<pid_t>(slots[i].process),
                               static_cast<pid_t>(slots[i].thread), slots[i].name, chosen(events)});
  }
  return reading;
}

}  // namespace

const std::vector<event::VirtualName>& event_names() {
  static const std::vector<event::VirtualName> names = [] {
    std::vector<event::VirtualName> table;
    for (const engine::EventInfo& info : engine::event_table())
      table.push_back({info.name, info.unit == "bytes" ? "B" : "", info.description});
    return table;
  }();
  return names;
}

Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request) {
  if (!request.pids.empty() || request.whole_machine || request.split == Split::cpus)
    return failure(
        ErrorKind::unsupported, "count with the virtual PMU",
        "it counts programs that loft starts, not running processes, whole machines or CPUs",
        "give the program after --, without -p, --system and --per-core");
  LOFT_TRY(auto run, engine::Run::prepare(request.command, request.streams));
  return std::make_unique<VirtualRun>(request, std::move(run));
}
#else
const std::vector<event::VirtualName>& event_names() {
  static const std::vector<event::VirtualName> none;
  return none;
}

Result<std::unique_ptr<CountingRun>> prepare(const CountRequest&) {
  return failure(ErrorKind::unsupported, "count with the virtual PMU",
                 "loft was built without its engine, which exists for x86-64 alone");
}
#endif

}  // namespace loft::source::virtual_pmu
