#include "cli/progress.hpp"

#include <fmt/format.h>

namespace loft::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kStep = std::chrono::milliseconds(200);

}  // namespace

ProgressLine::ProgressLine(Terminal& terminal, std::string what, const source::Progress& progress)
    : terminal_(terminal), what_(std::move(what)), progress_(progress) {
  if (terminal.notes_is_terminal()) thread_ = std::thread([this] { show(); });
}

void ProgressLine::show() {
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, kPatience, [this] { return is_done_; })) return;
  is_shown_ = true;
  do {
    const auto total = progress_.total.load();
    const auto done = std::min(progress_.done.load(), total);
    terminal_.note(fmt::format("\r{} {} % ", what_, total == 0 ? 0 : done * 100 / total));
    (void)terminal_.flush();  // a failure shows again at the end
  } while (!wake_.wait_for(lock, kStep, [this] { return is_done_; }));
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (is_shown_) terminal_.note("\r\x1b[K");
}

}  // namespace loft::cli
