#include "source/perf_events/attr.hpp"

#include <cstring>
#include <ctime>

#include "source/perf_events/user_read.hpp"

namespace loft::source::perf_events {

perf_event_attr make_attr(const event::Event& event, const AttrOptions& options) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = event.encoding.type;
  attr.config = event.encoding.config;
  attr.config1 = event.encoding.config1;
  attr.config2 = event.encoding.config2;
  attr.exclude_user = !event.modifiers.user;
  attr.exclude_kernel = !event.modifiers.kernel;
  attr.exclude_hv = !event.modifiers.hypervisor;
  attr.precise_ip = event.modifiers.precise & 3;
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  if (options.group_read) attr.read_format |= PERF_FORMAT_GROUP;
  attr.disabled = options.disabled;
  attr.inherit = options.inherit;
  attr.inherit_stat = options.inherit_stat;
  attr.enable_on_exec = options.enable_on_exec;
  if (options.user_read) UserReader::request(attr);
  return attr;
}

void set_record_tail(perf_event_attr& attr) {
  attr.sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
}

}  // namespace loft::source::perf_events
