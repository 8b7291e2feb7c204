#include "source/virtual/counting.hpp"

#ifdef LOFT_HAS_ENGINE
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include "engine/run.hpp"
#include "engine/tally.hpp"
#include "sample/code_details.hpp"
#include "source/virtual/blocks.hpp"
#include "source/virtual/event_unit.hpp"
#include "source/virtual/full_model.hpp"
#include "source/virtual/functions.hpp"
#include "source/virtual/libraries.hpp"
#include "source/virtual/line_parts.hpp"
#include "source/virtual/line_sharing.hpp"
#include "source/virtual/marked_regions.hpp"
#include "source/virtual/part_sums.hpp"
#include "source/virtual/region.hpp"
#include "source/virtual/run_thresholds.hpp"
#include "source/virtual/sampled_counts.hpp"
#include "source/virtual/wanted_event.hpp"
#include "source/virtual/windows.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
namespace {

constexpr std::string_view kAtTheEnd = "modelled counts are there at the end of the run";

bool is_of_code(Split split) {
  return split == Split::functions || split == Split::thread_functions || split == Split::blocks ||
         split == Split::lines;
}

bool is_of_regions(Split split) {
  return split == Split::regions || split == Split::thread_regions;
}

// Slots are told apart, not just what they sum up to.
bool is_by_slot(Split split) {
  return split == Split::threads || split == Split::thread_functions || is_of_regions(split);
}

sample::ThreadCounts thread_row(const engine::SlotEntry& slot, std::vector<sample::Count> counts) {
  return {static_cast<pid_t>(slot.process), static_cast<pid_t>(slot.thread), slot.name,
          std::move(counts)};
}

// Counts of exact and of modelled events, each in its place among those of all, by part.
class PlacedSums {
 public:
  explicit PlacedSums(std::size_t events) : events_(events) {}
  void add(std::uint32_t part, std::span<const std::uint64_t> counts,
           const std::vector<std::size_t>& places) {
    auto& sum = sums_[part];
    sum.resize(events_);
    for (std::size_t i = 0; i < counts.size(); ++i) sum[places[i]] += counts[i];
  }
  [[nodiscard]] std::vector<engine::PartTally::Row> rows() const {
    std::vector<engine::PartTally::Row> rows;
    for (const auto& [part, counts] : sums_) rows.push_back({part, counts});
    return rows;
  }

 private:
  std::size_t events_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> sums_;
};

class VirtualRun final : public CountingRun {
 public:
  VirtualRun(CountRequest request, engine::Run run)
      : request_(std::move(request)),
        run_(std::move(run)),
        tally_(run_.shared()),
        functions_(run_.shared()),
        blocks_(run_.shared(), functions_),
        lines_(functions_) {
    if (is_of_regions(request_.split)) run_.shared().ask_for_marks();
    if (!request_.region.empty()) guide_.emplace(run_.shared(), request_.region);
    std::vector<engine::EventIndex> exact;
    std::vector<const core::ModelledEvent*> modelled, sampled;
    for (const event::Event& event : request_.events) {
      const WantedEvent& wanted = wanted_.emplace_back(look_up(event, request_));
      if (wanted.is_sampled()) sampled.push_back(wanted.modelled);
      if (!wanted.is_counted()) continue;
      auto& places = wanted.index ? exact_places_ : modelled_places_;
      places.push_back(exact.size() + modelled.size());
      if (wanted.index)
        exact.push_back(*wanted.index);
      else
        modelled.push_back(wanted.modelled);
    }
    const auto where = [this](const auto& block, auto address) { return part_of(block, address); };
    exact_ = exact;
    parts_.emplace(tally_, std::move(exact), where);
    if (!sampled.empty()) sampled_.emplace(*request_.model, std::move(sampled));
    if (modelled.empty()) return;
    model_.emplace(*request_.model, modelled,
                   ModelSums::Detail{is_by_slot(request_.split), is_of_code(request_.split)
                                                                     ? ModelSums::Code::instructions
                                                                     : ModelSums::Code::together});
  }

