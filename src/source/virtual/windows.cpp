#include "source/virtual/windows.hpp"

#ifdef LOFT_HAS_ENGINE
#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <random>
#include <unordered_map>

#include "base/file.hpp"
#include "core/models.hpp"
#include "engine/stream.hpp"
#include "engine/tally.hpp"
#include "source/virtual/functions.hpp"
#include "source/virtual/hot_blocks.hpp"
#include "source/virtual/model_feed.hpp"
#include "source/virtual/page_sizes.hpp"
#include "source/virtual/shared_lines.hpp"
#include "source/virtual/window_needs.hpp"

namespace loft::source::virtual_pmu {
class WindowKeeper::Listener : public engine::StreamListener {
 public:
  Listener(const core::MachineGeometry& geometry, const WindowPlan& plan)
      : plan_(plan),
        models_(geometry, {.walks = true, .relearns = true}),
        needs_(plan.hot.size()),
        recorded_(plan.hot.size()) {}

  void attach(engine::Shared& shared) {
    shared_ = &shared;
    hot_.emplace(shared, plan_.hot);
    feed_.emplace(models_, shared);
    tally_.emplace(shared);
    shared.ask_for_stream(engine::StreamMode::windows);
    reader_.emplace(shared, *this, engine::WindowSchedule(plan_.stream));
  }

  void finish(const engine::Shared& shared, FunctionFinder& finder) {
    if (!reader_) return;
    reader_->finish();
    reader_.reset();
    end_window();
    keep_pending();
    hot_.reset();
    std::ranges::move(of_hot_, std::back_inserter(windows_));
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // by those of the finder
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      KeptWindow& kept = windows_[i];
      kept.number = i;
      std::vector<std::uint64_t>
          shifts;  // by block: from where it ran to where it is in the binary
      for (const std::uint64_t number : kept.window.blocks) {
        const engine::BlockEntry block = shared.block(static_cast<std::uint32_t>(number));
        shifts.push_back(finder.address_in_binary(block, block.address) - block.address);
        const std::uint32_t found = finder.find(block, block.address);
        const auto [place, is_new] =
            numbers.try_emplace(found, static_cast<std::uint32_t>(functions_.size()));
        if (is_new)
          functions_.push_back({finder.functions()[found].name, finder.functions()[found].binary});
        kept.functions.push_back(place->second);
      }
      for (const core::Instruction& each : kept.window.instructions)
        kept.addresses.push_back(ModelFeed::address_in_process(each.address) + shifts[each.block]);
    }
  }

  void on_block(const engine::StreamedBlock& ran) override {
    // The last block of a thread in a window is told when it writes again: that window is over.
    if (ran.window < window_) return;
    if (ran.window != window_) {
      end_window();
      keep_pending();
      window_ = ran.window;
      threads_.clear();
      executed_ = executed_so_far();
      has_threads_ = shared_->joined() > 1;
      models_.start_warm_up(core::Cache::Keep::as_guess);
      // Ever more rarely: a large process takes milliseconds.
      if (std::has_single_bit(++opened_)) learn_page_sizes();
    }
    if (ran.slot >= threads_.size()) threads_.resize(ran.slot + 1u);
    Thread& thread = threads_[ran.slot];
    const std::uint32_t function = hot_->function_of(ran.number);
    keep_or_pause(ran.slot, thread, function);
    feed_->execute(ran, core::BlockObserver{});
    if (has_threads_)
      ran.for_each_touch([&](const engine::StreamTouch& touch) {
        lines_.note(ran.slot, touch.address | feed_->process_of(ran.slot), touch.is_store);
      });
    thread.seen += ran.block->instructions().size();
    if (recording_ && function != HotBlocks::kNone)
      recorded_[function] += ran.block->instructions().size();
  }

  [[nodiscard]] bool wants_window(Nanoseconds time) override {
    needs_.end_window();  // asked between two windows
    if (const auto ran = hot_->look(time)) needs_.add_executed(ran->by_function, ran->all);
    return needs_.wants_window();
  }
  [[nodiscard]] std::uint64_t window_bytes(std::uint64_t planned) override {
    const std::uint64_t bytes = needs_.bytes(planned);
    needs_.start_window();
    return bytes;
  }

  [[nodiscard]] const std::vector<KeptWindow>& windows() const { return windows_; }
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  struct Thread {
    std::uint64_t seen = 0;  // instructions in this window of the stream
    std::uint64_t next = 0;  // when its next window begins, by `seen`; 0: after the warm-up
  };

  // Where the program is, for whoever wants to know when a window was.
  std::uint64_t executed_so_far() {
    static const auto instructions = engine::find_event("instructions");
    const auto counts = tally_->of_all();
    return counts && instructions ? (*counts)[*instructions] : 0;
  }

