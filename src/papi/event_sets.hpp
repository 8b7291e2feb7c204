// Event sets of the program: what is in them, and what the engine counts for them.
//
// Functions give PAPI's error numbers. A set counts the thread that starts it; a thread has one
// running set at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "papi/events.hpp"
#include "papi/overflow.hpp"

namespace loft::papi {

// How many events a set may have, and how many different ones of the engine they may need.
inline constexpr int kCounters = 32;

class EventSet {
 public:
  EventSet() = default;
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;
  ~EventSet() { close(); }

  [[nodiscard]] int add(int code);
  [[nodiscard]] int remove(int code);
  [[nodiscard]] int clear();

  [[nodiscard]] int start();
  // Counts are given where `values` is not null.
  [[nodiscard]] int stop(long long* values);
  [[nodiscard]] int read(long long* values);
  [[nodiscard]] int reset();
  // Adds the counts to `values` and starts at 0 again.
  [[nodiscard]] int accumulate(long long* values);
  [[nodiscard]] int write(const long long* values);

  // Calls `call` at multiples of the threshold while the set runs; 0 ends that. `flags` is the
  // state that PAPI_state tells meanwhile.
  [[nodiscard]] int set_overflow(int code, int threshold, int flags, Overflow::Call call,
                                 std::shared_ptr<void> data);
  // PAPI_OVERFLOWING and PAPI_PROFILING.
  [[nodiscard]] int overflow_state() const;

  // Counts another thread of the run, or this one again; any process under the engine may have it.
  [[nodiscard]] int attach(unsigned long thread);
  [[nodiscard]] int detach();
  // Counts what threads and processes do, too, that the thread and they make while the set runs.
  [[nodiscard]] int set_inherit(bool inherits);
  [[nodiscard]] bool is_attached() const { return attached_ != 0; }
  [[nodiscard]] bool inherits() const { return inherits_; }

  [[nodiscard]] bool is_running() const { return is_running_; }
  [[nodiscard]] const std::vector<int>& codes() const { return codes_; }

  int component = -1;  // nothing was added or assigned yet
  bool is_multiplexed = false;

 private:
  struct Sum {
    std::vector<Term> terms;  // `event` is an index into columns_
    std::shared_ptr<const Formula> formula;
    bool is_double = false;
  };
  [[nodiscard]] long long value_of(const Sum& sum, const std::vector<std::uint64_t>& now) const;
  void close();
  [[nodiscard]] int open();
  [[nodiscard]] bool read_columns(std::vector<std::uint64_t>& columns);
  // What the engine's columns and the time of another thread, or of several, are.
  [[nodiscard]] bool read_others(std::uint64_t* counts, std::uint64_t& cycles);
  [[nodiscard]] bool counts_others() const { return attached_ != 0 || inherits_; }
  [[nodiscard]] bool is_own_thread() const;
  void add_counts_until(const std::vector<std::uint64_t>& now);

  std::vector<int> codes_;
  std::vector<Sum> sums_;                  // aligned with codes_
  std::vector<std::uint32_t> columns_;     // of engine::event_table(), or Term::kTime
  std::vector<std::uint64_t> base_, now_;  // of the columns: at the last start or reset, and now
  std::vector<long long> counts_;          // aligned with codes_
  std::uint64_t started_ns_ = 0;           // with base_
  std::uint64_t now_ns_ = 0;               // with now_
  std::uint64_t opened_ = 0;               // the engine's number of the set
  std::size_t opened_columns_ = 0;
  bool needs_time_ = false;  // some formula may
  bool is_running_ = false;
  const void* thread_ = nullptr;
  std::uint32_t own_tid_ = 0;   // of the thread that started it
  std::uint32_t attached_ = 0;  // the thread that is counted instead
  bool inherits_ = false;
  std::uint64_t inherits_since_ = 0;  // CLOCK_MONOTONIC
  struct Watch {
    int code;
    int flags;
    std::shared_ptr<void> data;
    std::unique_ptr<Overflow> overflow;
  };
  [[nodiscard]] bool start_overflows();
  std::vector<Watch> watches_;
};

class EventSets {
 public:
  // The set of a number, locked as long as the result lives; null when there is none.
  class Held {
   public:
    Held(std::mutex& mutex, const std::vector<std::unique_ptr<EventSet>>& sets, int number);
    explicit operator bool() const { return set_ != nullptr; }
    EventSet* operator->() const { return set_; }
    EventSet& operator*() const { return *set_; }

   private:
    Inside inside_;  // ends behind the lock
    std::lock_guard<std::mutex> lock_;
    EventSet* set_;
  };

  [[nodiscard]] int create();
  [[nodiscard]] Held find(int number);
  [[nodiscard]] int destroy(int number);
  // Also in a child of fork, where nothing of the parent's goes on.
  void forget_all(bool is_child);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EventSet>> sets_;
};

EventSets& event_sets();

// The thread's own time times the rate of the time stamp counter.
[[nodiscard]] std::uint64_t thread_cycles();
[[nodiscard]] double cycles_per_nanosecond();

}  // namespace loft::papi
