// A parallel job as a whole, made of what each of its ranks did: what src/job makes and views show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample/count.hpp"

namespace loft::model {

enum class RankState : std::uint8_t {
  complete,    // ended with status 0, or one that nobody could ask for
  failed,      // ended with another status
  killed,      // ended by a signal
  unfinished,  // no end was written: it, or its recorder, was killed; or it still runs
};
const char* to_string(RankState state);

struct JobRank {
  std::uint32_t rank = 0;
  std::string node;
  RankState state = RankState::unfinished;
  int exit_status = 0;                 // of one that has ended; -1: not known
  std::optional<double> wall_seconds;  // likewise
  std::optional<double> cpu_seconds;
  std::optional<double> mpi_share;  // of its wall time; 0 to 1
  // Outside MPI, where it is known:
  std::optional<double> load;  // as JobReport::load says
  std::optional<double> seconds;
  std::optional<double> flops;
  std::optional<double> bytes;
};

struct JobFunction {
  std::string name;
  std::string binary;
  bool in_mpi = false;
  std::size_t ranks = 0;  // that have it
  double mean = 0;        // of the load, over all ranks that are counted
  double most = 0;
  std::uint32_t most_rank = 0;
  double cost = 0;                                 // what the slowest rank takes more than the mean
  std::vector<std::optional<std::uint64_t>> sums;  // by column; nothing: missing in some rank
};

struct Straggler {
  std::uint32_t rank = 0;
  std::string node;
  double factor = 0;     // of the median rank's load
  std::string function;  // that takes most of what it has more than the median; empty: none
  std::string binary;
  double excess = 0;  // of this function over its median
};

struct JobColumn {
  std::string name;
  std::string unit;
  sample::Origin origin = sample::Origin::counted;
  std::optional<std::uint64_t> sum;  // nothing: no rank has it, or it does not fit 64 bits
  std::size_t ranks = 0;             // that are in the sum
};

// Shares of the time in MPI over the ranks, 0 to 1.
struct MpiShares {
  double least = 0;
  double median = 0;
  double most = 0;
  bool is_measured = false;  // timed call by call; else estimated from samples, by library
  std::size_t ranks = 0;
};

struct SkippedFile {
  std::string path;
  std::string why;
};

// A number of a rank, or of a function of it: a row of the long table that databases read.
struct JobTableRow {
  std::string_view job;
  std::uint64_t step = 1;
  std::string_view node;
  std::uint32_t rank = 0;
  std::string_view state;
  std::string_view function;  // empty: of the whole rank
  std::string_view binary;
  bool in_mpi = false;
  std::string_view metric;
  std::string_view unit;
  std::string_view kind;               // "counted", "scaled", "modelled", "missing"
  std::optional<std::uint64_t> value;  // nothing: missing
};

struct JobReport {
  std::string folder;
  std::string command;
  std::string job;  // of the batch system
  std::string source;
  std::size_t step = 1;  // of so many
  std::size_t steps = 1;
  std::size_t size = 0;                // ranks that the job had
  std::size_t complete = 0;            // of them
  std::size_t counted = 0;             // that the figures below are of
  std::optional<double> wall_seconds;  // of the slowest that is counted
  // What is compared: the first column that says how much a rank had to do.
  std::string load;  // "task-clock"; empty: nothing does
  std::string load_unit;
  sample::Origin load_origin = sample::Origin::counted;
  std::optional<double> imbalance;  // the largest load over the mean, less 1
  std::optional<MpiShares> mpi;
  std::size_t missing_count = 0;       // ranks without a file
  std::vector<std::uint32_t> missing;  // the first of them
  std::vector<JobRank> ranks;          // in order
  std::vector<JobColumn> columns;
  std::vector<JobFunction> functions;  // what their imbalance costs most first
  std::vector<Straggler> stragglers;   // worst first
  std::vector<SkippedFile> skipped;
  std::vector<std::string> notes;
};

}  // namespace loft::model
