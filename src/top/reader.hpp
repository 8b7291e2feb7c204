// The reader of one core: a thread that is pinned there, sleeps, and reads the core's counters when
// it is asked to. Counters read on their own core need no interrupt of another.
//
//   LOFT_TRY(auto gate, Gate::make());                   // of all readers
//   LOFT_TRY(auto reader, CoreReader::start(3, *gate));
//   reader.use(counters, count);                         // what is read from the next request on
//   reader.ask();                                        // one write, which the reader reads
//   if (const Report* report = reader.answer()) ...      // nothing until it has come
//
// Nobody else runs on the core between the reader's stopping one set of counters and starting the
// next: a change of events loses nothing of the programs that run there.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "top/counters.hpp"

namespace loft::top {

// Becomes readable when the last of all open requests is answered: the monitor is woken once for a
// sample, by one write.
class Gate {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Gate>> make();

  [[nodiscard]] int fd() const { return fd_.get(); }
  void open_request() { open_.fetch_add(1, std::memory_order_relaxed); }
  void close_request();
  // Until the next time.
  void take() const;

 private:
  explicit Gate(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
  std::atomic<int> open_{0};
};

// A thread that sleeps nearly always may come first when it wakes.
void ask_for_priority();

struct Report {
  Nanoseconds asked{};               // when the request was made
  Nanoseconds at{};                  // when the counters were read
  int cpu = -1;                      // where it ran: another one, when its own is off
  bool is_read = false;              // whether `readings` are of this request
  bool has_changed = false;          // the counters given to use() have been started at `at`
  std::vector<RawReading> readings;  // of those that were in use until then
};

class CoreReader {
 public:
  // The gate must live as long as the reader.
  [[nodiscard]] static Result<CoreReader> start(int cpu, Gate& gate);
  CoreReader(CoreReader&&) noexcept;
  CoreReader& operator=(CoreReader&&) = delete;
  ~CoreReader();

  // With the next request: reads the counters in use a last time and starts these, `count` of them.
  // They must live until other ones are in use, or the reader is gone.
  void use(CoreCounters* counters, std::size_t count);

  // Not while an answer is awaited.
  void ask();
  [[nodiscard]] bool is_asked() const;
  [[nodiscard]] const Report* answer() const;

 private:
  struct Shared;
  explicit CoreReader(std::unique_ptr<Shared> shared);
  static void read_until_over(Shared& shared);
  static void serve(Shared& shared);

  std::unique_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace loft::top
