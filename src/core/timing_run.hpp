// One scenario of core/timing.hpp at work. Instructions are taken in program order; each is given
// the cycles in which it is issued, starts, finishes and leaves.
#pragma once

#include <vector>

#include "core/calendar.hpp"
#include "core/timing.hpp"

namespace loft::core {

inline constexpr std::uint64_t kLine = 64;  // bytes

class TimingRun {
 public:
  TimingRun(const Window& window, const CoreParameters& core);
  Timing run(const Scenario& scenario, std::vector<Moments>* moments = nullptr);

 private:
  // A number of cycles that need not be whole: rounded so that the sum over all uses is right.
  class Duration {
   public:
    void set(double value) { *this = Duration{}, value_ = value; }
    Cycle next() {
      left_ += value_;
      const auto whole = static_cast<Cycle>(left_);
      left_ -= static_cast<double>(whole);
      return whole;
    }

   private:
    double value_ = 0;
    double left_ = 0;
  };
  struct OpTable {
    Unit unit = Unit::none;
    Cluster cluster = Cluster::none;
    bool is_wide = false;  // takes more cycles for vectors wider than the units
    bool is_one = false;   // takes one slot of the front end, however many the instruction takes
    Duration latency, occupancy;
  };
  struct StoreRecord {
    std::uint64_t address = 0, end = 0;
    Registers registers = 0;  // that its address was made of
    std::uint32_t instruction = 0;
    Cycle data = 0;    // when its data are there
    Cycle commit = 0;  // when it reaches the cache
  };
  struct Granule {
    std::uint64_t number = ~std::uint64_t{0};
    std::uint64_t store = 0;
  };
  struct Filled {
    std::uint64_t line = ~std::uint64_t{0};
    Cycle ready = 0;
  };

  void prepare(const Scenario& scenario);
  void prepare_ops();
  void prepare_units();
  void execute(const Instruction& instruction, const Execution& execution);

  // Whether it shares the slot of the instruction before it.
  bool shares_slot(const Instruction& instruction, const Execution& execution);
  void issue(const Instruction& instruction, const Execution& execution, bool has_store);
  Cycle deliver(const Instruction& instruction, const Execution& execution);
  [[nodiscard]] Level fetched_from(const Execution& execution) const {
    return scenario_.unknown == Unknown::nearest ? execution.fetched_nearest
                                                 : execution.fetched_from;
  }
  // When the line of code is there that the instruction begins in.
  Cycle fetch_code(const Execution& execution);
  [[nodiscard]] Cycle ready(Registers registers, Cycle at) const;
  // The same for what the instruction computes with.
  [[nodiscard]] Cycle operands_ready(const Instruction& instruction, Cycle at) const;
  Cycle start_on(Unit unit, Cluster cluster, Cycle at, int cycles);
  Cycle operate(const Instruction& instruction, Cycle at);
  void leave(const Instruction& instruction, Cycle finish);

  // The units of an access, one after the other where it lies in two lines.
  Cycle start_access(const Instruction& instruction, const WindowAccess& access, Cycle at);
  Cycle load(const Instruction& instruction, const WindowAccess& access, Cycle at);
  // When the store can go to the cache, once its data are there and it has left.
  Cycle store(const Instruction& instruction, const WindowAccess& access, Cycle at);
  void keep_store(const Instruction& instruction, const WindowAccess& access, Cycle data,
                  Cycle line);
  Cycle forward(const Instruction& instruction, const WindowAccess& access, const StoreRecord& from,
                Cycle at);
  // When the data of all stores are there that have written a part of it and did not reach the
  // cache by `at`.
  [[nodiscard]] Cycle data_of_all(const WindowAccess& access, Cycle at) const;
  static bool overlaps(const StoreRecord& store, const WindowAccess& access) {
    return store.address < access.address + access.size && access.address < store.end;
  }
  // Whether renaming has joined the load to the store. It knows each store's last execution.
  [[nodiscard]] bool is_renamed(const Instruction& load, const StoreRecord& from) const;
  [[nodiscard]] const StoreRecord* last_store_to(const WindowAccess& access) const;
  Cycle translate(const WindowAccess& access, Cycle at);
  [[nodiscard]] Level level_of(const Access& access) const;
  // L1, in the place of a level whose latency and bandwidth are both taken away.
  [[nodiscard]] Level brought_near(Level level) const {
    return is_near_[static_cast<std::size_t>(level)] ? Level::l1 : level;
  }
  // When the line is in L1, for an access that asks at `at`.
  Cycle line_ready(const WindowAccess& access, Cycle at);
  Cycle fetch_line(const Access& access, Level level, Cycle at);
  void write_back(const Access& access, Cycle at);
  Cycle wait_for_prefetched(const WindowAccess& access, Level level, Cycle at);
  // When a stream goes on in the page of the access; 0: it never stopped.
  Cycle stream_begun(const WindowAccess& access, Cycle at);
  Cycle pass(Level from, Level to, Cycle at, std::uint32_t bytes);
  Filled& filled(std::uint64_t line) { return filled_[line % kFilled]; }

