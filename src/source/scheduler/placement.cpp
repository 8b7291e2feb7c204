#include "source/scheduler/placement.hpp"

#include <algorithm>
#include <iterator>

namespace loft::source::scheduler {
namespace {

constexpr int kMostRounds = 8;  // tasks are born while others are moved
constexpr int kMostAncestors = 64;

CpuList without(const CpuList& cpus, const CpuList& taken) {
  CpuList left;
  std::ranges::set_difference(cpus, taken, std::back_inserter(left));
  return left;
}

std::map<pid_t, pid_t> parents_of(const std::vector<LivingTask>& tasks) {
  std::map<pid_t, pid_t> parents;
  for (const LivingTask& task : tasks) parents[task.pid] = task.parent;
  return parents;
}

}  // namespace

bool Placement::is_ours(const LivingTask& task, const std::map<pid_t, pid_t>& parents) const {
  pid_t pid = task.pid;
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    if (std::ranges::find(program_, pid) != program_.end()) return true;
    const auto parent = parents.find(pid);
    if (parent == parents.end()) return false;
    pid = parent->second;
  }
  return false;
}

std::vector<LivingTask> Placement::program_tasks() const {
  std::vector<LivingTask> tasks = living_tasks();
  const auto parents = parents_of(tasks);
  std::erase_if(tasks, [&](const LivingTask& task) {
    if (is_ours(task, parents)) return false;
    // Its parents may be gone; that it was born on these CPUs tells.
    if (changes_.empty() || seen_.contains({task.tid, task.start})) return true;
    const auto now = allowed_cpus(task.tid);
    return !now || *now != cpus_;
  });
  return tasks;
}

Placement::Outcome Placement::place(const LivingTask& task, bool ours) {
  const auto before = allowed_cpus(task.tid);
  if (!before) return Outcome::unchanged;  // it has ended
  const CpuList after = ours ? cpus_ : without(*before, cpus_);
  if (task.tid == task.pid) families_[task.pid] = {*before, *before};
  if (after == *before) return Outcome::unchanged;
  if (after.empty()) return Outcome::bound;
  if (const auto set = set_allowed_cpus(task.tid, after); !set) {
    if (set.error().kind == ErrorKind::permission) return Outcome::refused;
    return set.error().kind == ErrorKind::not_found ? Outcome::unchanged : Outcome::bound;
  }
  const Change change{*before, after};
  changes_[{task.tid, task.start}] = change;
  if (task.tid == task.pid) families_[task.pid] = change;
  return Outcome::moved;
}

Moves Placement::keep_apart() {
  Moves moves;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto tasks = living_tasks();
    const auto parents = parents_of(tasks);
    bool is_new = false;
    for (const LivingTask& task : tasks) {
      const Identity identity{task.tid, task.start};
      if (seen_.contains(identity) || (round > 0 && was_born_moved(task, parents))) continue;
      seen_.insert(identity);
      is_new = true;
      if (task.is_kernel) {
        ++moves.kernel_threads;
        continue;
      }
      const bool ours = is_ours(task, parents);
      const Outcome outcome = place(task, ours);
      if (ours && outcome == Outcome::moved) ++moves.program;
      if (ours) continue;
      moves.moved += outcome == Outcome::moved;
      moves.bound += outcome == Outcome::bound;
      moves.refused += outcome == Outcome::refused;
    }
    if (!is_new) break;
  }
  return moves;
}

// A task that was born since has what its process, or the nearest of its ancestors, was given; when
// none of them is left, what anybody was given who got the same CPUs.
const Placement::Change* Placement::change_of_family(const LivingTask& task, const CpuList& now,
                                                     const std::map<pid_t, pid_t>& parents) const {
  if (seen_.contains({task.tid, task.start})) return nullptr;
  pid_t pid = task.pid;
  for (int i = 0; i < kMostAncestors && pid > 0; ++i) {
    const auto found = families_.find(pid);
    if (found != families_.end() && found->second.after == now) return &found->second;
    const auto parent = parents.find(pid);
    if (parent == parents.end()) break;
    pid = parent->second;
  }
  for (const auto& [identity, change] : changes_)
    if (change.after == now) return &change;
  return nullptr;
}

bool Placement::was_born_moved(const LivingTask& task,
                               const std::map<pid_t, pid_t>& parents) const {
  const auto now = allowed_cpus(task.tid);
  const Change* change = now ? change_of_family(task, *now, parents) : nullptr;
  return change != nullptr && change->before != *now;
}

std::size_t Placement::put_back() {
  std::set<Identity> failed;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto tasks = living_tasks();
    const auto parents = parents_of(tasks);
    bool did_something = false;
    for (const LivingTask& task : tasks) {
      if (task.is_kernel || failed.contains({task.tid, task.start})) continue;
      const auto now = allowed_cpus(task.tid);
      if (!now) continue;
      const auto known = changes_.find({task.tid, task.start});
      const Change* change =
          known != changes_.end() ? &known->second : change_of_family(task, *now, parents);
      if (change == nullptr || change->after != *now || change->before == *now) continue;
      const auto set = set_allowed_cpus(task.tid, change->before);
      if (set) did_something = true;
      if (!set && set.error().kind != ErrorKind::not_found) failed.insert({task.tid, task.start});
    }
    if (!did_something) break;
  }
  return failed.size();
}

}  // namespace loft::source::scheduler