  [[nodiscard]] sample::Source source() const override { return sample::Source::virtual_pmu; }
  [[nodiscard]] const std::vector<event::Event>& events() const override { return request_.events; }
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] std::vector<sample::ThresholdOutcome> thresholds() const override;
  [[nodiscard]] Result<void> start() override {
    LOFT_TRY(unit_, EventUnit::create(exact_.size() + request_.thresholds.size()));
    thresholds_.emplace(request_, run_.shared(), *unit_, exact_);
    LOFT_CHECK(thresholds_->start([this] { return now() - run_.start_time(); }));
    LOFT_CHECK(unit_->start());
    if (request_.windows != nullptr) request_.windows->attach(run_.shared());
    if (model_) model_->attach(run_.shared());
    if (sampled_) sampled_->attach(run_.shared());
    return run_.start();
  }
  [[nodiscard]] ChildProcess* program() override { return &run_.child(); }
  [[nodiscard]] Result<Reading> read() override;
  [[nodiscard]] Result<void> check() const override { return run_.check(); }

 private:
  [[nodiscard]] Result<std::vector<sample::Count>> chosen(const engine::EventVector& all);
  [[nodiscard]] std::vector<sample::Count> with_modelled(
      std::span<const std::uint64_t> exact) const;
  [[nodiscard]] std::vector<sample::Count> placed_exact(
      std::span<const std::uint64_t> counts) const;
  // Nothing as key: of what windows say nothing.
  using Key = std::optional<SampledCounts::Key>;
  [[nodiscard]] std::vector<sample::Count> placed(const std::vector<std::uint64_t>& counts,
                                                  const Key& key) const;
  [[nodiscard]] sample::Count count_of(const WantedEvent& wanted, std::uint64_t value) const;
  [[nodiscard]] sample::Count sampled_count(const Key& key, const core::ModelledEvent& event,
                                            std::size_t number) const;
  [[nodiscard]] Result<std::vector<engine::PartTally::Row>> rows_of(
      std::span<const std::uint32_t> slots);
  void learn_modelled();
  [[nodiscard]] Result<void> learn_sampled();
  [[nodiscard]] Result<void> read_threads(Reading& reading);
  [[nodiscard]] Result<void> read_parts(Reading& reading);
  [[nodiscard]] Result<void> read_blocks(Reading& reading);
  [[nodiscard]] Result<void> read_regions(Reading& reading);
  [[nodiscard]] bool wants_sharing() const {
    return model_ && request_.details != nullptr && request_.details->wants_sharing;
  }
  void show(const engine::PartTally::Row& row, Reading& reading) const;
  [[nodiscard]] sample::BlockCounts block_counts(const engine::PartTally::Row& row) const;
  [[nodiscard]] std::uint32_t part_of(const engine::BlockEntry& block, std::uint64_t address);

  CountRequest request_;
  engine::Run run_;
  engine::Tally tally_;
  std::vector<WantedEvent> wanted_;
  std::vector<engine::EventIndex> exact_;
  FunctionFinder functions_;
  BlockFinder blocks_;
  LineParts lines_;
  std::optional<engine::PartTally> parts_;
  // Where the counts of either kind stand among those of all available events.
  std::vector<std::size_t> exact_places_, modelled_places_;
  std::optional<FullModel> model_;
  std::optional<SampledModel> sampled_;
  std::optional<SampledCounts> sampled_counts_;  // after the end
  // What the model counted, by slot (0 where threads are not told apart) and part.
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint64_t>>> modelled_;
  std::optional<RegionGuide> guide_;
  std::unique_ptr<EventUnit> unit_;  // counts `exact_`, and what thresholds are on
  std::optional<RunThresholds> thresholds_;
};

std::vector<sample::ThresholdOutcome> VirtualRun::thresholds() const {
  std::vector<sample::ThresholdOutcome> told;
  if (!thresholds_) return told;
  for (auto& outcome : thresholds_->outcomes()) {
    told.push_back(std::move(outcome.what));
    if (!outcome.counts.empty()) told.back().counts = placed_exact(outcome.counts);
  }
  return told;
}

// Counts of a moment in the middle of the run.
std::vector<sample::Count> VirtualRun::placed_exact(std::span<const std::uint64_t> counts) const {
  std::vector<sample::Count> all;
  std::size_t next = 0;
  for (const WantedEvent& wanted : wanted_)
    all.push_back(wanted.index ? sample::Count::exact(counts[next++])
                               : sample::Count::missing(wanted.modelled != nullptr
                                                            ? "models tell at the end of the run"
                                                            : wanted.why_missing));
  return all;
}

