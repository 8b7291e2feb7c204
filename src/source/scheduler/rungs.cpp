#include "source/scheduler/rung.hpp"

namespace loft::source::scheduler {

std::vector<RungKind> rungs() { return {{"bpf", open_bpf_rung}, {"perf", open_perf_rung}}; }

}  // namespace loft::source::scheduler
