// Opens windows of the address stream while a program runs.
#pragma once

#include <chrono>
#include <thread>

#include "streaming.hpp"
#include "under_engine.hpp"

namespace loft::engine {

// Opens a window at once, and the next as soon as the last one is over, as long as it lives.
class WindowOpener {
 public:
  WindowOpener(Shared& shared, std::uint64_t bytes) : shared_(shared), bytes_(bytes) {
    EXPECT_TRUE(shared_.open_window(bytes_));
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

 private:
  void work(const std::stop_token& stop) {
    using namespace std::chrono_literals;
    do {
      const auto deadline = std::chrono::steady_clock::now() + 50ms;
      // The first thread may come late; one that sleeps or is killed never leaves.
      while (!stop.stop_requested() &&
             (shared_.joined() == joined_before_ ||
              (shared_.joined() != shared_.left() && std::chrono::steady_clock::now() < deadline)))
        std::this_thread::sleep_for(200us);
      shared_.close_window();
      std::this_thread::sleep_for(1ms);
      joined_before_ = shared_.joined();
    } while (!stop.stop_requested() && shared_.open_window(bytes_));
    shared_.close_window();
  }

  Shared& shared_;
  std::uint64_t bytes_;
  std::uint32_t joined_before_ = 0;
  std::jthread thread_;
};

}  // namespace loft::engine