std::vector<std::string> VirtualRun::notes() const {
  std::vector<std::string> notes = run_.shared().messages();
  if (thresholds_) std::ranges::move(thresholds_->notes(), std::back_inserter(notes));
  notes.insert(notes.end(), functions_.notes().begin(), functions_.notes().end());
  if (model_) std::ranges::move(model_->notes(), std::back_inserter(notes));
  if (sampled_) std::ranges::move(sampled_->notes(), std::back_inserter(notes));
  if (const std::uint32_t wrong = run_.shared().wrong_ends(); wrong != 0)
    notes.push_back(wrong_ends_note(wrong));
  if (is_of_regions(request_.split) && run_.shared().paths().empty())
    notes.push_back("the program marked no region; include/loft/region.h says how");
  if (request_.region.empty()) return notes;
  if (run_.shared().region_entries() == 0) return notes;
  if (tally_.slots().empty())
    notes.push_back("'" + request_.region + "' was never called");
  else
    notes.push_back("counted inside '" + request_.region + "' and what it calls alone");
  return notes;
}

// What the unit shows when it has got the engine's sums.
Result<std::vector<sample::Count>> VirtualRun::chosen(const engine::EventVector& all) {
  std::vector<std::uint64_t> totals;
  for (const engine::EventIndex event : exact_) totals.push_back(all[event]);
  const bool has_ended = run_.pid() < 0;
  LOFT_CHECK(has_ended ? unit_->finish(totals) : unit_->take(totals));
  LOFT_TRY(const auto counts, unit_->read());
  return with_modelled(std::span(counts).first(exact_.size()));
}

std::vector<sample::Count> VirtualRun::with_modelled(std::span<const std::uint64_t> exact) const {
  std::vector<std::uint64_t> counts(exact_places_.size() + modelled_places_.size());
  for (std::size_t i = 0; i < exact.size(); ++i) counts[exact_places_[i]] = exact[i];
  for (const auto& [slot, parts] : modelled_)
    for (const auto& [part, modelled] : parts)
      for (std::size_t i = 0; i < modelled.size(); ++i) counts[modelled_places_[i]] += modelled[i];
  return placed(counts, SampledCounts::Key{});
}

// Counts of the counted events alone, with the others put back in their places. A region that is
// nowhere was not counted at all.
std::vector<sample::Count> VirtualRun::placed(const std::vector<std::uint64_t>& counts,
                                              const Key& key) const {
  std::vector<sample::Count> all;
  std::size_t next = 0, sampled = 0;
  for (const WantedEvent& wanted : wanted_) {
    if (!request_.region.empty() && run_.shared().region_entries() == 0)
      all.push_back(sample::Count::missing("no binary of the program has a function '" +
                                           request_.region + "'"));
    else if (wanted.is_sampled())
      all.push_back(sampled_count(key, *wanted.modelled, sampled++));
    else
      all.push_back(count_of(wanted, wanted.is_counted() ? counts[next++] : 0));
  }
  return all;
}

sample::Count VirtualRun::count_of(const WantedEvent& wanted, std::uint64_t value) const {
  if (!wanted.is_counted()) return sample::Count::missing(wanted.why_missing);
  if (wanted.index) return sample::Count::exact(value);
  if (!model_->is_finished()) return sample::Count::missing(std::string(kAtTheEnd));
  return {sample::Origin::modelled, value, {}, {}, {}, {}};
}

sample::Count VirtualRun::sampled_count(const Key& key, const core::ModelledEvent& event,
                                        std::size_t number) const {
  if (!key) return sample::Count::missing("windows say too little of single blocks and regions");
  if (!sampled_counts_) return sample::Count::missing(std::string(kAtTheEnd));
  return sampled_counts_->of(*key, number, event.unit == "B" ? request_.model->caches.l1d.line : 1);
}

// After the end: what windows say of the rest of the run.
Result<void> VirtualRun::learn_sampled() {
  if (!sampled_ || sampled_->is_finished()) return {};
  sampled_->finish();
  engine::PartTally by_part(
      tally_, {*engine::find_event("instructions")},
      [this](const auto& block, auto address) { return part_of(block, address); });
  std::vector<SampledCounts::Executed> executed;
  for (const std::uint32_t slot : tally_.slots()) {
    LOFT_TRY(const auto rows, by_part.of_slots({&slot, 1}));
    for (const auto& row : rows) executed.push_back({slot, row.part, row.counts[0]});
  }
  const auto part_of_block = [this](std::uint32_t number) {
    const engine::BlockEntry block = run_.shared().block(number);
    return part_of(block, block.address);
  };
  sampled_counts_.emplace(sampled_->windows(), part_of_block, std::move(executed));
  return {};
}

