// Writes the folder of a job whose numbers are known, for databases and for measurements of `loft
// report`:
//
//   loft_export_job DIR RANKS [FUNCTIONS]
//
// Each rank has a second of `solve` and some of `progress`, which is MPI's, a little more with its
// number; every hundredth, from the third on, has half a second of `solve` more. The share of MPI
// of rank r is 20 + r % 50 percent. Files have about 15 kB with 300 functions.
#include <cstdio>
#include <cstdlib>

#include "job/folder.hpp"
#include "job/rank_file.hpp"

using namespace loft;

namespace {

job::RankSummary rank_of_sample(std::uint32_t number, std::uint32_t size, int functions) {
  constexpr std::uint32_t kRanksOfNode = 64;
  constexpr std::uint64_t kMillisecond = 1'000'000;
  job::RankSummary summary;
  summary.rank = {
      number,   size,   number % kRanksOfNode, "n" + std::to_string(number / kRanksOfNode), "4711",
      "4711.0", "Slurm"};
  summary.state = job::State::ended;
  summary.command = "./app";
  summary.source = "perf_events";
  summary.start_ns = 1'700'000'000'000'000'000;
  summary.wall_ns = 3'000 * kMillisecond;
  summary.mpi = job::MpiTime{(20 + number % 50) * 30 * kMillisecond, 1000, summary.wall_ns};
  summary.sample_ns = 2'503'009;
  summary.columns = {{"task-clock", "ns", sample::Origin::scaled}};
  const std::uint64_t solve = (1'000 + number % 7 + (number % 100 == 3 ? 500 : 0)) * kMillisecond;
  summary.functions = {{"solve", "/opt/app", false, {solve}},
                       {"progress", "/lib/libmpi.so.40", true, {300 * kMillisecond}}};
  for (int i = 0; i < functions; ++i)
    summary.functions.push_back({"a_function_with_a_longer_name_" + std::to_string(i),
                                 "/opt/app",
                                 false,
                                 {kMillisecond / 1000 + number % 5}});
  std::uint64_t total = 0;
  for (const job::FunctionRow& row : summary.functions) total += row.values.front();
  summary.totals = {total};
  return summary;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const auto ranks = static_cast<std::uint32_t>(std::atoi(arguments[2]));
  const int functions = count > 3 ? std::atoi(arguments[3]) : 20;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const job::RankSummary summary = rank_of_sample(i, ranks, functions);
    const auto path = job::claim_file(arguments[1], summary.rank);
    if (path && job::write_rank_file(*path, summary)) continue;
    std::fprintf(stderr, "cannot write the file of rank %u\n", i);
    return 1;
  }
  return 0;
}
