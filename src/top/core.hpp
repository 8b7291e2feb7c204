// One core while it is monitored: its reader, what it counts, and what is to be counted next.
//
//   Core core(3);
//   core.change(open_on_core(request, 3).value());   // from the next boundary on
//   LOFT_CHECK(core.ask(gate));
//   ...                                              // until the reader has answered
//   const CoreSample sample = core.take(origin);
#pragma once

#include <memory>
#include <optional>

#include "top/frame.hpp"
#include "top/reader.hpp"

namespace loft::top {

class Core {
 public:
  explicit Core(int cpu) : cpu_(cpu) {}

  [[nodiscard]] int cpu() const { return cpu_; }

  // Takes effect at the next ask(): the old set is read a last time, then the new one is started.
  void change(CoreSet set);

  // Asks the reader, which is started where there is none yet. One that has not answered yet is not
  // asked again.
  [[nodiscard]] Result<void> ask(Gate& gate);
  [[nodiscard]] bool has_answered() const;

  // What the answer says, if it has come: counts since the one before. The first answer of a set
  // only says when it began. Times are given since `origin`.
  [[nodiscard]] CoreSample take(Nanoseconds origin);

  // The core is off: the reader goes; what it counted stays to be opened again.
  void stop();
  [[nodiscard]] bool is_running() const { return reader_.has_value(); }
  // The answer came from another CPU: this one is off.
  [[nodiscard]] bool was_moved() const { return was_moved_; }
  // What it counts, or will from the next boundary on.
  [[nodiscard]] const metric::Request* request() const;

  [[nodiscard]] const Report* report() const;

 private:
  int cpu_;
  // The sets outlive the reader: declared first.
  std::shared_ptr<CoreSet> set_;
  std::shared_ptr<CoreSet> next_;
  std::shared_ptr<CoreSet> asked_for_;  // given to the reader with the open request
  std::optional<CoreReader> reader_;
  std::optional<Nanoseconds> begin_;  // of the readings that the next ones are compared with
  std::vector<RawReading> last_;
  bool is_awaited_ = false;  // an answer that nobody has taken yet
  bool was_moved_ = false;
};

// The counts between two readings of a set, and the metrics that follow from them.
void fill_counts(CoreSample& sample, const CoreSet& set, std::span<const RawReading> before,
                 std::span<const RawReading> after);

}  // namespace loft::top
