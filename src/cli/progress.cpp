#include "cli/progress.hpp"

#include <fmt/format.h>

namespace loft::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kStep = std::chrono::milliseconds(200);

}  // namespace

ProgressLine::ProgressLine(Terminal& terminal, std::string what, const source::Progress& progress)
    : terminal_(terminal), what_(std::move(what)), progress_(&progress) {
  begin();
}

ProgressLine::ProgressLine(Terminal& terminal, std::string text)
    : terminal_(terminal), what_(std::move(text)) {
  begin();
}

void ProgressLine::begin() {
  if (terminal_.notes_is_terminal()) thread_ = std::thread([this] { show(); });
}

std::string ProgressLine::text() const {
  if (progress_ == nullptr) {
    const auto passed = std::chrono::steady_clock::now() - start_;
    return fmt::format("{}: {} s", what_,
                       std::chrono::duration_cast<std::chrono::seconds>(passed).count());
  }
  const auto total = progress_->total.load();
  const auto done = std::min(progress_->done.load(), total);
  return fmt::format("{} {} %", what_, total == 0 ? 0 : done * 100 / total);
}

void ProgressLine::show() {
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, kPatience, [this] { return is_done_; })) return;
  is_shown_ = true;
  do {
    terminal_.note("\r" + text() + " ");
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
