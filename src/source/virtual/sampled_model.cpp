#ifdef LOFT_HAS_ENGINE
#include "source/virtual/sampled_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/models.hpp"
#include "core/sampled_events.hpp"
#include "engine/stream.hpp"
#include "source/virtual/model_feed.hpp"
#include "source/virtual/model_sums.hpp"

namespace loft::source::virtual_pmu {
namespace {

std::vector<core::CountReader> readers_of(const std::vector<const core::ModelledEvent*>& events) {
  std::vector<core::CountReader> readers;
  for (const core::ModelledEvent* event : events) {
    const core::SampledReaders bounds = core::sampled_readers(*event).value();
    readers.push_back(bounds.surely);
    readers.push_back(bounds.perhaps);
  }
  return readers;
}

bool is_far(const core::ModelledEvent* event) {
  return event->name.starts_with("l3_") || event->name.starts_with("memory_");
}

// How many instructions all threads have executed so far. Those that have ended are read once.
class ExecutedSoFar {
 public:
  std::uint64_t read(const engine::Shared& shared) {
    std::uint64_t sum = ended_;
    const auto slots = shared.slots();
    is_read_.resize(slots.size());
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      if (is_read_[slot]) continue;
      const std::uint64_t executed = of_slot(shared, slot);
      sum += executed;
      is_read_[slot] = slots[slot].ended != 0;
      if (is_read_[slot]) ended_ += executed;
    }
    return sum;
  }

 private:
  static std::uint64_t of_slot(const engine::Shared& shared, std::uint32_t slot) {
    const auto counts = shared.counts(slot);
    if (!counts) return 0;
    std::uint64_t sum = 0;
    for (const auto& [number, count] : *counts) {
      const engine::BlockEntry entry = shared.block(number);
      if (entry.kind == static_cast<std::uint16_t>(engine::BlockKind::body))
        sum += count * entry.instructions;
    }
    return sum;
  }

  std::vector<bool> is_read_;
  std::uint64_t ended_ = 0;
};

}  // namespace

class SampledModel::Listener : public engine::StreamListener {
 public:
  Listener(const core::MachineGeometry& geometry, std::vector<const core::ModelledEvent*> events,
           const SamplePlan& plan)
      : plan_(plan),
        asks_far_(std::ranges::any_of(events, is_far)),
        models_(geometry, parts_for(events)),
        sums_(models_, readers_of(events), {.by_thread = true, .code = ModelSums::Code::blocks}) {}

  void attach(engine::Shared& shared) {
    shared_ = &shared;
    feed_.emplace(models_, shared);
    shared.ask_for_stream(engine::StreamMode::windows);
    reader_.emplace(shared, *this, engine::WindowSchedule(plan_.stream));
  }

  void finish() {
    if (is_finished_ || !reader_) return;
    reader_->finish();
    lost_bytes_ = reader_->totals().lost_bytes;
    reader_.reset();
    end_window();
    is_finished_ = true;
  }

  void on_block(const engine::StreamedBlock& ran) override {
    if (ran.window > window_) [[unlikely]]
      begin_window(ran.window);
    if (ran.slot >= seen_.size()) seen_.resize(ran.slot + 1u);
    std::uint64_t& seen = seen_[ran.slot];
    // The last block of a thread in a window is told when the next one of it has begun.
    const bool is_late = ran.window < window_;
    if (!is_late && (current_.is_start || seen >= warm_up_)) {
      if (!is_counting_) far_before_ = models_.caches().moved().beyond.back();
      is_counting_ = true;
      sums_.execute(*feed_, ran);
    } else {
      sums_.pause();
      feed_->execute(ran, core::BlockObserver{});
    }
    seen += ran.block->instructions().size();
  }

  [[nodiscard]] std::uint64_t window_bytes(std::uint64_t planned) override {
    opened_stretch_ = stretch_;
    return planned * stretch_;
  }

