#include "base/workers.hpp"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace loft {

void run_workers(unsigned count, const std::function<void(unsigned number)>& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&](unsigned number) {
    try {
      work(number);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (unsigned number = 1; number < count; ++number) {
      try {
        threads.emplace_back([&guarded, number] { guarded(number); });
      } catch (const std::system_error&) {
        break;
      }
    }
    guarded(0);
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace loft
