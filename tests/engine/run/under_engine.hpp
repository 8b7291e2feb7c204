// Runs a program natively or under the engine and keeps what it printed and how it ended.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/file.hpp"
#include "engine/run.hpp"
#include "engine/tally.hpp"

namespace loft::engine {

struct Outcome {
  std::string output;  // standard output and error
  int status = -1;
  bool operator==(const Outcome&) const = default;
};

inline void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << "status " << outcome.status << ", output:\n" << outcome.output;
}

inline std::string sample(const std::string& name) {
  return std::string(LOFT_SAMPLES) + "/" + name;
}

// Sends the test's own output to a file while the child is started, and reads it back.
class Captured {
 public:
  Captured() {
    std::fflush(nullptr);
    saved_[0] = ::dup(1);
    saved_[1] = ::dup(2);
    file_ = ::mkstemp(path_);
    ::dup2(file_, 1);
    ::dup2(file_, 2);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  void release() {
    if (file_ < 0) return;
    std::fflush(nullptr);
    ::dup2(saved_[0], 1);
    ::dup2(saved_[1], 2);
    ::close(saved_[0]);
    ::close(saved_[1]);
    ::close(std::exchange(file_, -1));
  }
  std::string text() {
    release();
    return read_file(path_).value_or("");
  }
  ~Captured() {
    release();
    ::unlink(path_);
  }

 private:
  char path_[32] = "/tmp/loft-engine-test-XXXXXX";
  int file_ = -1;
  int saved_[2]{};
};

inline Outcome natively(const std::vector<std::string>& command) {
  Captured captured;
  auto child = ChildProcess::prepare(command);
  if (!child) return {to_string(child.error())};
  if (const auto started = child->start(); !started) return {to_string(started.error())};
  const auto end = child->wait();
  return {captured.text(), end ? end->shell_status() : -1};
}

struct EngineOutcome {
  Outcome outcome;
  std::optional<Run> run;
};

inline EngineOutcome under_engine(const std::vector<std::string>& command,
                                  StreamMode stream = StreamMode::none) {
  ::setenv("LOFT_ENGINE", LOFT_ENGINE_FILE, 1);
  Captured captured;
  auto run = Run::prepare(command);
  if (!run) return {{to_string(run.error())}, {}};
  run->shared().ask_for_stream(stream);
  if (const auto started = run->start(); !started) return {{to_string(started.error())}, {}};
  const auto end = run->wait();
  std::string text = captured.text();
  if (!end) return {{text + to_string(end.error()), -1}, std::move(*run)};
  return {{text, end->shell_status()}, std::move(*run)};
}

// All events of all threads.
inline EventVector total_of(const Run& run) {
  Tally tally(run.shared());
  const auto total = tally.of_all();
  EXPECT_TRUE(total);
  return total ? *total : EventVector();
}

inline std::uint64_t count_of(const Run& run, std::string_view event) {
  const auto index = find_event(event);
  EXPECT_TRUE(index) << event;
  return index ? total_of(run)[*index] : 0;
}

}  // namespace loft::engine
