// How fast the models are: accesses through caches and TLBs, executed instructions through all
// models, instructions timed in one scenario. CPU time, best of five.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#include "core/models.hpp"
#include "core/timing.hpp"

namespace loft::core {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void report(const char* name, double operations, const std::function<void()>& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  fmt::print("{:<44} {:8.1f} M/s\n", name, operations / best / 1e6);
}

// Addresses of a program with a hot working set, runs through arrays and a few far accesses.
std::vector<std::uint64_t> mixture(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> addresses;
  std::uint64_t run = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto what = random() % 100;
    if (what < 60)
      addresses.push_back(0x10000 + random() % (16 << 10));
    else if (what < 97)
      addresses.push_back(0x1000000 + (run += 8) % (4 << 20));
    else
      addresses.push_back(0x40000000 + random() % (64 << 20));
  }
  return addresses;
}

void measure_caches(const MachineGeometry& machine, const char* name, std::size_t count,
                    const std::function<std::uint64_t(std::size_t)>& address) {
  Hierarchy caches(machine.caches);
  Tlb tlb(machine.tlb);
  report(name, static_cast<double>(count), [&] {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t at = address(i);
      tlb.data(at, 8);
      if (i % 3 == 0)
        caches.store(0, at, 8, 0x400000 + i % 7);
      else
        caches.load(0, at, 8, 0x400000 + i % 7);
    }
  });
}

// A loop of ten instructions with a load, a store and a branch.
void execute_loop(Models& models, std::size_t rounds, const std::vector<std::uint64_t>& addresses) {
  Instruction instruction{.address = 0x400000, .length = 4};
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      instruction = {.address = 0x400000 + 4 * i, .length = 4, .op = Op::int_alu};
      instruction.sources = general_reg(static_cast<int>(i % 4));
      instruction.destinations = general_reg(static_cast<int>(i % 4));
      const std::uint64_t at = addresses[(round + i) % addresses.size()];
      if (i == 2 || i == 5) {
        const Touched touched[] = {{.address = at, .size = 8, .is_store = i == 5}};
        models.execute(0, instruction, touched);
      } else if (i == 9) {
        instruction.branch = BranchKind::conditional;
        instruction.op = Op::branch;
        models.execute(0, instruction, {}, round % 7 != 0, 0x400000);
      } else {
        models.execute(0, instruction, {});
      }
    }
  }
}

void measure_all(const MachineGeometry& machine, const std::vector<std::uint64_t>& addresses) {
  Models models(machine);
  constexpr std::size_t kRounds = 200'000;
  report("instructions through all models", 10.0 * kRounds,
         [&] { execute_loop(models, kRounds, addresses); });
  Window window;
  models.record(&window, 0);
  execute_loop(models, 800, addresses);
  models.record(nullptr, 0);
  const CoreParameters core = *core_parameters("zen3");
  Timer timer(window, core);
  constexpr int kTimes = 20;
  report("instructions timed in one scenario",
         static_cast<double>(kTimes * window.executions.size()), [&] {
           for (int i = 0; i < kTimes; ++i)
             if (timer.run({}).cycles == 0) fmt::print("no cycles\n");
         });
}

}  // namespace
}  // namespace loft::core

int main() {
  using namespace loft::core;
  const MachineGeometry machine = *find_machine("zen3");
  MachineGeometry plain = machine;
  plain.caches.prefetch = {};
  const std::vector<std::uint64_t> addresses = mixture(1 << 20);
  const std::size_t count = addresses.size();
  const auto mixed = [&](std::size_t i) { return addresses[i]; };
  const auto stream = [](std::size_t i) { return 0x1000000 + 8 * i; };
  measure_caches(machine, "accesses, mixture", count, mixed);
  measure_caches(plain, "accesses, mixture, no prefetchers", count, mixed);
  measure_caches(machine, "accesses, stream of 8 MiB", count, stream);
  measure_all(machine, addresses);
}