  [[nodiscard]] bool is_finished() const { return is_finished_; }
  [[nodiscard]] const std::vector<ModelWindow>& windows() const { return windows_; }
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  static constexpr std::uint64_t kMostStretch = 8;
  static constexpr double kMuchUnknown = 0.1;

  // Doubles the windows to come when much of what was asked of memory is not known.
  void stretch() {
    if (!asks_far_ || current_.is_start || !is_counting_ || stretch_ >= kMostStretch) return;
    const core::Reach::Bounds& now = models_.caches().moved().beyond.back();
    const double perhaps = static_cast<double>(now.perhaps - far_before_.perhaps);
    const double surely = static_cast<double>(now.surely - far_before_.surely);
    if (perhaps - surely > kMuchUnknown * perhaps) stretch_ *= 2;
  }

  void begin_window(std::uint32_t window) {
    end_window();
    warm_up_ = plan_.warm_up * opened_stretch_;
    // The first is opened before the program starts: its caches are empty, which is known.
    current_ = {.position = executed_.read(*shared_), .is_start = window == 1};
    if (!current_.is_start) models_.start_warm_up(core::Cache::Keep::as_guess);
    window_ = window;
    seen_.clear();
  }

  void end_window() {
    stretch();
    is_counting_ = false;
    sums_.for_each([&](const ModelSums::Place& place, std::uint64_t executions,
                       std::span<const std::uint64_t> counts) {
      const std::uint64_t instructions = executions * shared_->block(place.block).instructions;
      current_.instructions += instructions;
      current_.rows.push_back(
          {place.slot, place.block, instructions, {counts.begin(), counts.end()}});
    });
    sums_.clear();
    if (!current_.rows.empty()) windows_.push_back(std::move(current_));
    current_ = {};
  }

  SamplePlan plan_;
  bool asks_far_;  // for what depends on the last level of cache
  core::Models models_;
  ModelSums sums_;
  engine::Shared* shared_ = nullptr;
  std::optional<ModelFeed> feed_;
  std::optional<engine::StreamReader> reader_;
  ExecutedSoFar executed_;
  std::uint64_t stretch_ = 1;         // of the next window
  std::uint64_t opened_stretch_ = 1;  // of the one that was opened last
  std::uint64_t warm_up_ = 0;         // of this one
  bool is_counting_ = false;          // the warm-up is over
  core::Reach::Bounds far_before_;    // at its end
  std::uint32_t window_ = 0;
  std::vector<std::uint64_t> seen_;  // instructions of each slot in this window
  ModelWindow current_;
  std::vector<ModelWindow> windows_;
  std::uint64_t lost_bytes_ = 0;
  bool is_finished_ = false;
};

std::vector<std::string> SampledModel::Listener::notes() const {
  std::uint64_t instructions = 0;
  for (const ModelWindow& window : windows_) instructions += window.instructions;
  std::vector<std::string> notes{fmt::format(
      "modelled in {} windows with {:.1f} M instructions, in user mode, with 95 % intervals: {}",
      windows_.size(), static_cast<double>(instructions) / 1e6, describe(models_.geometry()))};
  if (lost_bytes_ != 0)
    notes.push_back(
        fmt::format("{} bytes of the stream of addresses could not be read", lost_bytes_));
  return notes;
}

SampledModel::SampledModel(const core::MachineGeometry& geometry,
                           std::vector<const core::ModelledEvent*> events, const SamplePlan& plan)
    : listener_(std::make_unique<Listener>(geometry, std::move(events), plan)) {}
SampledModel::~SampledModel() = default;
void SampledModel::attach(engine::Shared& shared) { listener_->attach(shared); }
void SampledModel::finish() { listener_->finish(); }
bool SampledModel::is_finished() const { return listener_->is_finished(); }
const std::vector<ModelWindow>& SampledModel::windows() const { return listener_->windows(); }
std::vector<std::string> SampledModel::notes() const { return listener_->notes(); }

}  // namespace loft::source::virtual_pmu
#endif
