// What one rank did, in at most 16 kB however long it ran: who it was, how it ended, its totals,
// and the functions with most of its time or work.
//
//   RankSummary summary;
//   summary.columns = {{"task-clock", "ns", sample::Origin::scaled}};
//   summary.totals = {2'000'000'000};
//   summary.functions = {{"solve", "/opt/app", false, {1'900'000'000}}};
//   const std::string text = summary_text(summary);
//   LOFT_TRY(const RankSummary again, parse_summary(text));
//
// Values are integers, so that sums over any number of ranks are exact. A function that does not
// fit is added to one of two rows that stand for all others, so that the rows of a column still add
// up to what the functions had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "job/rank.hpp"
#include "sample/count.hpp"

namespace loft::job {

inline constexpr std::size_t kMostSummaryBytes = 15 * 1024;  // the file around it takes the rest

// Time in nanoseconds, or work.
struct Column {
  std::string name;
  std::string unit;
  sample::Origin origin = sample::Origin::counted;

  bool operator==(const Column&) const = default;
};

struct FunctionRow {
  std::string name;
  std::string binary;
  bool in_mpi = false;                // in an MPI library, or called by one
  std::vector<std::uint64_t> values;  // by column

  bool operator==(const FunctionRow&) const = default;
};

// The functions that had no room, as a row.
inline constexpr std::string_view kOtherFunctions = "(other functions)";

// Elapsed time inside MPI, as calls of it were timed.
struct MpiTime {
  std::uint64_t ns = 0;  // of the thread that called MPI_Init, between that and MPI_Finalize
  std::uint64_t calls = 0;
  std::uint64_t span_ns = 0;  // between them; 0: not known

  bool operator==(const MpiTime&) const = default;
};

// Of a rank whose end was seen by somebody who could not ask how it ended.
inline constexpr int kUnknownStatus = -1;

enum class State { running, ended };  // a rank that was killed stays running in its file

struct RankSummary {
  Rank rank;
  State state = State::running;
  std::string command;
  std::string source;          // who counted: "perf_events", "virtual"
  std::string pass;            // of a roofline in two jobs: "time" or "counts"; else empty
  int exit_status = 0;         // as a shell tells it, or kUnknownStatus
  std::uint64_t start_ns = 0;  // since 1970
  std::uint64_t wall_ns = 0;
  std::optional<std::uint64_t> cpu_ns;
  std::optional<MpiTime> mpi;
  std::optional<std::uint64_t> sample_ns;  // of run time, for which one sample stands
  std::vector<Column> columns;
  std::vector<std::optional<std::uint64_t>> totals;  // by column; nothing: missing
  std::vector<FunctionRow> functions;
  std::vector<std::string> notes;

  bool operator==(const RankSummary&) const = default;
};

[[nodiscard]] std::string summary_text(const RankSummary& summary,
                                       std::size_t most_bytes = kMostSummaryBytes);
[[nodiscard]] Result<RankSummary> parse_summary(std::string_view text);

}  // namespace loft::job