// After the end: each instruction's counts go to the part that it belongs to.
void VirtualRun::learn_modelled() {
  if (!model_ || model_->is_finished()) return;
  model_->finish();
  if (request_.split == Split::blocks) blocks_.learn();
  model_->sums().for_each(
      [&](const ModelSums::Place& place, std::uint64_t, std::span<const std::uint64_t> counts) {
        std::uint32_t part = 0;
        if (is_of_code(request_.split)) {
          const engine::BlockEntry block = run_.shared().block(place.block);
          part = part_of(block, block.address + place.offset);
        }
        auto& sum = modelled_[place.slot][part];
        sum.resize(counts.size());
        for (std::size_t i = 0; i < counts.size(); ++i) sum[i] += counts[i];
      });
}

// The rows of all available events, exact and modelled ones, by part.
Result<std::vector<engine::PartTally::Row>> VirtualRun::rows_of(
    std::span<const std::uint32_t> slots) {
  LOFT_TRY(auto exact, parts_->of_slots(slots));
  if (!model_) return exact;
  PlacedSums sums(exact_places_.size() + modelled_places_.size());
  for (const auto& row : exact) sums.add(row.part, row.counts, exact_places_);
  for (const auto& [slot, parts] : modelled_)
    if (!is_by_slot(request_.split) || std::ranges::find(slots, slot) != slots.end())
      for (const auto& [part, counts] : parts) sums.add(part, counts, modelled_places_);
  return sums.rows();
}

Result<Reading> VirtualRun::read() {
  LOFT_CHECK(run_.check_started());
  Reading reading;
  reading.time = now() - run_.start_time();
  const bool has_ended = run_.pid() < 0;
  if (has_ended) learn_modelled();
  if (has_ended) LOFT_CHECK(learn_sampled());
  if (is_of_code(request_.split)) {
    LOFT_CHECK(read_parts(reading));
  } else {
    LOFT_TRY(const auto total, tally_.of_all());
    LOFT_TRY(reading.totals, chosen(total));
  }
  if (request_.split == Split::threads) LOFT_CHECK(read_threads(reading));
  if (is_of_regions(request_.split)) LOFT_CHECK(read_regions(reading));
  if (request_.with_blocks && has_ended) LOFT_CHECK(read_blocks(reading));
  if (wants_sharing() && has_ended)
    request_.details->sharing =
        line_sharing(model_->coherence(), model_->feed(), run_.shared(), functions_);
  if (request_.windows != nullptr && has_ended) request_.windows->finish(run_.shared(), functions_);
  return reading;
}

Result<void> VirtualRun::read_threads(Reading& reading) {
  const auto slots = run_.shared().slots();
  for (const std::uint32_t i : tally_.slots()) {
    if (i >= slots.size()) break;  // it has come meanwhile
    LOFT_TRY(const auto rows, rows_of({&i, 1}));
    std::vector<std::uint64_t> sum(wanted_.size());
    for (const auto& row : rows) add_to(sum, row.counts);
    reading.threads.push_back(thread_row(slots[i], placed(sum, SampledCounts::Key{.slot = i})));
  }
  return {};
}

// Where functions and blocks are not told apart, everything is one part.
std::uint32_t VirtualRun::part_of(const engine::BlockEntry& block, std::uint64_t address) {
  if (!is_of_code(request_.split)) return 0;
  if (request_.split == Split::lines) return lines_.find(block, address);
  return request_.split == Split::blocks ? blocks_.find(block, address)
                                         : functions_.find(block, address);
}

