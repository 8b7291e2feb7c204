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

// How much of a crew a quick run measures; a full run measures all of all.
enum class Extent {
  whole,     // all that several threads change
  between,   // a number between two whole ones: the kernels that are roofs
  scattered  // threads on several memory nodes: what they share
};

// Which members run together.
struct Crew {
  std::vector<int> members;
  CpuList cpus;
  bool is_quick = false;  // part of the quick run
  Extent extent = Extent::whole;
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

// The thread counts, cores before siblings and one memory node after the other: one, doublings,
// whole nodes, all cores, all CPUs, and the siblings of one core. Where there are several nodes,
// doublings that are scattered over all of them too. A full run has all up to eight besides.
std::vector<Crew> crews_of(const model::Topology& topology, const CpuList& order, int most_threads);

void plan_peaks(Plan& plan, const PlanInput& input, const Workbench& bench,
                const std::vector<Mix>& mix_of_isa);
void plan_bandwidths(Plan& plan, const PlanInput& input, const Workbench& bench);
// Instructions of any kind, and operations on 64-bit integers.
void plan_instructions(Plan& plan, const PlanInput& input, const Workbench& bench);

// Mixes of instructions that no part of a core but its width should hold back.
struct IssueMix {
  std::string name;  // "3 integer : 2 vector : 1 load"
  Kernel kernel;
};
std::vector<IssueMix> issue_mixes();

// Candidates for the mix of FMA and ADD, to be tried per ISA.
const std::vector<Mix>& mixes();

}  // namespace loft::machine