  void learn_page_sizes() {
    const auto slots = shared_->slots();
    std::unordered_map<std::uint32_t, std::vector<PageRange>> by_process;
    for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].ended != 0 || slots[slot].thread == 0) continue;
      const auto [ranges, is_new] = by_process.try_emplace(slots[slot].process);
      if (is_new) {
        const auto smaps = read_file("/proc/" + std::to_string(slots[slot].process) + "/smaps");
        if (smaps) ranges->second = large_pages(*smaps);
      }
      const std::uint64_t process = feed_->process_of(slot);
      for (const PageRange& range : ranges->second)
        models_.tlb(ModelFeed::core_of(slot))
            .pages()
            .add(range.begin | process, range.end | process, range.shift);
    }
  }

  // A window ends when it is full, when another thread's buffer is read, and with the stream's.
  // It begins after a gap, or with a function that lacks windows.
  void keep_or_pause(std::uint32_t slot, Thread& thread, std::uint32_t function) {
    if (thread.next == 0) thread.next = plan_.warm_up;
    if (recording_ && (slot != recorded_slot_ || current_.window.executions.size() >= plan_.length))
      end_window();
    if (recording_) return;
    is_of_hot_ = thread.seen >= plan_.warm_up && needs_.lacks(function);
    if (thread.seen < thread.next && !is_of_hot_) return;
    recording_ = true;
    recorded_slot_ = slot;
    std::ranges::fill(recorded_, 0);
    current_ = {};
    current_.executed_before = executed_ + thread.seen;
    models_.record(&current_.window, ModelFeed::core_of(slot));
    thread.next = thread.seen + plan_.length + plan_.gap;
  }

  void end_window() {
    if (!recording_) return;
    recording_ = false;
    models_.record(nullptr, 0);
    if (current_.window.executions.size() < plan_.length / 4) return;
    for (std::uint32_t i = 0; i < recorded_.size(); ++i) needs_.add_recorded(i, recorded_[i]);
    pending_.push_back({recorded_slot_, is_of_hot_, std::move(current_)});
  }

  // What threads share is known when all of them were read.
  void keep_pending() {
    for (auto& [slot, is_of_hot, kept] : pending_) {
      if (has_threads_)
        for (core::WindowAccess& access : kept.window.accesses)
          access.cache.is_transfer |= lines_.is_contended(slot, access.address, access.is_store);
      if (is_of_hot)
        of_hot_.push_back(std::move(kept));
      else
        keep(std::move(kept));
    }
    pending_.clear();
    if (has_threads_) lines_.clear();
  }

  void keep(KeptWindow kept) {
    ++finished_;
    if (windows_.size() < plan_.most) {
      windows_.push_back(std::move(kept));
      return;
    }
    // Each of all windows has the same chance to stay.
    const std::uint64_t place = random_() % finished_;
    if (place < windows_.size()) windows_[place] = std::move(kept);
  }

  WindowPlan plan_;
  core::Models models_;
  std::optional<ModelFeed> feed_;
  std::optional<engine::StreamReader> reader_;
  std::vector<Thread> threads_;  // by slot
  std::mt19937_64 random_{1};
  std::uint64_t finished_ = 0;
  std::optional<engine::Tally> tally_;
  std::uint64_t executed_ = 0;  // by the whole program, before the stream's window
  std::uint32_t window_ = 0;
  std::uint32_t opened_ = 0;  // windows of the stream
  bool recording_ = false;
  std::uint32_t recorded_slot_ = 0;
  KeptWindow current_;
  struct Pending {
    std::uint32_t slot = 0;
    bool is_of_hot = false;
    KeptWindow kept;
  };
  std::vector<Pending> pending_;  // of this window of the stream
  std::optional<HotBlocks> hot_;
  WindowNeeds needs_;
  std::vector<std::uint64_t> recorded_;  // of each hot function, in the window at hand
  bool is_of_hot_ = false;               // it was begun for one of them
  std::vector<KeptWindow> of_hot_;       // such windows, which all stay
  engine::Shared* shared_ = nullptr;
  bool has_threads_ = false;
  SharedLines lines_;
  std::vector<KeptWindow> windows_;
  std::vector<Function> functions_;
};

WindowKeeper::WindowKeeper(const core::MachineGeometry& geometry, const WindowPlan& plan)
    : listener_(std::make_unique<Listener>(geometry, plan)) {}
WindowKeeper::~WindowKeeper() = default;
void WindowKeeper::attach(engine::Shared& shared) { listener_->attach(shared); }
void WindowKeeper::finish(const engine::Shared& shared, FunctionFinder& finder) {
  listener_->finish(shared, finder);
}
const std::vector<KeptWindow>& WindowKeeper::windows() const { return listener_->windows(); }
const std::vector<WindowKeeper::Function>& WindowKeeper::functions() const {
  return listener_->functions();
}

}  // namespace loft::source::virtual_pmu
#else
namespace loft::source::virtual_pmu {

// Without an engine there is no stream: nothing is kept.
class WindowKeeper::Listener {
 public:
  std::vector<KeptWindow> windows;
  std::vector<Function> functions;
};

WindowKeeper::WindowKeeper(const core::MachineGeometry&, const WindowPlan&)
    : listener_(std::make_unique<Listener>()) {}
WindowKeeper::~WindowKeeper() = default;
void WindowKeeper::attach(engine::Shared&) {}
void WindowKeeper::finish(const engine::Shared&, FunctionFinder&) {}
const std::vector<KeptWindow>& WindowKeeper::windows() const { return listener_->windows; }
const std::vector<WindowKeeper::Function>& WindowKeeper::functions() const {
  return listener_->functions;
}

}  // namespace loft::source::virtual_pmu
#endif
