// Threads that stay on their CPUs and start together.
//
//   Team team({0, 1});
//   team.run({0, 1}, [&](int member) { team.meet(2); work(member); });
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cpu_set.hpp"

namespace loft::machine {

class Team {
 public:
  // One member per CPU, in that order.
  explicit Team(const CpuList& cpus);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  // Runs `job` on these members and waits for all.
  void run(const std::vector<int>& members, const std::function<void(int)>& job);

  // Inside a job: returns when `members` of them have come here, to all at once.
  void meet(int members);

  [[nodiscard]] int size() const { return static_cast<int>(cpus_.size()); }
  [[nodiscard]] const CpuList& cpus() const { return cpus_; }
  // Whether the kernel let every member be bound to its CPU.
  [[nodiscard]] bool is_pinned() const { return pinned_; }

 private:
  void work(int member);

  CpuList cpus_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(int)>* job_ = nullptr;
  std::vector<bool> called_;
  int running_ = 0;
  int ready_ = 0;
  std::uint64_t generation_ = 0;
  bool ending_ = false;
  std::atomic<bool> pinned_ = true;
  alignas(64) std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<std::uint64_t> meetings_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace loft::machine
