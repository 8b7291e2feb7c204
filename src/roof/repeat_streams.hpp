// A program that runs twice must meet the same input twice, and be heard once.
//
//   LOFT_TRY(auto streams, RepeatStreams::prepare());
//   use(streams.first());                            // for the first run
//   LOFT_TRY(const auto second, streams.second());   // input rewound, outputs into hidden files
//   streams.difference()                             // what the second time said otherwise
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/child_process.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::roof {

class RepeatStreams {
 public:
  // Input that comes through a pipe is read to its end here, since it can be read only once.
  [[nodiscard]] static Result<RepeatStreams> prepare();

  [[nodiscard]] StandardStreams first() const { return {.in = input_.get()}; }
  [[nodiscard]] Result<StandardStreams> second();

  // After the second time: how its standard output differs from the first's, where that can be
  // told, which it can when both went to files.
  [[nodiscard]] std::optional<std::string> difference() const;

  // The end of what the second time wrote to its standard error.
  [[nodiscard]] std::string last_words() const;

  // What a reader must know about the second run's input.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  Fd input_;  // a copy of what came through a pipe; closed when the input is loft's own
  bool rewind_own_ = false;
  long long input_start_ = 0;
  std::optional<long long> output_start_;  // where standard output stood, when it is a file
  long long output_end_ = 0;               // after the first time
  Fd output_;
  Fd errors_;
  bool has_none_ = false;  // the second run finds an empty input
  Fd typing_;              // becomes readable when something is read from the terminal
  std::string note_;
};

// What a program gets in the first of two runs, and in the second: prepared when the first is asked
// for.
[[nodiscard]] std::function<Result<StandardStreams>(bool is_first)> streams_of_two_runs();

// Ended by a signal that asks a program to end: whoever sent it wants no second run.
[[nodiscard]] bool was_ended(int status);

}  // namespace loft::roof
