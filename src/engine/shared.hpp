// loft's side of the memory that a run under the engine shares (layout.hpp): create it, hand its
// descriptor to the engine, read from it at any time, also after the program was killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "base/result.hpp"
#include "engine/layout.hpp"

namespace loft::engine {

struct BlockCount {
  std::uint32_t block = 0;
  std::uint64_t count = 0;
};

class Shared {
 public:
  [[nodiscard]] static Result<Shared> create();
  Shared(Shared&& other) noexcept;
  Shared& operator=(Shared&& other) noexcept;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();

  [[nodiscard]] int descriptor() const { return memory_.get(); }
  // The program's threads stop when it is truncated; they must have it under a number of their own.
  [[nodiscard]] int polls() const { return polls_.get(); }

  // Numbers from kFirstBlock up to, not including, this exist. An entry whose address is 0 is not
  // complete yet.
  [[nodiscard]] std::uint32_t blocks() const;
  [[nodiscard]] BlockEntry block(std::uint32_t number) const;
  [[nodiscard]] std::span<const std::uint8_t> code(const BlockEntry& block) const;

  [[nodiscard]] std::vector<SlotEntry> slots() const;
  // One of them; empty when there is none of that number.
  [[nodiscard]] SlotEntry slot(std::uint32_t number) const;
  [[nodiscard]] std::vector<ImageEntry> images() const;
  [[nodiscard]] std::vector<MappingEntry> mappings() const;
  // One of them; empty when there is none of that number.
  [[nodiscard]] MappingEntry mapping(std::uint32_t number) const;

  // Only what runs inside a function is to be counted: before the program starts. Each mapping must
  // then be answered, in order, with the addresses in it at which that function starts.
  void ask_for_region();
  [[nodiscard]] bool has_region() const;
  // How many mappings there are; waits up to `patience` for more than `known` and than were
  // answered.
  [[nodiscard]] std::uint32_t await_mapping(std::uint32_t known, Nanoseconds patience) const;
  struct FunctionStart {
    std::uint64_t address = 0;
    std::uint32_t function = 0;  // its number where calls are watched
  };
  void answer(std::uint32_t mapping, std::span<const FunctionStart> starts);
  [[nodiscard]] std::uint32_t region_entries() const;

  // Marked regions are to be counted apart, each in a slot of its own for each thread: before the
  // program starts.
  void ask_for_marks();
  [[nodiscard]] bool has_marks() const;
  [[nodiscard]] std::vector<PathEntry> paths() const;
  // How many ends named a region that was not the innermost; the first are among the messages.
  [[nodiscard]] std::uint32_t wrong_ends() const;
  // Calls of functions are to be watched (call_areas.hpp reads them): before the program starts.
  // Each mapping must be answered as for a region, with the numbers of the functions.
  void ask_for_calls(const CallOrder& order);

  // The address stream (stream.hpp reads it): asked for before the program starts.
  void ask_for_stream(StreamMode mode);
  // Without a reader nobody waits for one: what is written is lost. A process that dies is none any
  // more.
  void set_reader(bool is_there);
  [[nodiscard]] bool has_reader() const;
  // A number that changes when a buffer is full; waits up to `patience` for it to differ from
  // `known`.
  [[nodiscard]] std::uint32_t await_stream(std::uint32_t known, Nanoseconds patience) const;
  // The first bytes of a thread's buffer, where the program may still write. Valid until the next
  // call.
  [[nodiscard]] std::span<const std::byte> stream(std::uint32_t slot, std::uint64_t bytes);
  // How many bytes are in it, of a thread that has ended or waits.
  [[nodiscard]] std::uint64_t unread_stream(std::uint32_t slot) const;
  void release_stream(std::uint32_t slot);

  // With StreamMode::windows: all threads of all processes write the stream, from their next loop,
  // call or return on, until each has written `bytes` or the window is closed. False when it cannot
  // be opened (any more).
  [[nodiscard]] bool open_window(std::uint64_t bytes);
  void close_window();
  [[nodiscard]] bool has_window() const { return window_ % 2 != 0; }
  [[nodiscard]] std::uint32_t window() const { return window_; }
  // Threads that have begun to write, in all windows together, and those of them that have ended.
  // One that is killed never ends.
  [[nodiscard]] std::uint32_t joined() const;
  [[nodiscard]] std::uint32_t left() const;

  // From now on counts() gives what was counted until now, whatever still runs.
  [[nodiscard]] Result<void> freeze();

  // What the thread of that slot has counted so far; blocks it never ran are left out.
  [[nodiscard]] Result<std::vector<BlockCount>> counts(std::uint32_t slot) const;

  // Lines in which the engine says what it could not do, and how many processes ended for it.
  [[nodiscard]] std::vector<std::string> messages() const;
  [[nodiscard]] std::uint32_t refused() const;

 private:
  Shared(Fd memory, Fd polls, std::uint8_t* tables)
      : memory_(std::move(memory)), polls_(std::move(polls)), tables_(tables) {}
  [[nodiscard]] bool change_window();
  [[nodiscard]] SharedHeader& header() const;
  [[nodiscard]] Result<std::vector<BlockCount>> read_counts(std::uint32_t slot) const;
  [[nodiscard]] Result<std::vector<BlockCount>> read_counters(std::uint32_t slot) const;
  [[nodiscard]] std::vector<BlockCount> derive_counts(std::span<const BlockCount> counters) const;
  template <typename T>
  [[nodiscard]] std::vector<T> table(std::uint64_t offset, std::uint32_t count) const;

  Fd memory_;
  Fd polls_;
  Fd lock_;  // a description of its own: the program's descriptors share one with memory_
  std::uint8_t* tables_ = nullptr;
  std::uint32_t window_ = 0;
  std::map<std::uint32_t, Mapping> streams_;            // by slot
  using Frozen = std::vector<std::vector<BlockCount>>;  // by slot
  std::unique_ptr<const Frozen> frozen_;
  std::atomic<const Frozen*> shown_ = nullptr;  // `frozen_`, once it is complete
};

}  // namespace loft::engine
