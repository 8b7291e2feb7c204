// Threads that come and go, with exceptions, thread-local storage and locks.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {
std::mutex guard;
long caught = 0;
thread_local long mine = 0;
}  // namespace

int main() {
  std::atomic<long> sum{0};
  for (int round = 0; round < 40; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&sum] {
        for (int k = 0; k < 1000; ++k) {
          sum += k;
          ++mine;
          try {
            if (k % 500 == 0) throw std::runtime_error("thrown");
          } catch (const std::exception&) {
            const std::lock_guard lock(guard);
            ++caught;
          }
        }
        if (mine != 1000) std::puts("thread-local storage is shared");
      });
    for (auto& thread : threads) thread.join();
  }
  std::printf("%ld %ld\n", sum.load(), caught);
}
