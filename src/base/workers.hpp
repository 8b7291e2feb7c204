// Several threads that share one piece of work. What one of them throws, for want of memory or
// otherwise, the caller throws when all have ended: no exception ends the process.
//
//   std::atomic<std::size_t> next = 0;
//   run_workers(8, [&](unsigned number) {
//     for (std::size_t i = next++; i < parts.size(); i = next++) do_part(number, parts[i]);
//   });
#pragma once

#include <functional>

namespace loft {

// Calls work(0) on this thread and work(1) to work(count - 1) on others. Where no more threads can
// be made there are fewer: whatever is to be done must be done by those that there are.
void run_workers(unsigned count, const std::function<void(unsigned number)>& work);

}  // namespace loft
