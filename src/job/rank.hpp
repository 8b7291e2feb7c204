// Which rank of a parallel job this process is, by what its launcher put into the environment.
//
//   const std::optional<Rank> rank = own_rank();      // nothing: started by no launcher
//   if (rank) use(rank->number, rank->size, rank->node);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace loft::job {

inline constexpr std::uint32_t kMostRanks = 1u << 24;  // larger numbers are damaged

struct Rank {
  std::uint32_t number = 0;
  std::uint32_t size = 1;  // ranks of the job
  std::optional<std::uint32_t> local;
  std::string node;      // as the batch system calls it, else the host's name
  std::string job;       // the number that the batch system gave it; empty without one
  std::string launch;    // the same for all ranks that were started together; empty: not known
  std::string launcher;  // "Open MPI", "Slurm", ...; empty: none

  bool operator==(const Rank&) const = default;
};

// The value of an environment variable, or a null pointer.
using Variable = std::function<const char*(const char*)>;

// Nothing where no launcher's variables make up a whole: number and size, and the one below the
// other.
[[nodiscard]] std::optional<Rank> rank_of(const Variable& variable, const std::string& host);
[[nodiscard]] std::optional<Rank> own_rank();

// The node that this process is on, and the job that it belongs to, whether or not it is a rank.
struct Whereabouts {
  std::string node;
  std::string job;  // empty: of no batch system
};
[[nodiscard]] Whereabouts whereabouts_of(const Variable& variable, const std::string& host);
[[nodiscard]] Whereabouts own_whereabouts();

// A program that no launcher started: the only rank, on this host.
[[nodiscard]] Rank only_rank();

}  // namespace loft::job
