// What a run did, placed under the roofs of a machine.
//
//   std::vector<Subject> subjects = {...};           // the run, its threads, functions, slices
//   const RoofChart chart = place(machine, subjects);
//   chart.points[0].limit->name                      // "DRAM bandwidth"
//   advice(chart)                                    // roof_advice.hpp: what that proves
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine_model.hpp"
#include "model/memory_levels.hpp"
#include "model/roofline.hpp"
#include "model/verdict.hpp"
#include "sample/count.hpp"

namespace loft::model {

enum class Scope : std::uint8_t { run, thread, function, slice, loop, region };

// Operations by the width of the instructions that did them, widest last.
struct FlopsByWidth {
  double scalar = 0;
  double bits128 = 0;
  double bits256 = 0;
  double bits512 = 0;
};

// What was done, as the core saw it.
struct Work {
  double flops_sp = 0;
  double flops_dp = 0;
  double bytes = 0;                        // loads and stores
  std::optional<double> instructions = 0;  // nothing: not known
  FlopsByWidth widths;
  double flops_fma = 0;  // of them, by multiply-add instructions
  double flops_x87 = 0;  // in extended precision, beside the two others
  double flops_div = 0;  // of them, divisions
  double flops_sqrt = 0;
  std::optional<double> int_ops = 0;  // on integers of 64 bits; nothing: not known
  LevelBytes levels;                  // beyond the core, by a model

  // Nothing was done.
  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] double flops() const { return flops_sp + flops_dp + flops_x87; }
  // Floating-point operations, instructions or integer operations; nothing where they are not
  // known.
  [[nodiscard]] std::optional<double> ops(RoofKind kind) const;
  // So little floating point that the program is not about it.
  [[nodiscard]] bool has_hardly_any_flops() const;
  Work& operator+=(const Work& other);
  [[nodiscard]] Work scaled_by(double factor) const;
};

// A loop of a function, by the blocks that ran.
struct LoopFacts {
  std::uint64_t address = 0;  // of its header, in the binary
  std::uint64_t offset = 0;   // of its header, in the function
  std::uint64_t start = 0;    // of its lowest block, in the function
  std::string lines;          // "triad.c:12-15", those of its code; empty: not known
  int depth = 1;              // 1: in no other loop of the function
  double iterations = 0;
  std::optional<double> trips;  // iterations per entry; nothing where entries are not all known
  // That most of its floating-point and vector instructions have; 64: one number at a time. Nothing
  // where it has none.
  std::optional<int> vector_bits;
  std::optional<double> masked_share;  // of its vector instructions, those under a mask
  bool is_remainder = false;           // does what is left over from a wider loop of the same lines
  std::optional<double> cycles;        // of one iteration, by the sampled time
};

// "triad.c:12-15", or where it is in its function: "+0x1f".
[[nodiscard]] std::string name_of(const LoopFacts& loop);

struct Subject {
  Scope scope = Scope::run;
  std::string name;
  std::string binary;  // of a function, or of the function of a loop, which `name` then is
  std::int64_t tid = 0;
  std::uint32_t mostly_in = 0;  // the thread that ran most of a function or a slice; 0: not known
  double start = 0;             // of a slice, in seconds
  double end = 0;
  std::optional<Work> work;  // nothing: not counted
  double seconds = 0;        // of elapsed time
  double concurrency = 1;    // threads at work meanwhile, on average
  double time_error = 0;     // half of the 95 % interval of `seconds`, as a share of it
  double share_of_time = 0;  // of the program's own run time
  // It shares the time with others by a rule of thumb, which says nothing about its rate.
  bool time_is_shared = false;
  // How the rate came about: from whole counts and measured times, from times that were sampled,
  // or from a model of either; and how the work alone did, and so the intensity.
  sample::Origin origin = sample::Origin::counted;
  sample::Origin work_origin = sample::Origin::counted;
  std::optional<Why> why;  // nothing: not modelled
  std::optional<LoopFacts> loop;
};

struct RoofPoint {
  Subject subject;
  std::optional<double> intensity;         // operations per byte; nothing without either
  std::optional<double> ops_per_second;    // what the chart counts; nothing without time or counts
  std::optional<double> flops_per_second;  // likewise, whatever the chart counts
  std::optional<double> bytes_per_second;  // likewise
  std::optional<double> attainable;        // op/s at most on this machine, at its intensity
  std::optional<Limit> limit;              // the next roof above; nothing without operations
  std::vector<LevelPoint> levels;          // its place at each level, where these are known
};

struct RoofChart {
  Roofline roofline;                // of the whole run: its precision, its number of threads
  std::vector<RoofPoint> points;    // as the subjects were given
  std::vector<std::size_t> shown;   // the functions that take most of the time, longest first
  std::optional<RoofPoint> others;  // all other functions together
};

// The roofs of each point are those of its own precision, its own number of threads, and the
// instruction widths that it uses or could use. Without `ops`, work is floating-point operations,
// or instructions where the run has hardly any and the machine has a roof of instructions.
RoofChart place(const Machine& machine, std::vector<Subject> subjects, std::size_t top = 8,
                std::optional<RoofKind> ops = {});

const char* to_string(Scope scope);

}  // namespace loft::model
