// Libraries of loft that programs under the engine load in front of the system's: PAPI, and
// LIKWID's markers. LD_PRELOAD is the only way that also works where a program says itself where
// its libraries are (DT_RPATH).
//
//   LOFT_TRY(const auto papi, Preload::papi());   // programs that are started while it lives
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace loft::source::virtual_pmu {

class Preload {
 public:
  [[nodiscard]] static Result<Preload> papi();
  // What a program asks for by its own list of libraries: PAPI, and LIKWID where regions are
  // counted. Libraries that loft was installed without are left out.
  [[nodiscard]] static Preload for_program(const std::string& program, bool counts_regions);

  // LIKWID's markers alone, where the program asks for LIKWID: natively, too, they are regions.
  [[nodiscard]] static Preload markers(const std::string& program);

  Preload(Preload&& other) noexcept;
  Preload& operator=(Preload&&) = delete;
  ~Preload();

 private:
  explicit Preload(const std::vector<std::string>& libraries);

  bool is_set_ = false;
  std::optional<std::string> before_;
};

}  // namespace loft::source::virtual_pmu
