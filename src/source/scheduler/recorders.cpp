#include "source/scheduler/recorder.hpp"

namespace loft::source::scheduler {

std::vector<RecorderKind> recorders() {
  return {{"bpf", open_bpf_recorder, true, true, true, true},
          {"perf", open_counting_perf_recorder, true},
          {"threads", open_thread_recorder, true, false},
          {"perf", open_perf_recorder, true},
          {"proc", open_proc_recorder, false}};
}

}  // namespace loft::source::scheduler
