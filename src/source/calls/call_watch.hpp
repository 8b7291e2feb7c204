// Watches calls of functions of programs that somebody else starts and follows: one held before its
// exec, or processes that run. First instructions and returns are patched in their memory; they run
// at full speed. x86-64 alone; elsewhere launch() and attach() say so.
//
//   CallWatch watch(request);
//   LOFT_CHECK(watch.launch(child.pid()));           // or attach(pid), which runs
//   LOFT_CHECK(child.start([&] { watch.drain(); }));
//   ...                                              // drain() whenever fd() is readable, look()
//   ...                                              // after each interval()
//   LOFT_CHECK(watch.detach());                      // what still runs is as it was
//   const sample::CallRun run = watch.take();
//
// Everything happens in one thread: it becomes the tracer of the program.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/places.hpp"
#include "base/result.hpp"
#include "sample/call_request.hpp"
#include "sample/calls.hpp"

namespace loft::source::calls {

class Counters;

// What is measured beside the time.
struct CallMeters {
  std::shared_ptr<const Counters>
      counters;          // of hardware, that calls are counted with; may be none
  bool energy = false;   // single calls are kept then
  SystemRoot root = {};  // where its meters are
};

class CallWatch {
 public:
  explicit CallWatch(const sample::CallRequest& request, CallMeters meters = {});
  CallWatch(CallWatch&&) noexcept;
  ~CallWatch();

  [[nodiscard]] Result<void> launch(pid_t held);
  [[nodiscard]] Result<void> attach(pid_t running);

  // Readable when there may be something to drain.
  [[nodiscard]] int fd() const;
  void drain();
  // Takes over what was kept, and leaves functions alone that are past the budget.
  void look();
  // How often it is to be called; nothing: never.
  [[nodiscard]] std::optional<Nanoseconds> interval() const;
  // The first thing that went wrong while nobody waited for an answer.
  [[nodiscard]] const std::optional<Error>& error() const;

  [[nodiscard]] Result<void> detach();
  // How long threads of a running program were held, at most.
  [[nodiscard]] Nanoseconds held() const;
  // What watching one call takes, in nanoseconds.
  [[nodiscard]] double nanoseconds_per_call() const;
  // What was counted, once it is detached. How the program ended is left to who followed it.
  [[nodiscard]] sample::CallRun take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace loft::source::calls
