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
    take_full_buffers();
    read_taken();
    if (schedule_) keep_schedule();
  }
  if (schedule_) shared_.close_window();
  totals_.reading = now(CLOCK_THREAD_CPUTIME_ID);
}

// The program goes on at once: copying takes a hundredth of the time that models take.
void StreamReader::take_full_buffers() {
  const auto slots = shared_.slots();
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].stream_full == 0) continue;
    const auto bytes = shared_.stream(slot, slots[slot].stream_full);
    totals_.lost_bytes += slots[slot].stream_full - bytes.size();
    Taken& taken = taken_.emplace_back();
    taken.slot = slot;
    taken.window = slots[slot].stream_window;
    if (!spare_.empty()) {
      taken.memory = std::move(spare_.back());
      spare_.pop_back();
    }
    taken.memory.assign(bytes.begin(), bytes.end());
    begin(taken, taken.memory);
    shared_.release_stream(slot);
    last_read_ = now();
  }
}

void StreamReader::read_taken() {
  constexpr std::size_t kTurn = 32;  // blocks
  while (!taken_.empty()) {
    // Windows are kept of one thread at a time.
    const bool takes_turns = taken_.size() > 1 && !schedule_;
    for (std::size_t i = 0; i < taken_.size();) {
      if (takes_turns && read(taken_[i], kTurn)) {
        ++i;
        continue;
      }
      read_all(taken_[i]);
      spare_.push_back(std::move(taken_[i].memory));
      taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// Opens windows when they are due, and closes them when every thread that joined has had its share,
// the time is up, or nothing came for a while: a thread that sleeps, or was killed, does not keep
// it open. Where one has had its share, the others are not waited for long.
void StreamReader::keep_schedule() {
  // A program that waits for memory needs a while for its share, above all on a busy machine.
  constexpr Nanoseconds kLongest = 10s;
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
  // The one that begins with the program waits for it: on a busy machine it starts late.
  const bool waits_for_start = totals_.windows == 1 && joined == 0;
  if (waits_for_start) opened_ = time;
  const bool is_quiet =
      time - std::max(opened_, last_read_) > (has_one_left ? kQuietAfterOne : schedule_->quiet());
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
    Taken rest{.slot = slot, .window = slots[slot].stream_window};
    begin(rest, shared_.stream(slot, shared_.unread_stream(slot)));
    read_all(rest);
    tell_last(slot, 0);
  }
}

StreamReader::Size StreamReader::new_size(std::uint64_t number) {
  if (number == kNoBlock || number >= shared_.blocks()) return {};
  if (number >= blocks_.size()) {
    blocks_.resize(std::max<std::size_t>(number + 1, blocks_.size() * 2));
    sizes_.resize(blocks_.size());
  }
  const BlockEntry entry = shared_.block(static_cast<std::uint32_t>(number));
  blocks_[number] = std::make_unique<StreamBlock>(entry, shared_.code(entry));
  const StreamBlock& block = *blocks_[number];
  sizes_[number] = {static_cast<std::uint32_t>(block.record_bytes()),
                    static_cast<std::uint32_t>(block.instructions().size())};
  return sizes_[number];
}

void StreamReader::begin(Taken& taken, std::span<const std::byte> bytes) {
  if (taken.slot >= last_.size()) last_.resize(taken.slot + 1u);
  if (last_[taken.slot].window != taken.window) tell_last(taken.slot, 0);
  taken.bytes = bytes;
}

// A block is told when the next one says where the thread went: the last one of each turn waits.
bool StreamReader::read(Taken& taken, std::size_t blocks) {
  steps_.clear();
  if (taken.before) steps_.push_back(*taken.before);
  const std::byte* const bytes = taken.bytes.data();
  const std::size_t end = taken.bytes.size();
  std::size_t done = taken.done;
  for (; blocks > 0 && end - done >= kNumberBytes; --blocks) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes + done, sizeof number);
    const Size size = size_of(number);
    if (size.bytes == 0 || end - done < size.bytes) break;
    steps_.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(done)});
    done += size.bytes;
  }
  if (!taken.before && !steps_.empty())
    tell_last(taken.slot, blocks_[steps_.front().number]->address());
  taken.done = done;
  if (!steps_.empty()) {
    taken.before = steps_.back();
    tell(taken.slot, taken.window, std::span(steps_).first(steps_.size() - 1), bytes,
         blocks_[steps_.back().number]->address());
  }
  return blocks == 0;
}

void StreamReader::read_all(Taken& taken) {
  constexpr std::size_t kAlone = 2048;  // blocks at a time: their records stay in the caches
  while (read(taken, kAlone)) {
  }
  totals_.lost_bytes += taken.bytes.size() - taken.done;
  if (!taken.before) return;
  const std::byte* const record = taken.bytes.data() + taken.before->offset;
  const std::uint32_t number = taken.before->number;
  last_[taken.slot] = {number, taken.window, {record, record + sizes_[number].bytes}};
}

void StreamReader::tell(std::uint32_t slot, std::uint32_t window,
                        std::span<const StreamBatch::Step> steps, const std::byte* records,
                        std::uint64_t next) {
  if (steps.empty()) return;
  totals_.blocks += steps.size();
  for (const StreamBatch::Step& step : steps)
    totals_.instructions += sizes_[step.number].instructions;
  listener_.on_batch({slot, window, steps, records, blocks_, next, scratch_.get()});
}

void StreamReader::tell_last(std::uint32_t slot, std::uint64_t next) {
  if (slot >= last_.size() || last_[slot].record.empty()) return;
  const Last last = std::exchange(last_[slot], {});
  const StreamBatch::Step step{last.number, 0};
  tell(slot, last.window, {&step, 1}, last.record.data(), next);
}

}  // namespace loft::engine
