// Reads the address stream of a run: block by block, what every instruction touched, in order per
// thread.
//
//   class Caches : public engine::StreamListener {
//     void on_block(const engine::StreamedBlock& ran) override {
//       ran.for_each_touch([](const StreamTouch& touch) {
//         cache.access(touch.address, touch.size);
//       });
//     }
//   };
//
//   Caches caches;
//   run.shared().ask_for_stream(StreamMode::windows);          // before it starts
//   StreamReader reader(run.shared(), caches, WindowSchedule());
//   run.start();  run.wait();
//   reader.finish();                                           // what was left in the buffers
//
// The listener is called by the reader's own thread, while the program goes on and fills its next
// buffer. What one thread did is told in order. Without windows, threads whose buffers were full at
// the same time are told in turns, some blocks each: about as long as a line takes that one thread
// gets from another.
// With StreamMode::handed_over everything is read, with StreamMode::windows what falls into the
// windows that the schedule opens, or somebody else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "engine/shared.hpp"
#include "engine/stream_block.hpp"
#include "engine/window_schedule.hpp"

namespace loft::engine {

// One execution of a block.
struct StreamedBlock {
  enum class Branch : std::uint8_t { unknown, not_taken, taken };

  std::uint32_t slot = 0;    // of the thread: Shared::slot()
  std::uint32_t window = 0;  // a new number: the thread has done other things since
  std::uint32_t number = 0;  // Shared::block()
  const StreamBlock* block = nullptr;
  const std::byte* record = nullptr;  // its words
  StreamScratch* scratch = nullptr;
  std::uint64_t next = 0;  // where the thread's next block starts; 0: not known

  // What it touched, in order; the list is valid until another one is asked for.
  template <class Take>
  [[gnu::always_inline]] void for_each_touch(Take&& take) const {
    block->for_each_touch(record, *scratch, take);
  }
  [[nodiscard]] std::span<const StreamTouch> touches() const {
    return block->touches(record, *scratch);
  }
  // What its last instruction did, if that is a conditional branch. Unknown where the window ends,
  // or a signal came.
  [[nodiscard]] Branch branch() const {
    if (next == 0 || block->conditional_target() == 0) return Branch::unknown;
    if (next == block->conditional_target()) return Branch::taken;
    return next == block->end() ? Branch::not_taken : Branch::unknown;
  }
};

// Executions of blocks by one thread, one after the other.
struct StreamBatch {
  struct Step {
    std::uint32_t number = 0;  // of the block
    std::uint32_t offset = 0;  // of its record, in bytes
  };

  std::uint32_t slot = 0;
  std::uint32_t window = 0;
  std::span<const Step> steps;
  const std::byte* records = nullptr;
  std::span<const std::unique_ptr<StreamBlock>> blocks;  // by number
  std::uint64_t next = 0;  // where the block behind the last one starts; 0: not known
  StreamScratch* scratch = nullptr;

  [[nodiscard]] std::size_t size() const { return steps.size(); }
  [[nodiscard]] const StreamBlock& block(std::size_t i) const { return *blocks[steps[i].number]; }
  [[nodiscard]] const std::byte* record(std::size_t i) const { return records + steps[i].offset; }
  [[nodiscard]] StreamedBlock operator[](std::size_t i) const {
    const std::uint64_t after = i + 1 < steps.size() ? block(i + 1).address() : next;
    return {slot, window, steps[i].number, &block(i), record(i), scratch, after};
  }
};

class StreamListener {
 public:
  StreamListener() = default;
  virtual ~StreamListener() = default;
  StreamListener(const StreamListener&) = delete;
  StreamListener& operator=(const StreamListener&) = delete;
  virtual void on_block(const StreamedBlock&) {}
  // The same many at a time, for listeners that are quicker so.
  virtual void on_batch(const StreamBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) on_block(batch[i]);
  }
  // Whether a window is to be opened now, though none is due. Asked every few milliseconds while
  // there is none.
  [[nodiscard]] virtual bool wants_window(Nanoseconds) { return false; }
  // How many bytes of each thread the next window is to have; the schedule has planned so many.
  [[nodiscard]] virtual std::uint64_t window_bytes(std::uint64_t planned) { return planned; }
};

struct StreamTotals {
  std::uint64_t blocks = 0;
  std::uint64_t instructions = 0;
  std::uint64_t windows = 0;     // that were opened by the schedule
  Nanoseconds reading{};         // CPU time of the reader and its listener
  std::uint64_t lost_bytes = 0;  // that did not read as records: 0 unless the program wrote there
};

class StreamReader {
 public:
  StreamReader(Shared& shared, StreamListener& listener,
               std::optional<WindowSchedule> schedule = std::nullopt);
  ~StreamReader();
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  // After the program's end: reads what is left, and ends the thread.
  void finish();

  // Complete after finish().
  [[nodiscard]] const StreamTotals& totals() const { return totals_; }

 private:
  // The last record of a thread: it is told when the next one says where the thread went.
  struct Last {
    std::uint32_t number = 0;
    std::uint32_t window = 0;
    std::vector<std::byte> record;
  };

  void work(const std::stop_token& stop);
  // A buffer that was taken from a thread.
  struct Taken {
    std::uint32_t slot = 0;
    std::uint32_t window = 0;
    std::vector<std::byte> memory;
    std::span<const std::byte> bytes;
    std::size_t done = 0;                     // of them, read
    std::optional<StreamBatch::Step> before;  // the last one read, which is not told yet
  };
  // What reading a record takes.
  struct Size {
    std::uint32_t bytes = 0;  // 0: the block is not known yet
    std::uint32_t instructions = 0;
  };

  void take_full_buffers();
  void read_taken();
  void keep_schedule();
  void begin(Taken& taken, std::span<const std::byte> bytes);
  // False: nothing of it is left.
  bool read(Taken& taken, std::size_t blocks);
  // What is left of it.
  void read_all(Taken& taken);
  void tell(std::uint32_t slot, std::uint32_t window, std::span<const StreamBatch::Step> steps,
            const std::byte* records, std::uint64_t next);
  void tell_last(std::uint32_t slot, std::uint64_t next);
  // Of no bytes: there is no such block.
  Size size_of(std::uint64_t number) {
    if (number < sizes_.size() && sizes_[number].bytes != 0) [[likely]]
      return sizes_[number];
    return new_size(number);
  }
  Size new_size(std::uint64_t number);

  Shared& shared_;
  StreamListener& listener_;
  std::optional<WindowSchedule> schedule_;
  std::vector<std::unique_ptr<StreamBlock>> blocks_;  // by number
  std::vector<Size> sizes_;                           // by number
  std::vector<StreamBatch::Step> steps_;
  std::vector<Last> last_;  // by slot
  std::vector<Taken> taken_;
  std::vector<std::vector<std::byte>> spare_;  // memory of buffers that were read
  std::unique_ptr<StreamScratch> scratch_ = std::make_unique<StreamScratch>();
  StreamTotals totals_;
  std::uint32_t joined_before_ = 0;  // when the window was opened
  std::uint32_t left_before_ = 0;
  Nanoseconds opened_{};
  Nanoseconds opened_cpu_{};  // of the reader's thread
  Nanoseconds last_read_{};
  std::jthread thread_;
};

}  // namespace loft::engine
