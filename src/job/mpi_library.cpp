#include "job/mpi_library.hpp"

#include <algorithm>
#include <array>

namespace loft::job {
namespace {

constexpr std::array<std::string_view, 30> kPrefixes{
    "libmpi.",     "libmpi_",     "libmpich", "libmpicxx",  "libmpifort", "libmpi3",
    "libopen-pal", "libopen-rte", "libompi",  "libprrte",   "libpmix",    "libpmi",
    "mca_",        "libmca_",     "libuct",   "libucp",     "libucs",     "libucm",
    "libfabric",   "libpsm2",     "libpsm_",  "libibverbs", "librdmacm",  "libmlx5",
    "libloft_mpi", "libhwloc",    "libevent", "libefa",     "libpsm3",    "libsctk"};

constexpr std::array<std::string_view, 8> kWaits{"sched_yield", "__sched_yield",  "poll",
                                                 "__poll",      "epoll_wait",     "nanosleep",
                                                 "usleep",      "clock_nanosleep"};

}  // namespace

bool is_mpi_library(std::string_view binary) {
  const std::string_view name = binary.substr(binary.rfind('/') + 1);
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_wait_function(std::string_view name) {
  // "poll@@GLIBC_2.2.5", "__GI___sched_yield"
  name = name.substr(0, name.find('@'));
  if (name.starts_with("__GI_")) name.remove_prefix(5);
  return std::ranges::find(kWaits, name) != kWaits.end();
}

}  // namespace loft::job
