#include "source/scheduler/rung.hpp"

namespace loft::source::scheduler {

std::vector<RungKind> rungs() {
  return {{"bpf", open_bpf_rung, true},
          {"perf", open_counting_perf_rung, true},
          {"threads", open_thread_rung, true, false},
          {"perf", open_perf_rung, true},
          {"proc", open_proc_rung, false}};
}

}  // namespace loft::source::scheduler
