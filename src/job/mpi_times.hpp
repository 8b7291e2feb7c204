// Times the MPI calls of the programs that loft starts from now on, by a library that stands before
// their MPI (probes/mpi).
//
//   const auto times = MpiTimes::start();      // nothing: the library is not there
//   run_the_program();
//   if (times) use(times->read());             // nothing: it called no MPI, or not through it
#pragma once

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "job/summary.hpp"

namespace loft::job {

class MpiTimes {
 public:
  [[nodiscard]] static std::optional<MpiTimes> start();
  MpiTimes(MpiTimes&& other) noexcept = default;
  MpiTimes& operator=(MpiTimes&& other) noexcept = default;
  ~MpiTimes();  // the environment is as it was before

  [[nodiscard]] std::optional<MpiTime> read() const;

 private:
  MpiTimes() = default;

  Fd file_;
  Mapping page_;
  std::optional<std::string> preloaded_before_;
};

}  // namespace loft::job
