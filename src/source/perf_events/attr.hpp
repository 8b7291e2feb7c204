// From an event to the structure that the kernel takes.
#pragma once

#include <linux/perf_event.h>

#include "event/event.hpp"

namespace loft::source::perf_events {

struct AttrOptions {
  bool group_read = true;       // one read() gives the whole group
  bool inherit = false;         // count threads and children started later
  bool inherit_stat = false;    // and write each one's counts to the ring when it ends
  bool enable_on_exec = false;  // start with the program's first instruction
  bool disabled = true;
  bool user_read = false;  // ask for reads without a system call, where that must be asked for
};

perf_event_attr make_attr(const event::Event& event, const AttrOptions& options);

// The fields behind every record of a recording, and the clock of its times.
void set_record_tail(perf_event_attr& attr);

}  // namespace loft::source::perf_events
