// What is measured, as tables: which kernels on which threads, which latencies by which chains.
#pragma once

#include <string>
#include <vector>

#include "machine/workbench.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

// One trial and what becomes of it.
struct Item {
  Trial trial;
  double tolerance = 0;
  double window_seconds = 0;
  model::Roof roof;     // described; its numbers come at the end
  std::string latency;  // or the name of a latency, per link of the chain
};

// Which members run together.
struct Crew {
  std::vector<int> members;
  CpuList cpus;
  bool is_quick = false;  // part of the quick run
};

struct PlanInput {
  bool full = false;
  std::vector<Isa> isas;
  bool fma = false;
  std::vector<Crew> crews;  // the first is one thread
  std::vector<model::Level> levels;
  std::vector<model::Cache> caches;
};

struct Plan {
  std::vector<Item> items;
  std::vector<model::Roof> left_out;  // unavailable, each with why
};

// The thread counts: one, the siblings of a core, all cores, all CPUs; with `full` all between too.
std::vector<Crew> crews_of(const model::Topology& topology, const CpuList& order, int most_threads);

void plan_peaks(Plan& plan, const PlanInput& input, const Workbench& bench,
                const std::vector<Mix>& mix_of_isa);
void plan_bandwidths(Plan& plan, const PlanInput& input, const Workbench& bench);

// Candidates for the mix of FMA and ADD, to be tried per ISA.
const std::vector<Mix>& mixes();

}  // namespace loft::machine
