// Opens windows of the address stream while a program runs.
#pragma once

#include <chrono>
#include <thread>

#include "engine/stream.hpp"
#include "under_engine.hpp"

namespace loft::engine {

// Opens a window as soon as the last one is over, as long as it lives.
class WindowOpener {
 public:
  WindowOpener(Shared& shared, std::uint64_t bytes) : shared_(shared), bytes_(bytes) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

 private:
  void work(const std::stop_token& stop) {
    using namespace std::chrono_literals;
    while (!stop.stop_requested() && shared_.open_window(bytes_)) {
      const auto deadline = std::chrono::steady_clock::now() + 50ms;
      const auto before = shared_.joined();
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < deadline &&
             (shared_.joined() == before || shared_.joined() != shared_.left()))
        std::this_thread::sleep_for(200us);
      shared_.close_window();
      std::this_thread::sleep_for(1ms);
    }
  }

  Shared& shared_;
  std::uint64_t bytes_;
  std::jthread thread_;
};

}  // namespace loft::engine
