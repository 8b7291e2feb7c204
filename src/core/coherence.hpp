// MESI between the private caches of threads: which lines threads pass to each other, and whether
// they share bytes (true sharing) or only the line (false sharing).
//
//   Coherence coherence(64);
//   const Sharing sharing = coherence.access(thread, address, size, is_store);
//   if (sharing.is_transfer) ...                 // another thread held the line modified; drop the
//                                                // copies of the threads in sharing.invalidate
//   for (const SharedLine& line : coherence.lines()) show(line.address, line.false_transfers);
//                                                // line.users: which instructions did it
//
// A transfer is true sharing if the thread that got the line touches, before it loses the line
// again, a byte that another thread wrote since this thread's last true sharing (Dubois et al.);
// otherwise it is false sharing. Bytes are followed from a line's first transfer on, so that the
// first one of each line stays unclassified. Memory is bounded by what the private caches hold
// (left() tells of evictions), by kMaxShared lines and kMaxUsers instructions of each.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace loft::core {

struct Sharing {
  bool is_transfer = false;      // another thread held the line modified
  bool is_invalidation = false;  // a store that took the line away from other threads
  bool is_shared = false;        // the line was passed between threads before, or is now
  std::uint32_t from = 0;        // with is_transfer: the thread that had it
  std::uint64_t invalidate = 0;  // threads that lose their copy, one bit each
  std::uint64_t make_clean = 0;  // threads whose modified copy is written back and stays
};

// An instruction that a thread used a shared line with, from its first transfer on.
struct LineUser {
  std::uint64_t ip = 0;  // 0: all that there was no room for
  std::uint32_t thread = 0;
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t transfers = 0;  // accesses that got the line from another thread
  std::uint64_t bytes = 0;      // of the line that it touched: a bit for each 64th of it
};

struct SharedLine {
  std::uint64_t address = 0;
  std::uint64_t transfers = 0;
  std::uint64_t true_transfers = 0;
  std::uint64_t false_transfers = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t readers = 0;  // threads, one bit each
  std::uint64_t writers = 0;
  std::vector<LineUser> users;
};

struct SharingCounts {
  std::uint64_t transfers = 0;
  std::uint64_t true_transfers = 0;
  std::uint64_t false_transfers = 0;
  std::uint64_t invalidations = 0;

  [[nodiscard]] std::uint64_t unclassified() const {
    return transfers - true_transfers - false_transfers;
  }
};

class Coherence {
 public:
  static constexpr std::uint32_t kMaxThreads = 64;
  static constexpr std::size_t kMaxShared = 1 << 16;
  static constexpr std::size_t kMaxUsers = 24;

  explicit Coherence(std::uint32_t line_bytes);

  // Threads from kMaxThreads on share their number with an earlier one: what those two pass to each
  // other is not seen. `ip` is the instruction's address; 0: it is no instruction's access.
  Sharing access(std::uint32_t thread, std::uint64_t address, std::uint32_t size, bool is_store,
                 std::uint64_t ip = 0);

  // The line has left all private caches of the thread.
  void left(std::uint32_t thread, std::uint64_t address);

  [[nodiscard]] std::uint32_t line_bytes() const { return line_bytes_; }
  [[nodiscard]] bool is_held_by_others(std::uint32_t thread, std::uint64_t address) const;
  [[nodiscard]] SharingCounts counts() const;
  // Counts without the transfers whose receiver still has the line: these are not decided yet.
  [[nodiscard]] const SharingCounts& decided() const { return counts_; }
  // Lines that were passed between threads, those with the most transfers first.
  [[nodiscard]] std::vector<SharedLine> lines() const;

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct Holding {
    std::uint64_t holders = 0;
    std::uint32_t modified_by = kNobody;
  };
  // What one thread did with its copy of a shared line.
  struct Copy {
    std::uint64_t foreign = 0;  // bytes written by others since its last true sharing
    std::uint64_t touched = 0;  // since it got the line
    bool is_open = false;       // the last transfer is not classified yet
  };
  struct History {
    SharedLine line;
    std::uint64_t written = 0;  // bytes, by anybody
    std::unordered_map<std::uint32_t, Copy> copies;
  };

  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t address, std::uint32_t size) const;
  History* history_of(std::uint64_t line, bool may_begin);
  void note(History& history, std::uint32_t thread, std::uint64_t bytes, bool is_store,
            const Sharing& sharing, bool is_first);
  void classify(History& history, Copy& copy, bool is_true);
  static LineUser& user_of(History& history, std::uint32_t thread, std::uint64_t ip);

  std::uint32_t line_bytes_;
  std::unordered_map<std::uint64_t, Holding> held_;
  std::unordered_map<std::uint64_t, History> shared_;
  SharingCounts counts_;
};

}  // namespace loft::core
