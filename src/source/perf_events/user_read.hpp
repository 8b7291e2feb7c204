// Reads a counter of the calling thread without a system call, through the page that the kernel
// maps for it, where the hardware and the kernel allow that.
//
//   UserReader reader = UserReader::map(fd);      // never fails: it may just never have a value
//   if (const auto reading = reader.read()) ...   // else use read(2)
#pragma once

#include <linux/perf_event.h>

#include <optional>

#include "base/fd.hpp"
#include "base/mapping.hpp"
#include "source/perf_events/group.hpp"

namespace loft::source::perf_events {

class UserReader {
 public:
  [[nodiscard]] static UserReader map(const Fd& fd);

  // Nothing when the page does not allow it, or when the event is not on a counter just now.
  [[nodiscard]] std::optional<RawReading> read() const;

  // Asks for user-space access on PMUs that grant it event by event (Arm).
  static void request(perf_event_attr& attr);

 private:
  Mapping page_;
};

}  // namespace loft::source::perf_events
