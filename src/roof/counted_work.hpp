// What a program did, as somebody counted it: the whole, its threads and its functions. Plain data,
// the same whether the virtual PMU or counters of the machine told it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/roof_points.hpp"
#include "sample/count.hpp"
#include "sample/counting.hpp"

namespace loft::roof {

// Functions are the same when name and binary are, whatever address they had in either run. Two
// that a binary has of one name are told apart by nothing that both runs know.
struct FunctionKey {
  std::string name;
  std::string binary;

  auto operator<=>(const FunctionKey&) const = default;
};

struct ThreadWork {
  std::uint32_t tid = 0;
  std::string name;
  std::optional<model::Work> work;  // nothing: not counted
};

struct FunctionWork {
  FunctionKey key;
  std::optional<model::Work> work;
};

// Code from its first byte to behind its last, in a binary.
struct CodeRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

struct LoopWork {
  FunctionKey function;
  model::LoopFacts facts;
  model::Work work;
  std::vector<CodeRange> code;  // its blocks, those of inner loops included, rising
};

// A region that the program marked, in one thread or over all of them. Its time is the program's
// own, in the native run.
struct RegionWork {
  std::vector<std::string> path;  // names from the outermost region to this one
  std::uint32_t tid = 0;          // in the native run; 0: all threads
  std::uint64_t visits = 0;
  double seconds = 0;         // in which at least one thread was inside
  double thread_seconds = 0;  // added up over threads
  std::optional<model::Work> work;
};

enum class CountedBy {
  virtual_pmu,  // in a run of its own: threads have other numbers there
  counters,     // of the machine, in the native run: threads and functions by their samples
  nobody,       // only the times are known
};

struct CountedWork {
  CountedBy by = CountedBy::virtual_pmu;
  sample::Origin origin = sample::Origin::counted;  // of the total
  bool bytes_are_of_memory = false;                 // by a model (roof/level_bytes.hpp)
  std::optional<model::Work> total;
  std::vector<ThreadWork> threads;  // each once, in the order in which they were made
  std::vector<FunctionWork> functions;
  std::vector<RegionWork> regions;
  std::vector<LoopWork> loops;  // where they were asked for: by function, outer before inner
};

// What the virtual PMU counted. A thread that became another program with exec was counted for each
// of them; here it is one.
[[nodiscard]] CountedWork counted_work(const sample::RunCounts& counted);

}  // namespace loft::roof
