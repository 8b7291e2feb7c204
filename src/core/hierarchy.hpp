// The caches of a machine: L1I, L1D and L2 of each thread, an L3 for all, prefetchers, and MESI
// between threads. Takes accesses in order, says which level served each.
//
//   Hierarchy caches(geometry);                        // core/geometry.hpp has whole machines
//   const Access access = caches.load(thread, address, size, ip);
//   if (access.level == Level::memory) ...
//   caches.traffic().from_memory                       // bytes
//
// Threads are numbers from 0; the caches of a thread are made when it is first named. Each thread
// is taken to run on a core of its own. L2 and L3 may be absent. All levels share one line size.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/cache.hpp"
#include "core/coherence.hpp"
#include "core/prefetch.hpp"

namespace loft::core {

enum class Inclusion : std::uint8_t {
  inclusive,      // what leaves it leaves the levels above it too
  exclusive,      // holds victims of the level above alone; a line moves up when it is used
  non_inclusive,  // filled on the way up, keeps no promise
};

struct HierarchyGeometry {
  CacheGeometry l1i, l1d, l2, l3;
  Inclusion l2_inclusion = Inclusion::non_inclusive;  // not exclusive
  Inclusion l3_inclusion = Inclusion::non_inclusive;
  PrefetchGeometry prefetch;
  // A prefetched line counts as late if it is used within so many data accesses after it was asked
  // for: without a clock, the distance stands for time.
  std::uint32_t late_accesses = 16;

  bool operator==(const HierarchyGeometry&) const = default;
};

[[nodiscard]] Result<void> check(const HierarchyGeometry& geometry);

// What an access met; of several lines, the slowest.
struct Access {
  Level level = Level::l1;            // that served it, as far as the model knows
  Level nearest = Level::l1;          // before warm-up is complete it may have been nearer
  Level farthest = Level::l1;         // or farther
  Level prefetched_from = Level::l1;  // where a prefetcher had brought it from; l1: none had
  bool is_late = false;               // it was prefetched shortly before
  bool is_transfer = false;           // another thread held it modified
  std::uint8_t lines = 1;             // lines that it touched, at most 255
  std::uint8_t written_back = 0;      // modified lines that left for memory because of it

  [[nodiscard]] bool is_unknown() const { return nearest != farthest; }
  bool operator==(const Access&) const = default;
};

// Bytes that moved, whole lines.
struct Traffic {
  std::uint64_t l2_to_l1 = 0;  // from L2 or beyond into L1
  std::uint64_t l1_to_l2 = 0;  // modified lines that left L1
  std::uint64_t l3_to_l2 = 0;  // from L3 or beyond into L2 (L1 where there is no L2)
  std::uint64_t l2_to_l3 = 0;
  std::uint64_t from_memory = 0;
  std::uint64_t to_memory = 0;
  std::uint64_t unknown_from_memory = 0;  // as much of from_memory may not have happened
  bool operator==(const Traffic&) const = default;
};

// Of the misses of the levels that code and data share, those of code.
struct CodeMisses {
  std::uint64_t l2 = 0;
  std::uint64_t l3 = 0;
};

// Lines by how far they were asked for. After a warm-up not every answer is known: what surely
// happened, and what may have happened.
struct Reach {
  struct Bounds {
    std::uint64_t surely = 0;
    std::uint64_t perhaps = 0;  // all that is in `surely` too
  };
  std::array<Bounds, 3> beyond;   // L1, L2, L3: they did not have the line
  std::array<Bounds, 3> served;   // L1 (not counted), L2, L3: it had the line
  std::uint64_t transferred = 0;  // of those beyond L2: another thread had the line
};

struct PrefetchCounts {
  std::array<std::uint64_t, static_cast<std::size_t>(PrefetchKind::count_)> issued{};
  std::uint64_t useful = 0;  // used before they left
  std::uint64_t late = 0;    // of those, used very soon
  std::uint64_t unused = 0;  // left without use
};

class Hierarchy {
 public:
  explicit Hierarchy(const HierarchyGeometry& geometry);  // check() has passed

