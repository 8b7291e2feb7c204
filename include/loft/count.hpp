// Count events of the calling thread, and metrics, in C++. A thin layer over loft/count.h.
//
//   loft::load_metrics("my.metrics");          // where they are not among the installed ones
//   loft::Counters counters("cycles,IPC");
//   counters.start();
//   work();
//   counters.stop();
//   for (const loft::Counters::Value& value : counters.values())
//     if (value.is_available()) std::cout << value.name << ' ' << value.value << '\n';
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "loft/count.h"

namespace loft {

// What failed, why, and what to do about it.
class CountError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Metrics of a file or folder, for counters that are opened from now on. Throws CountError.
inline void load_metrics(const std::string& path) {
  char why[512] = "";
  if (loft_metrics_load(path.c_str(), why, sizeof why) != 0) throw CountError(why);
}

// A constant of metrics, for counters that are opened from now on.
inline void define_constant(const std::string& name, double value) {
  if (loft_metrics_define(name.c_str(), value) != 0)
    throw CountError("cannot define the constant '" + name + "'");
}

class Counters {
 public:
  struct Value {
    std::string name;
    std::string unit;
    double value = 0;
    double running = 0;
    loft_kind kind = LOFT_MISSING;
    std::string why;

    [[nodiscard]] bool is_available() const { return kind != LOFT_MISSING; }
  };

  // Throws CountError when none of the events can be counted, or a name means nothing.
  explicit Counters(const std::string& events) {
    char why[512] = "";
    handle_.reset(loft_counters_open(events.c_str(), why, sizeof why));
    if (!handle_) throw CountError(why);
  }

  void start() { check(loft_counters_start(handle_.get()), "start"); }
  void stop() { check(loft_counters_stop(handle_.get()), "stop"); }

  void reset() { check(loft_counters_reset(handle_.get()), "reset"); }

  // The counts of this moment while running, of the last stop otherwise.
  [[nodiscard]] std::vector<Value> values() {
    check(loft_counters_update(handle_.get()), "read");
    std::vector<Value> values;
    for (std::size_t i = 0; i < loft_counters_size(handle_.get()); ++i) {
      loft_count count{};
      check(loft_counters_read(handle_.get(), i, &count), "read");
      values.push_back({loft_counters_name(handle_.get(), i), loft_counters_unit(handle_.get(), i),
                        count.value, count.running, count.kind,
                        loft_counters_why(handle_.get(), i)});
    }
    return values;
  }

 private:
  struct Closer {
    void operator()(loft_counters* counters) const { loft_counters_close(counters); }
  };

  static void check(int status, const char* action) {
    if (status != 0) throw CountError(std::string("cannot ") + action + " the counters");
  }

  std::unique_ptr<loft_counters, Closer> handle_;
};

}  // namespace loft
