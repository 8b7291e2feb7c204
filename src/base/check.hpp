// What a probe of the machine found: it works, works in part, or does not, why, and what mends it.
#pragma once

#include <string>

namespace loft {

struct Check {
  enum class Status { ok, limited, missing };

  std::string id;     // stable, for scripts: "hardware-counters"
  std::string title;  // "hardware counters"
  Status status = Status::missing;
  std::string why;  // what was seen; never empty
  std::string fix;  // the narrowest change that helps; empty where there is none or none is needed
};

inline const char* to_string(Check::Status status) {
  return status == Check::Status::ok        ? "ok"
         : status == Check::Status::limited ? "limited"
                                            : "missing";
}

}  // namespace loft
