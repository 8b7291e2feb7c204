// A line that shows how far a long piece of work has come: on standard error, only on a terminal,
// and only once it has taken two seconds. It clears itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/terminal.hpp"
#include "source/file/recording.hpp"

namespace loft::cli {

class ProgressLine {
 public:
  ProgressLine(Terminal& terminal, std::string what, const source::Progress& progress);
  // Of work whose end nobody knows: `text` and the seconds since it began.
  ProgressLine(Terminal& terminal, std::string text);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void begin();
  void show();
  [[nodiscard]] std::string text() const;

  Terminal& terminal_;
  std::string what_;
  const source::Progress* progress_ = nullptr;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_done_ = false;
  bool is_shown_ = false;
  std::thread thread_;
};

}  // namespace loft::cli
