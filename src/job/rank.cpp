#include "job/rank.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/text.hpp"

namespace loft::job {
namespace {

struct Launcher {
  const char* name;
  const char* number;
  const char* size;
  const char* local;
  const char* launch;  // a null pointer: has no name for it
};

// A launcher that runs inside another one stands before it: mpirun starts its daemons with srun,
// and the ranks below them inherit the variables of the daemon.
constexpr std::array kLaunchers{
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE"},
    Launcher{"MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
             nullptr},
    Launcher{"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_ID"},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID"},
};

class Environment {
 public:
  explicit Environment(const Variable& variable) : variable_(variable) {}

  [[nodiscard]] std::string text(const char* name) const {
    const char* value = name == nullptr ? nullptr : variable_(name);
    return value == nullptr ? std::string() : std::string(value);
  }
  [[nodiscard]] std::optional<std::uint32_t> number(const char* name) const {
    const auto value = parse_u64(text(name));
    if (!value || *value > kMostRanks) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  }

 private:
  const Variable& variable_;
};

std::optional<Rank> numbered(std::optional<std::uint32_t> number,
                             std::optional<std::uint32_t> size) {
  if (!number || !size || *number >= *size) return std::nullopt;
  Rank rank;
  rank.number = *number;
  rank.size = *size;
  return rank;
}

std::string slurm_step(const Environment& environment) {
  const std::string step = environment.text("SLURM_STEP_ID");
  return step.empty() ? std::string() : environment.text("SLURM_JOB_ID") + "." + step;
}

// A batch script has a SLURM_PROCID as well, but belongs to no step of srun.
std::optional<Rank> rank_of_slurm(const Environment& environment) {
  if (environment.text("SLURM_STEP_ID").empty()) return std::nullopt;
  auto size = environment.number("SLURM_STEP_NUM_TASKS");
  if (!size) size = environment.number("SLURM_NTASKS");
  auto rank = numbered(environment.number("SLURM_PROCID"), size);
  if (!rank) return std::nullopt;
  rank->local = environment.number("SLURM_LOCALID");
  rank->launcher = "Slurm";
  rank->launch = slurm_step(environment);
  return rank;
}

std::optional<Rank> rank_of_launchers(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    auto rank = numbered(environment.number(launcher.number), environment.number(launcher.size));
    if (!rank) continue;
    rank->local = environment.number(launcher.local);
    rank->launcher = launcher.name;
    rank->launch = environment.text(launcher.launch);
    if (rank->launch.empty()) rank->launch = slurm_step(environment);
    return rank;
  }
  return rank_of_slurm(environment);
}

std::string own_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "localhost";
  return name.data();
}

}  // namespace

std::optional<Rank> rank_of(const Variable& variable, const std::string& host) {
  const Environment environment(variable);
  auto rank = rank_of_launchers(environment);
  if (!rank) return std::nullopt;
  Whereabouts where = whereabouts_of(variable, host);
  rank->node = std::move(where.node);
  rank->job = std::move(where.job);
  return rank;
}

Whereabouts whereabouts_of(const Variable& variable, const std::string& host) {
  const Environment environment(variable);
  // Several nodes of Slurm may share a host.
  Whereabouts where{environment.text("SLURMD_NODENAME"), environment.text("SLURM_JOB_ID")};
  if (where.node.empty()) where.node = host;
  if (where.job.empty()) where.job = environment.text("PBS_JOBID");
  return where;
}

Whereabouts own_whereabouts() {
  return whereabouts_of([](const char* name) { return std::getenv(name); }, own_host());
}

std::optional<Rank> own_rank() {
  return rank_of([](const char* name) { return std::getenv(name); }, own_host());
}

Rank only_rank() {
  Rank rank;
  rank.node = own_host();
  return rank;
}

}  // namespace loft::job