// The totals are the sums of the parts: while something still runs, two readings would differ.
Result<void> VirtualRun::read_parts(Reading& reading) {
  const std::vector<std::uint32_t> numbers = tally_.slots();
  const auto slots = run_.shared().slots();
  if (request_.split == Split::blocks) blocks_.learn();
  const bool by_thread = request_.split == Split::thread_functions;
  const std::size_t step = by_thread ? 1 : std::max<std::size_t>(1, numbers.size());
  PartSums parts;
  std::vector<std::uint64_t> total(wanted_.size());
  for (std::size_t first = 0; first < numbers.size(); first += step) {
    LOFT_TRY(const auto rows, rows_of(std::span(numbers).subspan(first, step)));
    std::vector<std::uint64_t> sum(wanted_.size());
    SampledCounts::Key key{.slot = numbers[first]};
    for (const auto& row : rows) {
      if (!sampled_ && is_all_zero(row.counts)) continue;
      const std::size_t part = parts.add(row);
      add_to(sum, row.counts);
      key.part = row.part;
      if (by_thread) reading.thread_functions.push_back({first, part, placed(row.counts, key)});
    }
    add_to(total, sum);
    key.part = std::nullopt;
    if (by_thread) reading.threads.push_back(thread_row(slots[numbers[first]], placed(sum, key)));
  }
  if (request_.details != nullptr) request_.details->lines.clear();
  for (const auto& row : parts.rows()) show(row, reading);
  reading.totals = placed(total, SampledCounts::Key{});
  return {};
}

Result<void> VirtualRun::read_regions(Reading& reading) {
  const auto slots = run_.shared().slots();
  RegionRows regions(run_.shared().paths(), wanted_.size(),
                     request_.split == Split::thread_regions);
  for (const std::uint32_t i : tally_.slots()) {
    if (i >= slots.size()) break;  // it has come meanwhile
    LOFT_TRY(const auto rows, rows_of({&i, 1}));
    std::vector<std::uint64_t> sum(wanted_.size());
    for (const auto& row : rows) add_to(sum, row.counts);
    regions.add(slots[i], sum);
  }
  regions.put_into(reading.threads, reading.regions,
                   [this](const auto& counts) { return placed(counts, std::nullopt); });
  return {};
}

// Beside the parts that the request is split into.
Result<void> VirtualRun::read_blocks(Reading& reading) {
  LOFT_TRY(const auto rows, blocks_.counts(tally_, exact_));
  PlacedSums sums(exact_places_.size() + modelled_places_.size());
  for (const auto& row : rows) sums.add(row.part, row.counts, exact_places_);
  if (model_ && model_->is_finished())
    model_->sums().for_each(
        [&](const ModelSums::Place& place, std::uint64_t, std::span<const std::uint64_t> counts) {
          const engine::BlockEntry block = run_.shared().block(place.block);
          sums.add(blocks_.find(block, block.address + place.offset), counts, modelled_places_);
        });
  for (const auto& row : sums.rows()) reading.blocks.push_back(block_counts(row));
  return {};
}

void VirtualRun::show(const engine::PartTally::Row& row, Reading& reading) const {
  if (request_.split == Split::blocks) return reading.blocks.push_back(block_counts(row));
  if (request_.split == Split::lines) {
    if (request_.details == nullptr) return;
    request_.details->lines.push_back(lines_.lines()[row.part]);
    request_.details->lines.back().counts = placed(row.counts, std::nullopt);
    return;
  }
  const auto& function = functions_.functions()[row.part];
  reading.functions.push_back(
      {function.name, function.binary, placed(row.counts, SampledCounts::Key{.part = row.part})});
}

sample::BlockCounts VirtualRun::block_counts(const engine::PartTally::Row& row) const {
  const BlockFinder::Block& block = blocks_.blocks()[row.part];
  sample::BlockCounts shown = describe(block, functions_.functions()[block.function]);
  shown.counts = placed(row.counts, std::nullopt);
  return shown;
}

}  // namespace

Result<void> check(const CountRequest& request) {
  if (!request.pids.empty() || request.whole_machine || request.split == Split::cpus)
    return failure(
        ErrorKind::unsupported, "count with the virtual PMU",
        "it counts programs that loft starts, not running processes, whole machines or CPUs",
        "give the program after --, without -p, --system and --per-core");
  return check_thresholds(request);
}

Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request) {
  LOFT_CHECK(check(request));
  const Preload libraries = Preload::for_program(
      request.command.empty() ? "" : request.command.front(), is_of_regions(request.split));
  LOFT_TRY(auto run, engine::Run::prepare(request.command, request.streams));
  return std::make_unique<VirtualRun>(request, std::move(run));
}
#else
Result<void> check(const CountRequest&) {
  return failure(ErrorKind::unsupported, "count with the virtual PMU",
                 "loft was built without its engine, which exists for x86-64 alone");
}

Result<std::unique_ptr<CountingRun>> prepare(const CountRequest& request) {
  return Failure(check(request).error());
}
#endif

}  // namespace loft::source::virtual_pmu
