// Tells the engine, while the program runs, where functions start: the one that alone is to be
// counted, or those whose calls are watched.
//
//   MappingGuide guide(run.shared(), [&](const auto& mapping) { return starts_in(mapping); });
//   RegionGuide region(run.shared(), "solve");     // either of them, before the program starts
//
// The program waits at each new mapping of code until it is answered, so a function is known before
// its first instruction runs, whatever library it comes from and however late that is loaded.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/shared.hpp"

namespace loft::source::virtual_pmu {

class MappingGuide {
 public:
  // The starts of functions in a mapping; called by a thread of its own.
  using Answer =
      std::function<std::vector<engine::Shared::FunctionStart>(const engine::MappingEntry&)>;
  MappingGuide(engine::Shared& shared, Answer answer);
  // Lets go whatever still runs: nobody will count it.
  ~MappingGuide();
  MappingGuide(const MappingGuide&) = delete;
  MappingGuide& operator=(const MappingGuide&) = delete;

 private:
  void work(const std::stop_token& stop);

  engine::Shared& shared_;
  Answer answer_;
  std::jthread thread_;  // last: it uses the others
};

class RegionGuide {
 public:
  RegionGuide(engine::Shared& shared, std::string function);

 private:
  MappingGuide guide_;
};

}  // namespace loft::source::virtual_pmu
