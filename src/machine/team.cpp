#include "machine/team.hpp"

#include <pthread.h>
#include <sched.h>

#include "machine/priority.hpp"
#include "machine/ticks.hpp"

namespace loft::machine {
namespace {

bool pin_to(int cpu) {
  // Sized by hand: a cpu_set_t ends at CPU 1023.
  cpu_set_t* set = CPU_ALLOC(cpu + 1);
  if (set == nullptr) return false;
  const std::size_t size = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(size, set);
  CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  const bool pinned = ::pthread_setaffinity_np(::pthread_self(), size, set) == 0;
  CPU_FREE(set);
  return pinned;
}

}  // namespace

Team::Team(const CpuList& cpus) : cpus_(cpus) {
  for (int member = 0; member < size(); ++member)
    threads_.emplace_back([this, member] { work(member); });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return ready_ == size(); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::work(int member) {
  if (!pin_to(cpus_[static_cast<std::size_t>(member)])) pinned_ = false;
  const Priority priority;
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  ++ready_;
  done_.notify_all();
  for (;;) {
    wake_.wait(lock, [&] { return ending_ || generation_ != seen; });
    if (ending_) return;
    seen = generation_;
    if (!called_[static_cast<std::size_t>(member)]) continue;
    const auto* job = job_;
    lock.unlock();
    (*job)(member);
    lock.lock();
    if (--running_ == 0) done_.notify_all();
  }
}

void Team::run(const std::vector<int>& members, const std::function<void(int)>& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  called_.assign(cpus_.size(), false);
  for (const int member : members) called_[static_cast<std::size_t>(member)] = true;
  running_ = static_cast<int>(members.size());
  ++generation_;
  wake_.notify_all();
  done_.wait(lock, [this] { return running_ == 0; });
}

void Team::meet(int members) {
  if (members == 1) return;
  const std::uint64_t meeting = meetings_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
    arrived_.store(0, std::memory_order_relaxed);
    meetings_.store(meeting + 1, std::memory_order_release);
    return;
  }
  // Spinning is what makes the start common; a member that was put to sleep is waited for politely.
  for (int spins = 0; meetings_.load(std::memory_order_acquire) == meeting; ++spins) {
    if (spins < 20000)
      spin_pause();
    else
      ::sched_yield();
  }
}

}  // namespace loft::machine
