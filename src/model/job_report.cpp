#include "model/job_report.hpp"

#include <array>

namespace loft::model {

const char* to_string(RankState state) {
  constexpr std::array kNames{"complete", "failed", "killed", "unfinished"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace loft::model
