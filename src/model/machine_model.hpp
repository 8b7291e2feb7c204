// A machine as loft knows it: what it is made of, its roofs, its latencies. Plain data: `machine/`
// measures it and keeps it in a file, `model/roofline.hpp` reasons with it, `view/` shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cpu_set.hpp"

namespace loft::model {

// Whether a value was reached again (stable), only once or rarely (noisy), or could not be
// measured here (unavailable, with the reason beside it).
enum class Verdict { stable, noisy, unavailable };

struct Cache {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  std::uint64_t bytes = 0;
  std::uint64_t line = 0;
  int ways = 0;
  int instances = 0;
  int shared_by = 0;  // CPUs per instance
};

struct Cpu {
  int id = 0;
  int core = 0;  // a number for each physical core of the machine
  int package = 0;
  int node = 0;
  int capacity = 0;  // relative to others where cores differ; 0: not said
};

struct Topology {
  std::vector<Cpu> cpus;  // online ones
  CpuList offline;
  int cores = 0;
  int packages = 0;
  int nodes = 0;
  int threads_per_core = 1;
  bool is_hybrid = false;  // cores of different kinds
  std::vector<Cache> caches;
};

// What a measurement depends on and a machine may change without becoming another.
struct System {
  std::string cpu;        // the name the CPU gives itself
  std::string microcode;  // as the kernel tells it; empty: it does not
  std::string kernel;     // its release
  int cpus = 0;           // online; 0: not known
};

enum class RoofKind { flops, bandwidth, instructions, integer };

struct Roof {
  RoofKind kind = RoofKind::flops;
  std::string isa;        // "scalar", "sse", "avx2", "avx512", "neon", "sve"
  std::string precision;  // flops: "sp", "dp"; integer: "int64"
  std::string
      op;  // flops: "add" … "sqrt"; bandwidth: "load" … "ntcopy"; else "mixed", "add", "mul"
  std::string level;        // bandwidth: "L1", "L2", "L3", "DRAM"
  std::uint64_t bytes = 0;  // bandwidth: working set of one thread
  int streams = 0;          // bandwidth: places walked through at once, per array
  std::string mix;          // mixed: "1 fma : 1 add"; instructions: "3 integer : 2 vector : 1 load"
  int threads = 1;
  CpuList cpus;
  double best = 0;  // operations or bytes a second, all threads together
  double median = 0;
  double per_cycle = 0;  // of the best, per cycle of one core, all threads together
  double spread = 0;     // of the rounds' bests, as a share of the best
  int windows = 0;
  int disturbed = 0;
  Verdict verdict = Verdict::unavailable;
  std::string why;   // when it is unavailable
  std::string when;  // date of its measurement where that is not the machine's
};

// A latency or another number that metric files use by its name. Latencies have cycles and ns,
// bandwidths bytes a cycle and a second; `value` is the one that formulas get, in `unit`.
struct Constant {
  std::string name;
  std::string
      unit;  // "cycles", "bytes_per_second", "flops_per_second", "Hz"; of a core also others
  double value = 0;
  double cycles = 0;  // latencies only
  double ns = 0;
  double median = 0;  // in `unit`
  double spread = 0;
  Verdict verdict = Verdict::unavailable;
  std::string origin = "measured";  // or the file that overrides it
  std::string why;
};

// One size of the sweep through working sets.
struct SweepPoint {
  std::uint64_t bytes = 0;
  double latency_ns = 0;
  double bytes_per_second = 0;
};

// A level of the memory hierarchy as the sweep found it.
struct Level {
  std::string name;        // "L1" … "DRAM"
  std::uint64_t knee = 0;  // the largest working set that still has this level's cost; 0 for DRAM
  std::uint64_t claimed = 0;  // what the system says, 0 when it says nothing
  std::uint64_t test_bytes = 0;
  bool found = true;  // by the sweep; otherwise taken over from the claim
};

struct Machine {
  std::string identity;  // the key of its file
  std::string cpu;       // the name the CPU gives itself
  std::string architecture;
  std::string hypervisor;  // empty on bare metal
  Topology topology;
  System system;  // at the time of the measurement; older files do not say
  std::vector<std::string> isas;
  std::vector<std::string> extensions;
  double nominal_hz = 0;    // 0: nobody says
  double frequency_hz = 0;  // measured by a chain of additions
  double tsc_hz = 0;
  std::string mode;  // "quick" or "full"
  std::string when;  // date of the measurement, UTC
  std::vector<Level> levels;
  std::vector<SweepPoint> sweep;
  std::vector<Roof> roofs;
  std::vector<Constant> constants;
  std::vector<Constant> core;      // what a model of its timing needs, names with their units
  std::vector<std::string> notes;  // what was noticed, and what was left out and why
};

const char* to_string(Verdict verdict);
const char* to_string(RoofKind kind);
// Of its values: "FLOP/s", "B/s", "instructions/s", "operations/s".
const char* unit_of(RoofKind kind);

// The constant of that name, or nullptr.
const Constant* find_constant(const Machine& machine, const std::string& name);
// A parameter of its core, such as "int_mul_latency_cycles", or nullptr.
const Constant* find_core_parameter(const Machine& machine, const std::string& name);

}  // namespace loft::model