  static constexpr Cycle kEndless = Cycle{1} << 40;
  static constexpr std::size_t kStores = 1024;
  static constexpr std::size_t kGranules = 4096;
  static constexpr std::size_t kFilled = 4096;
  static constexpr std::size_t kLinesAhead = 8;  // that branch prediction is ahead of decoding

  const Window& window_;
  const CoreParameters& core_;
  Scenario scenario_;

  // The scenario as tables.
  std::array<OpTable, kOps> ops_;
  std::array<bool, kUnits> is_limited_{};
  std::array<bool, kClusters> is_cluster_limited_{};
  std::array<Cycle, 4> level_latency_{};
  std::array<bool, 4> is_bandwidth_limited_{};
  std::array<bool, 4> is_near_{};  // what the level serves is in L1
  Cycle issue_width_ = 0, retire_width_ = 0, front_width_ = 0, taken_per_cycle_ = 0;
  Cycle code_lines_ = 1;
  Cycle nops_a_slot_ = 1;
  Cycle vector_load_extra_ = 0, indexed_load_extra_ = 0, mispredict_penalty_ = 0;
  // Cycles from one line of code to the next while the front end waits for a level.
  std::array<Duration, 4> line_interval_;
  std::array<Cycle, 4> walk_beyond_{};  // of walks whose entry lies beyond L2
  Cycle commit_width_ = 2;              // stores that reach the cache in a cycle
  Cycle page_start_ = 0;                // that a prefetched line comes late after a walk
  Cycle second_tlb_ = 0, walk_ = 0, walk_to_memory_ = 0, transfer_ = 0, atomic_ = 0,
        barrier_ahead_ = 0;
  Cycle add_elsewhere_ = 0;
  Cycle renames_ = 0;
  Duration forward_general_, forward_renamed_, forward_vector_, forward_blocked_;
  int vector_width_ = 256;
  Turns turns_;
  bool has_mispredictions_ = true, has_front_end_ = true, has_sharing_ = true, has_atomics_ = true;

  // The machine while it runs.
  std::array<UnitCalendar, kUnits> units_;
  std::array<UnitCalendar, kClusters> clusters_;
  std::array<WaitingList, kClusters> waiting_;
  ByteCalendar<2> l1_loads_, l1_stores_;
  ByteCalendar<4> l2_, l3_, dram_;
  BufferCalendar fill_buffers_, walkers_;
  Cycle now_ = 0;  // the cycle of issue
  Cycle issued_in_cycle_ = 0;
  Cycle nops_in_slot_ = 0;    // that the slot taken last holds
  bool shares_slot_ = false;  // of the instruction at hand
  Cycle front_ = 0, delivered_ = 0, taken_ = 0;
  Cycle lines_in_cycle_ = 0;              // of code, that the front end delivered from
  std::uint64_t code_line_ = 0;           // that the front end is in
  std::array<Cycle, kLinesAhead> lines_;  // when it had the last lines of code
  std::uint64_t fetched_ = 0;             // lines so far
  Cycle next_fetch_ = 0;                  // when the next line beyond L1 can be asked for
  Cycle restart_ = 0;
  Cycle last_leave_ = 0, left_in_cycle_ = 0;
  Cycle last_commit_ = 0, committed_in_cycle_ = 0;
  std::uint64_t committed_line_ = 0;  // of the last store that reached the cache
  Cycle last_load_ = 0, load_barrier_ = 0;
  std::uint64_t executed_ = 0, stored_ = 0;
  std::array<Cycle, 64> registers_{};
  Registers added_ = 0;  // that an addition of floating point wrote last
  std::vector<Cycle> leaves_, commits_;
  std::vector<StoreRecord> stores_;
  std::vector<std::uint64_t> last_stores_;  // by instruction: what stored_ was after its last
  std::vector<Granule> granules_;
  std::vector<Filled> filled_;
  std::array<Filled, 256> begun_pages_;  // by a hash of the page
  std::int64_t restarting_block_ = -1;
  Cycle started_ = 0;                        // the instruction at hand
  std::vector<Moments>* moments_ = nullptr;  // of all executions, where somebody asks
  Timing timing_;
};

}  // namespace loft::core
