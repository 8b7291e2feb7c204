#include "sample/wakeups.hpp"

#include <algorithm>
#include <limits>

#include "base/compact_bytes.hpp"

namespace loft::sample {
namespace {

constexpr std::uint64_t kWakeupMagic = 0x314B4157;  // "WAK1"

enum WakerKind : std::uint32_t { kByTask, kByInterrupt, kPerhapsByInterrupt, kWakerKinds };

WakerKind kind_of(const Wakeups& one) {
  if (one.by_interrupt) return kByInterrupt;
  return one.is_sure ? kByTask : kPerhapsByInterrupt;
}

void write_task(CompactWriter& out, const WokenTask& task) {
  out.number(task.pid);
  out.number(task.tid);
  out.text(task.name);
}

WokenTask read_task(CompactReader& in) {
  constexpr std::size_t kIds = std::size_t{std::numeric_limits<std::uint32_t>::max()} + 1;
  WokenTask task;
  task.pid = in.index(kIds);
  task.tid = in.index(kIds);
  task.name = in.text();
  return task;
}

}  // namespace

void sort_wakeups(std::vector<Wakeups>& wakeups) {
  std::ranges::stable_sort(wakeups, std::greater(),
                           [](const Wakeups& one) { return std::pair(one.blocked_ns, one.times); });
}

std::vector<std::byte> wakeup_section(std::span<const Wakeups> wakeups) {
  CompactWriter out;
  out.number(kWakeupMagic);
  out.number(wakeups.size());
  for (const Wakeups& one : wakeups) {
    write_task(out, one.waker);
    out.number(kind_of(one));
    write_task(out, one.woken);
    out.number(one.times);
    out.number(one.blocked_ns);
  }
  return out.take();
}

Result<std::vector<Wakeups>> read_wakeup_section(std::span<const std::byte> bytes,
                                                 const std::string& path) {
  CompactReader in(bytes);
  if (in.number() != kWakeupMagic) in.fail();
  std::vector<Wakeups> all;
  for (std::size_t left = in.count(); left > 0 && !in.has_failed(); --left) {
    Wakeups& one = all.emplace_back();
    one.waker = read_task(in);
    const std::uint32_t kind = in.index(kWakerKinds);
    one.by_interrupt = kind == kByInterrupt;
    one.is_sure = kind != kPerhapsByInterrupt;
    one.woken = read_task(in);
    one.times = in.number();
    one.blocked_ns = in.number();
  }
  if (in.has_failed())
    return failure(ErrorKind::malformed, "read who woke whom in '" + path + "'",
                   "that section is damaged", "record the program again");
  return all;
}

}  // namespace loft::sample
