// Tells the engine, while the program runs, where the function starts that alone is to be counted.
//
//   RegionGuide guide(run.shared(), "solve");     // before the program starts
//
// The program waits at each new mapping of code until it is answered, so a function is known before
// its first instruction runs, whatever library it comes from and however late that is loaded.
#pragma once

#include <string>
#include <thread>

#include "engine/shared.hpp"

namespace loft::source::virtual_pmu {

class RegionGuide {
 public:
  RegionGuide(engine::Shared& shared, std::string function);
  // Lets go whatever still runs: nobody will count it.
  ~RegionGuide();
  RegionGuide(const RegionGuide&) = delete;
  RegionGuide& operator=(const RegionGuide&) = delete;

 private:
  void work(const std::stop_token& stop);

  engine::Shared& shared_;
  std::string function_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace loft::source::virtual_pmu
