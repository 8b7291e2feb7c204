#include "engine/stream.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace loft::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNumberBytes = 8;

[[gnu::target("xsave")]] std::uint64_t enabled_state() { return _xgetbv(0); }

}  // namespace

StreamReader::StreamReader(Shared& shared, StreamListener& listener,
                           std::optional<WindowSchedule> schedule)
    : shared_(shared), listener_(listener), schedule_(std::move(schedule)) {
  scratch_->state.xcr0 = enabled_state();
  shared_.set_reader(true);
  if (schedule_) keep_schedule();  // a window that is due at once begins with the program
  opened_cpu_ = {};                // the thread that reads it has not done anything yet
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

StreamReader::~StreamReader() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  shared_.set_reader(false);
}

void StreamReader::work(const std::stop_token& stop) {
  std::uint32_t calls = 0;
  while (!stop.stop_requested()) {
    const Nanoseconds patience = shared_.has_window() ? Nanoseconds(1ms) : Nanoseconds(5ms);
    calls = shared_.await_stream(calls, schedule_ ? patience : Nanoseconds(20ms));
    read_full_buffers();
    if (schedule_) keep_schedule();
  }
  if (schedule_) shared_.close_window();
  totals_.reading = now(CLOCK_THREAD_CPUTIME_ID);
}

void StreamReader::read_full_buffers() {
  const auto slots = shared_.slots();
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].stream_full == 0) continue;
    const auto bytes = shared_.stream(slot, slots[slot].stream_full);
    totals_.lost_bytes += slots[slot].stream_full - bytes.size();
    read(slot, slots[slot].stream_window, bytes);
    shared_.release_stream(slot);
    last_read_ = now();
  }
}

// Opens windows when they are due, and closes them when every thread that joined has had its share,
// the time is up, or nothing came for a while: a thread that sleeps, or was killed, does not keep
// it open. Where one has had its share, the others are not waited for long.
void StreamReader::keep_schedule() {
  // A program that waits for memory needs a while for its share, above all on a busy machine.
  constexpr Nanoseconds kLongest = 10s;
  constexpr Nanoseconds kQuiet = 150ms;
  constexpr Nanoseconds kQuietAfterOne = 10ms;
  const Nanoseconds time = now();
  if (!shared_.has_window()) {
    const bool is_due = schedule_->is_due(time);
    const bool is_wanted = schedule_->has_budget() && listener_.wants_window(time);
    if (!is_due && !is_wanted) return;
    joined_before_ = shared_.joined();
    left_before_ = shared_.left();
    opened_ = time;
    opened_cpu_ = now(CLOCK_THREAD_CPUTIME_ID);
    if (shared_.open_window(listener_.window_bytes(schedule_->bytes()))) ++totals_.windows;
    return;
  }
  const std::uint32_t joined = shared_.joined();
  const bool is_over = joined != joined_before_ && joined == shared_.left();
  const bool has_one_left = shared_.left() != left_before_;
  const bool is_quiet =
      time - std::max(opened_, last_read_) > (has_one_left ? kQuietAfterOne : kQuiet);
  if (!is_over && !is_quiet && time - opened_ < kLongest) return;
  shared_.close_window();
  schedule_->add_cost(time, time - opened_, now(CLOCK_THREAD_CPUTIME_ID) - opened_cpu_);
}

void StreamReader::finish() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  const auto slots = shared_.slots();
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    read(slot, slots[slot].stream_window, shared_.stream(slot, shared_.unread_stream(slot)));
    tell_last(slot, 0);
  }
}

const StreamBlock* StreamReader::block_of(std::uint64_t number) {
  if (number == kNoBlock || number >= shared_.blocks()) return nullptr;
  if (number >= blocks_.size())
    blocks_.resize(std::max<std::size_t>(number + 1, blocks_.size() * 2));
  auto& block = blocks_[number];
  if (block == nullptr) {
    const BlockEntry entry = shared_.block(static_cast<std::uint32_t>(number));
    block = std::make_unique<StreamBlock>(entry, shared_.code(entry));
  }
  return block.get();
}

void StreamReader::read(std::uint32_t slot, std::uint32_t window,
                        std::span<const std::byte> bytes) {
  if (slot >= last_.size()) last_.resize(slot + 1u);
  if (last_[slot].window != window) tell_last(slot, 0);
  const std::byte* before = nullptr;  // the record before this one, which is not told yet
  std::uint32_t number_before = 0;
  while (bytes.size() >= kNumberBytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    const bool is_known = number < blocks_.size() && blocks_[number] != nullptr;
    const StreamBlock* block = is_known ? blocks_[number].get() : block_of(number);
    if (block == nullptr || bytes.size() < block->record_bytes()) break;
    if (before != nullptr)
      tell(slot, window, number_before, before, block->address());
    else
      tell_last(slot, block->address());
    before = bytes.data();
    number_before = static_cast<std::uint32_t>(number);
    bytes = bytes.subspan(block->record_bytes());
  }
  totals_.lost_bytes += bytes.size();
  if (before == nullptr) return;
  const std::size_t size = block_of(number_before)->record_bytes();
  last_[slot] = {number_before, window, {before, before + size}};
}

void StreamReader::tell(std::uint32_t slot, std::uint32_t window, std::uint32_t number,
                        const std::byte* record, std::uint64_t next) {
  const StreamBlock& block = *blocks_[number];
  ++totals_.blocks;
  totals_.instructions += block.instructions().size();
  listener_.on_block({slot, window, number, &block, record, scratch_.get(), next});
}

void StreamReader::tell_last(std::uint32_t slot, std::uint64_t next) {
  if (slot >= last_.size() || last_[slot].record.empty()) return;
  const Last last = std::exchange(last_[slot], {});
  tell(slot, last.window, last.number, last.record.data(), next);
}

}  // namespace loft::engine
