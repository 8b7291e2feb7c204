#include "source/file/wakeups.hpp"

#include "event/recording_schema.hpp"

namespace loft::source {

Result<std::vector<sample::Wakeups>> read_wakeups(const Recording& recording) {
  const std::string& path = recording.summary().path;
  for (const auto& [section, bytes] : recording.metadata().other_features) {
    if (section != event::recording::kWakeupsSection) continue;
    LOFT_TRY(auto wakeups, sample::read_wakeup_section(std::as_bytes(std::span(bytes)), path));
    const sample::TaskHistory& history = recording.history();
    const auto name = [&](sample::WokenTask& task) {
      const auto known = history.comm_at(task.tid, ~std::uint64_t{0});
      if (task.tid != 0 && known != sample::TaskHistory::kNoName)
        task.name = history.names()[known];
    };
    for (sample::Wakeups& one : wakeups) {
      name(one.waker);
      name(one.woken);
    }
    return wakeups;
  }
  return failure(ErrorKind::unsupported, "show who woke whom in '" + path + "'",
                 "the recording does not tell",
                 "record it as root with: loft record --off-cpu -o " + path + " -- CMD");
}

}  // namespace loft::source
