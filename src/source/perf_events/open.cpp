#include "source/perf_events/open.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/pmu.hpp"

namespace loft::source::perf_events {
namespace {

// The soft limit is a default, the hard one the administrator's word: use all of it.
bool raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

std::string describe_place(Place place) {
  return place.cpu >= 0 ? fmt::format(" on cpu {}", place.cpu) : "";
}

bool is_hardware(const event::Event& event) {
  return event.encoding.type == PERF_TYPE_HARDWARE || event.encoding.type == PERF_TYPE_HW_CACHE ||
         event.encoding.type == PERF_TYPE_RAW;
}

Error explain_permission(std::string what, int number, const event::Event& event, Place place,
                         const SystemRoot& root) {
  const std::optional<int> paranoid = paranoid_level(root);
  const std::string name = number == EACCES ? "EACCES" : "EPERM";
  std::string why = paranoid ? fmt::format("{}, perf_event_paranoid is {}", name, *paranoid) : name;
  const std::string grant =
      "grant the capability: sudo setcap cap_perfmon+ep \"$(command -v loft)\"";
  if (place.pid == -1)
    return {ErrorKind::permission, std::move(what),
            why + ": counting all tasks of a CPU needs CAP_PERFMON",
            grant + ", or count your own program instead of the whole machine"};
  if (event.encoding.type == PERF_TYPE_TRACEPOINT)
    return {ErrorKind::permission, std::move(what), why + ": tracepoints need CAP_PERFMON", grant};
  if (paranoid && *paranoid >= 3)
    return {ErrorKind::permission, std::move(what),
            why + ": this kernel lets nobody without CAP_PERFMON count",
            grant +
                ", or allow user-mode counting of own programs: sudo sysctl "
                "kernel.perf_event_paranoid=2"};
  if (place.pid > 0 && ::kill(place.pid, 0) != 0 && errno == EPERM)
    return {ErrorKind::permission, std::move(what), name + ": the process belongs to another user",
            "run loft as that user, or with CAP_PERFMON and CAP_SYS_PTRACE"};
  if (event.modifiers.kernel)
    return {ErrorKind::permission, std::move(what), why + ": counting in the kernel is not allowed",
            grant};
  return {ErrorKind::permission, std::move(what), why,
          grant + "; inside a container, its seccomp profile must allow perf_event_open"};
}

Error explain_missing(std::string what, int number, const event::Event& event,
                      const SystemRoot& root) {
  const std::string name = number == ENOENT ? "ENOENT" : number == ENODEV ? "ENODEV" : "EOPNOTSUPP";
  if (is_hardware(event) && !has_core_pmu(root))
    return {ErrorKind::unsupported, std::move(what),
            "this machine has no hardware counters (" + name +
                ", no core PMU: usual in virtual machines)",
            ""};
  if (event.modifiers.precise > 0)
    return {ErrorKind::unsupported, std::move(what),
            name + ", the PMU has no precise sampling for this event", "leave out the :p modifier"};
  return {ErrorKind::unsupported, std::move(what),
          fmt::format("{}, the PMU '{}' does not have this event", name, event.encoding.pmu),
          "'loft list' shows those that exist here"};
}

}  // namespace

int open_raw(perf_event_attr& attr, Place place, int group_fd) {
  const long fd =
      ::syscall(SYS_perf_event_open, &attr, place.pid, place.cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

Result<Fd> open_event(perf_event_attr& attr, const event::Event& event, Place place,
                      const Fd& group) {
  int fd = open_raw(attr, place, group.get());
  if (fd == -EMFILE && raise_descriptor_limit()) fd = open_raw(attr, place, group.get());
  if (fd < 0) return Failure(explain_open_failure(-fd, event, place, group.is_open()));
  return Fd(fd);
}

Error explain_open_failure(int number, const event::Event& event, Place place, bool in_group,
                           const SystemRoot& root) {
  std::string what = "count '" + event.name + "'" + describe_place(place);
  switch (number) {
    case EACCES:
    case EPERM:
      return explain_permission(std::move(what), number, event, place, root);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case ENXIO:
      return explain_missing(std::move(what), number, event, root);
    case EMFILE:
      return {ErrorKind::limit, std::move(what), "EMFILE, this process has no file descriptor left",
              "raise the limit (ulimit -n), or ask for fewer events, threads or CPUs"};
    case ENFILE:
      return {ErrorKind::limit, std::move(what), "ENFILE, the system has no file descriptor left",
              "raise fs.file-max with sysctl"};
    case ENOMEM:
      return {ErrorKind::limit, std::move(what), "ENOMEM, the kernel has no memory for the event",
              ""};
    case ESRCH:
      return {ErrorKind::not_found, std::move(what),
              fmt::format("ESRCH, there is no process {}", place.pid), "it may have just ended"};
    case EBUSY:
      return {ErrorKind::limit, std::move(what), "EBUSY, another user holds the PMU exclusively",
              "end the other profiler, or the NMI watchdog: sysctl kernel.nmi_watchdog=0"};
    case EINVAL:
      if (in_group)
        return {ErrorKind::limit, std::move(what),
                "EINVAL, the group has more events than the PMU has counters",
                "make the group smaller, or let the events take turns by not grouping them"};
      return {ErrorKind::invalid_input, std::move(what),
              "EINVAL, the kernel or the PMU refuses this encoding",
              "check its terms and modifiers with 'loft list " + event.name + "'"};
    case ENOSYS:
      return {ErrorKind::unsupported, std::move(what),
              "ENOSYS, this kernel was built without perf_event_open, or a sandbox hides it", ""};
    default:
      return {kind_of_errno(number), std::move(what), describe_errno(number), ""};
  }
}

std::optional<int> paranoid_level(const SystemRoot& root) {
  const auto line = read_line(root.at("/proc/sys/kernel/perf_event_paranoid"));
  if (!line) return std::nullopt;
  const bool negative = line->starts_with('-');
  const auto size = parse_u64(std::string_view(*line).substr(negative ? 1 : 0));
  if (!size || *size > 100) return std::nullopt;
  return negative ? -static_cast<int>(*size) : static_cast<int>(*size);
}

bool has_core_pmu(const SystemRoot& root) { return !event::PmuTable(root).core_names().empty(); }

}  // namespace loft::source::perf_events