  Access load(std::uint32_t thread, std::uint64_t address, std::uint64_t size, std::uint64_t ip) {
    return data(thread, address, size, ip, false);
  }
  Access store(std::uint32_t thread, std::uint64_t address, std::uint64_t size, std::uint64_t ip) {
    return data(thread, address, size, ip, true);
  }
  Access fetch(std::uint32_t thread, std::uint64_t address, std::uint64_t size);
  // A store past the caches: its bytes go to memory, copies in the caches are dropped.
  Access store_past(std::uint32_t thread, std::uint64_t address, std::uint64_t size);
  // An entry of a page table, which walks read past L1.
  Access walk(std::uint32_t thread, std::uint64_t address);
  // prefetcht0 and its kin: brings the line into L1 without counting a demand access.
  void prefetch(std::uint32_t thread, std::uint64_t address);

  void start_warm_up(Cache::Keep keep);
  void reset_counts();

  [[nodiscard]] const HierarchyGeometry& geometry() const { return geometry_; }
  [[nodiscard]] std::uint32_t threads() const { return static_cast<std::uint32_t>(cores_.size()); }
  // The caches of a thread that was not named before are made. What is referred to stays where it
  // is as long as the Hierarchy; of a level that does not exist all counts are 0.
  void add_thread(std::uint32_t thread) { core_of(thread); }
  [[nodiscard]] const CacheCounts& l1i(std::uint32_t thread) const;
  [[nodiscard]] const CacheCounts& l1d(std::uint32_t thread) const;
  [[nodiscard]] const CacheCounts& l2(std::uint32_t thread) const;
  [[nodiscard]] const CacheCounts& l3() const;
  [[nodiscard]] const CodeMisses& code_misses(std::uint32_t thread) const;
  // Of demand accesses of a thread for data and for code; of all threads and prefetchers.
  [[nodiscard]] const Reach& data_reach(std::uint32_t thread) const;
  [[nodiscard]] const Reach& code_reach(std::uint32_t thread) const;
  [[nodiscard]] const Reach& moved() const { return moved_; }
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  [[nodiscard]] const PrefetchCounts& prefetches() const { return prefetches_; }
  [[nodiscard]] const Coherence& coherence() const { return coherence_; }

 private:
  struct Core {
    Core(const HierarchyGeometry& geometry, std::uint32_t number);
    std::uint32_t number;
    Cache l1i, l1d;
    std::unique_ptr<Cache> l2;
    Prefetchers prefetchers;
    // When lines were prefetched, by the lowest bits of their number; later ones replace earlier.
    struct Recent {
      std::uint64_t line = 0, when = 0;
    };
    std::vector<Recent> recent;
    CodeMisses code_misses;
    Reach data_reach, code_reach;
    std::uint64_t data_accesses = 0;
  };
  // One line on its way up.
  struct Request {
    std::uint64_t line = 0;
    bool is_demand = true;
    bool is_dirty = false;  // it came up from an exclusive L3 that held it modified
    bool is_transfer = false;
  };

  Access data(std::uint32_t thread, std::uint64_t address, std::uint64_t size, std::uint64_t ip,
              bool is_store) {
    Core& core = core_of(thread);
    const std::uint64_t line = address >> line_shift_;
    if (((address + size - 1) >> line_shift_) == line && core.l1d.touch_recent(line, is_store)) {
      ++core.data_accesses;
      return {};
    }
    return data_lines(core, address, size, ip, is_store);
  }
  Core& core_of(std::uint32_t thread) {
    if (thread >= cores_.size()) add_cores(thread);
    return *cores_[thread];
  }
  friend class QuickHits;
  void add_cores(std::uint32_t thread);
  static void start_warm_up(Core& core, Cache::Keep keep);
  Access data_lines(Core& core, std::uint64_t address, std::uint64_t size, std::uint64_t ip,
                    bool is_store);
  Access data_line(Core& core, std::uint64_t line, std::uint64_t ip, bool is_store,
                   std::uint64_t address, std::uint32_t size);
  // Of an access that L1 may not have served.
  void note_reach(Reach& reach, const Access& access);
  void use_prefetched(Core& core, Access& access, const Lookup& found, std::uint64_t line);
  // The levels below, from L2 down; each leaves the line at its own level.
  void from_l2(Core& core, Request& request, Access& access);
  void from_l3(Core& core, Request& request, Access& access);
  void from_memory(Request& request, Access& access, bool is_known);
  void fill_l1(Core& core, Cache& l1, std::uint64_t line, LineState state, Access& access);
  void fill_l2(Core& core, std::uint64_t line, LineState state, Access& access);
  void leave_l1(Core& core, const Evicted& victim, Access& access);
  void leave_l2(Core& core, Evicted victim, Access& access);
  void put_into_l3(std::uint64_t line, bool is_dirty, Access& access);
  void write_to_memory(Access& access);
  void run_prefetchers(Core& core, std::uint64_t line, std::uint64_t ip);
  bool bring(Core& core, std::uint64_t line, Level into);
  Sharing share(Core& core, std::uint64_t address, std::uint32_t size, bool is_store,
                std::uint64_t ip, Access& access);
  void forget_holder(Core& core, std::uint64_t line);

