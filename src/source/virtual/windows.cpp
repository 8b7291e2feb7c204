#include "source/virtual/windows.hpp"

#ifdef LOFT_HAS_ENGINE
#include <optional>
#include <random>
#include <unordered_map>

#include "core/models.hpp"
#include "engine/stream.hpp"
#include "source/virtual/core_instruction.hpp"
#include "source/virtual/functions.hpp"

namespace loft::source::virtual_pmu {
namespace {

// Threads beyond share the caches of an earlier one, as threads do that take turns on a core.
constexpr std::uint32_t kMostCores = 32;
// Programs of a run have addresses of their own: the upper bits, which no address has, tell them
// apart.
constexpr int kProcessShift = 48;

bool always_goes(core::BranchKind kind) {
  return kind != core::BranchKind::none && kind != core::BranchKind::conditional;
}

}  // namespace

class WindowKeeper::Listener : public engine::StreamListener {
 public:
  Listener(const core::MachineGeometry& geometry, const WindowPlan& plan)
      : plan_(plan), models_(geometry) {}

  void attach(engine::Shared& shared) {
    shared_ = &shared;
    shared.ask_for_stream(engine::StreamMode::windows);
    reader_.emplace(shared, *this, engine::WindowSchedule(plan_.stream));
  }

  void finish(const engine::Shared& shared, FunctionFinder& finder) {
    if (!reader_) return;
    reader_->finish();
    reader_.reset();
    end_window();
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;  // by those of the finder
    for (KeptWindow& kept : windows_) {
      for (const std::uint64_t number : kept.window.blocks) {
        const engine::BlockEntry block = shared.block(static_cast<std::uint32_t>(number));
        const std::uint32_t found = finder.find(block, block.address);
        const auto [place, is_new] =
            numbers.try_emplace(found, static_cast<std::uint32_t>(functions_.size()));
        if (is_new)
          functions_.push_back({finder.functions()[found].name, finder.functions()[found].binary});
        kept.functions.push_back(place->second);
      }
    }
  }

  void on_block(const engine::StreamedBlock& ran) override {
    if (ran.window != window_) {
      end_window();
      window_ = ran.window;
      threads_.clear();
      models_.start_warm_up(core::Cache::Keep::as_guess);
    }
    Thread& thread = threads_[ran.slot];
    if (thread.seen == 0) thread.process = process_of(ran.slot);
    keep_or_pause(ran.slot, thread);
    execute(ran, thread);
    thread.seen += ran.block->instructions().size();
  }

  [[nodiscard]] const std::vector<KeptWindow>& windows() const { return windows_; }
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  struct Thread {
    std::uint64_t seen = 0;  // instructions in this window of the stream
    std::uint64_t next = 0;  // when its next window begins, by `seen`; 0: after the warm-up
    std::uint64_t process = 0;
  };

  std::uint64_t process_of(std::uint32_t slot) {
    const std::uint32_t image = shared_->slot(slot).image;
    return (std::uint64_t{image} & 0x7fff) << kProcessShift;
  }

  // A window ends when it is full, when another thread's buffer is read, and with the stream's.
  void keep_or_pause(std::uint32_t slot, Thread& thread) {
    if (thread.next == 0) thread.next = plan_.warm_up;
    if (recording_ && (slot != recorded_slot_ || current_.window.executions.size() >= plan_.length))
      end_window();
    if (recording_ || thread.seen < thread.next) return;
    recording_ = true;
    recorded_slot_ = slot;
    current_ = {};
    models_.record(&current_.window, slot % kMostCores);
    thread.next = thread.seen + plan_.length + plan_.gap;
  }

  void end_window() {
    if (!recording_) return;
    recording_ = false;
    models_.record(nullptr, 0);
    if (current_.window.executions.size() < plan_.length / 4) return;
    ++finished_;
    if (windows_.size() < plan_.most) {
      windows_.push_back(std::move(current_));
      return;
    }
    // Each of all windows has the same chance to stay.
    const std::uint64_t place = random_() % finished_;
    if (place < windows_.size()) windows_[place] = std::move(current_);
  }

  void execute(const engine::StreamedBlock& ran, const Thread& thread) {
    const auto& instructions = instructions_of(ran, thread);
    const std::uint32_t number = ran.slot % kMostCores;
    std::size_t touch = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      touched_.clear();
      for (; touch < ran.touches.size() && ran.touches[touch].instruction == i; ++touch) {
        const engine::StreamTouch& each = ran.touches[touch];
        const bool is_past = each.is_store && ran.block->instructions()[i].is_non_temporal;
        touched_.push_back({each.address | thread.process, each.size, each.is_store, is_past});
      }
      const bool is_last = i + 1 == instructions.size();
      const bool is_taken = is_last && (ran.branch() == engine::StreamedBlock::Branch::taken ||
                                        always_goes(instructions[i].branch));
      models_.execute(number, instructions[i], touched_, is_taken,
                      is_last ? ran.next | thread.process : 0);
    }
  }

  const std::vector<core::Instruction>& instructions_of(const engine::StreamedBlock& ran,
                                                        const Thread& thread) {
    auto& known = blocks_[ran.number];
    if (known.empty()) {
      for (const engine::StaticInstruction& fixed : ran.block->instructions())
        known.push_back(core_instruction(
            fixed, (ran.block->address() + fixed.offset) | thread.process, ran.number));
      fuse_last(ran.block->instructions(), known);
    }
    return known;
  }

  WindowPlan plan_;
  core::Models models_;
  engine::Shared* shared_ = nullptr;
  std::optional<engine::StreamReader> reader_;
  std::unordered_map<std::uint32_t, Thread> threads_;                         // by slot
  std::unordered_map<std::uint32_t, std::vector<core::Instruction>> blocks_;  // by number
  std::vector<core::Touched> touched_;
  std::mt19937_64 random_{1};
  std::uint64_t finished_ = 0;
  std::uint32_t window_ = 0;
  bool recording_ = false;
  std::uint32_t recorded_slot_ = 0;
  KeptWindow current_;
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
