// The name of an event whose recording does not say it, from its type and configuration.
#pragma once

#include <string>

#include "loft/perf_data/metadata.hpp"

namespace loft::format::perf {

// "cycles:u", "page-faults", "raw 0x1c2"; PMUs and tracepoints by number when nothing names them.
std::string name_of_event(const perf_data::EventAttr& attr, const perf_data::Metadata& metadata);

}  // namespace loft::format::perf