  HierarchyGeometry geometry_;
  int line_shift_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<Cache> l3_;
  Coherence coherence_;
  Traffic traffic_;
  Reach moved_;
  bool was_warmed_up_ = false;  // until then everything is known
  PrefetchCounts prefetches_;
};

// Hits in the first level of one thread of which there is nothing else to say, many in a row.
//
//   QuickHits quick(caches, thread);
//   if (!quick.data(address, size, is_store)) {
//     quick.count();                                  // the hits so far
//     caches.load(thread, address, size, ip);
//   }
class QuickHits {
 public:
  QuickHits(Hierarchy& caches, std::uint32_t thread)
      : caches_(caches),
        core_(caches.core_of(thread)),
        data_(core_.l1d),
        code_(core_.l1i),
        line_shift_(caches.line_shift_) {}

  // For loops over lines; what they find is to be added.
  [[nodiscard]] Cache::Recent recent_data() const { return data_; }
  [[nodiscard]] Cache::Recent recent_code() const { return code_; }
  void add_hits(std::uint64_t data, std::uint64_t code) {
    data_hits_ += data;
    code_hits_ += code;
  }
  // False: nothing has changed.
  bool data(std::uint64_t address, std::uint64_t size, bool is_store) {
    const std::uint64_t line = address >> line_shift_;
    if ((address + size - 1) >> line_shift_ != line) return false;
    if (!data_.has(line, is_store) && !core_.l1d.reuse(line, is_store, caches_.cores_.size() == 1))
      return false;
    ++data_hits_;
    return true;
  }
  // The same of a line that was not the last one used; what it finds is to be added, too.
  bool reuse_data(std::uint64_t line, bool is_store) {
    return core_.l1d.reuse(line, is_store, caches_.cores_.size() == 1);
  }
  bool reuse_code(std::uint64_t line) { return core_.l1i.reuse(line, false, true); }
  // How many of the lines from `first` on are such hits, one after the other. If not all are, the
  // first ones are counted at once, like what follows them.
  std::uint32_t fetch(std::uint64_t first, std::uint32_t lines) {
    for (std::uint32_t i = 0; i < lines; ++i) {
      if (code_.has(first + i, false) || core_.l1i.reuse(first + i, false, true)) continue;
      core_.l1i.count_hits(i);
      return i;
    }
    code_hits_ += lines;
    return lines;
  }
  [[nodiscard]] std::uint64_t data_hits() const { return data_hits_; }
  [[nodiscard]] std::uint64_t code_hits() const { return code_hits_; }
  void count() {
    core_.l1d.count_hits(data_hits_);
    core_.data_accesses += data_hits_;
    core_.l1i.count_hits(code_hits_);
    data_hits_ = code_hits_ = 0;
  }

 private:
  Hierarchy& caches_;
  Hierarchy::Core& core_;
  Cache::Recent data_, code_;
  int line_shift_;
  std::uint64_t data_hits_ = 0;  // that are not counted yet
  std::uint64_t code_hits_ = 0;
};

[[nodiscard]] std::string_view to_string(Inclusion inclusion);

}  // namespace loft::core
