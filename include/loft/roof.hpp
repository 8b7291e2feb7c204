// How close a program comes to the limits of its machine: measured, read from a recording, or
// computed from counts of your own.
//
//   std::string why;
//   const auto run = loft::roofline::measure({"./app", "input"}, why);   // runs it
//   if (!run) return fail(why);
//   for (const loft::roofline::Point& point : run->points)
//     if (point.limit) std::cout << point.name << ": " << point.limit->share << " of "
//                                << point.limit->name << '\n';
//
// or, with the operations, bytes and seconds of a kernel that you know,
//
//   const auto machine = loft::roofline::Machine::load("", why);         // this one
//   if (!machine) return fail(why);
//   const auto point = machine->place({.name = "triad", .flops = 2e9, .bytes = 24e9,
//                                      .seconds = 1.5, .threads = 2});
//
// Roofs are those that `loft machine` measured. What is not known is absent, never 0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loft/export.h"

namespace loft::roofline {

enum class Scope { run, thread, function, slice, loop, region };

// How a rate came about.
enum class Origin {
  counted,   // from whole counts and measured times
  scaled,    // from a part of either, extended to the whole
  modelled,  // estimated
  missing,
};

enum class Ops { flops, instructions, integer };

// A bandwidth, in bytes per second, or a peak, in operations per second.
struct Roof {
  std::string name;  // "L2 bandwidth", "FMA, 256 bit"
  double per_second = 0;
  bool is_bandwidth = false;
  bool is_noisy = false;  // its measurement varied too much to be trusted
};

// The roof right above a point.
struct Limit {
  std::string name;
  double attainable = 0;  // operations per second of that roof, at the point's intensity
  double share = 0;       // of it that the point attains
  bool is_bandwidth = false;
};

struct Point {
  Scope scope = Scope::run;
  std::string name;
  std::string binary;  // of a function
  std::int64_t tid = 0;
  double start_seconds = 0, end_seconds = 0;  // of a slice, since the start of the run
  std::optional<double> flops;
  std::optional<double> bytes;    // loads and stores, as the core sees them
  std::optional<double> seconds;  // of elapsed time
  std::optional<double> share_of_time;
  std::optional<double> intensity;       // operations per byte
  std::optional<double> ops_per_second;  // of what Run::ops says
  std::optional<double> flops_per_second;
  std::optional<double> bytes_per_second;
  std::optional<Limit> limit;  // nothing without operations or without roofs
  Origin origin = Origin::missing;
};

// One run of a program under the roofs of a machine.
struct Run {
  std::vector<std::string> command;
  int exit_status = 0;  // as a shell reports it
  double wall_seconds = 0;
  double cpu_seconds = 0;
  Ops ops = Ops::flops;     // what intensities and rates count: instructions where there are hardly
                            // any floating-point operations
  std::string counts_from;  // "virtual PMU, exact"
  bool time_is_estimated = false;  // else it was measured, in a run without the virtual PMU
  std::vector<Roof> roofs;         // for the precision and the number of threads of the whole run
  std::vector<Point> points;       // the whole run first
  std::vector<std::string> notes;  // what a reader of the numbers must know
};

struct MeasureOptions {
  std::string machine_file;      // empty: of this machine
  std::string recording;         // where the run is kept, for read(); empty: nowhere
  bool all_loops = false;        // also loops that take little time; the virtual PMU finds them
  bool runs_may_differ = false;  // take the counts even when the program's two runs end differently
};

// Runs the program: once where counters of the machine count operations and bytes, else a second
// time under the virtual PMU (x86-64). Nothing when that is not possible; `why` says why and what
// to do. A program that fails is measured up to there.
[[nodiscard]] LOFT_API std::optional<Run> measure(const std::vector<std::string>& command,
                                                  std::string& why,
                                                  const MeasureOptions& options = {});

// A recording that measure(), `loft roof -o FILE.data` or `loft record --source virtual` wrote.
// Without a machine file its own roofs are used, or those of this machine where it has none.
[[nodiscard]] LOFT_API std::optional<Run> read(const std::string& recording, std::string& why,
                                               const std::string& machine_file = {});

// What a kernel did, by counts of your own.
struct Work {
  std::string name;
  double flops = 0;  // in double precision, or in single precision with `is_single`
  double bytes = 0;  // loaded and stored
  double seconds = 0;
  double threads = 1;  // that worked meanwhile, on average
  bool is_single = false;
  int vector_bits = 0;  // of the instructions that did most of them; 0: not known
};

class LOFT_API Machine {
 public:
  // A machine file; with an empty path that of this machine, which `loft machine` measures once.
  [[nodiscard]] static std::unique_ptr<Machine> load(const std::string& path, std::string& why);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] const std::string& cpu() const;
  [[nodiscard]] std::vector<Roof> roofs(int threads, bool is_single = false) const;
  // Where the work stands, under the roofs of its own precision and number of threads. Peaks of
  // narrower vectors than it uses do not bound it; where that is not known, the widest alone does.
  [[nodiscard]] Point place(const Work& work) const;

 private:
  struct Implementation;
  explicit Machine(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace loft::roofline
