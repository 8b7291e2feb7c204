#include "view/wakeups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/csv.hpp"
#include "view/json_text.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using sample::Wakeups;
using sample::WokenTask;

constexpr std::size_t kWakerWidth = 26;

std::string woken_text(const WokenTask& task) {
  if (task.tid == 0) return "not known";
  return fmt::format("{} {}", task.name.empty() ? "?" : printable(task.name), task.tid);
}

bool may_be_interrupt(const Wakeups& one) {
  return !one.by_interrupt && !one.is_sure && one.waker.tid != 0;
}

std::string waker_text(const Wakeups& one) {
  if (one.by_interrupt) return "timer or device";
  return (may_be_interrupt(one) ? "~" : "") + woken_text(one.waker);
}

constexpr const char* kNotSure =
    "~: or a timer or device, while that thread ran: the kernel did not tell interrupts apart";

double blocked_seconds(const Wakeups& one) { return static_cast<double>(one.blocked_ns) * 1e-9; }

std::string task_json(const WokenTask& task) {
  if (task.tid == 0) return "null";
  return fmt::format("{{\"pid\":{},\"tid\":{},\"comm\":{}}}", task.pid, task.tid,
                     task.name.empty() ? "null" : json_text(task.name));
}

}  // namespace

std::string wakeups_text(std::span<const Wakeups> wakeups, std::size_t rows) {
  std::string text = fmt::format("{:<{}}  {:<{}} {:>9} {:>12}\n", "woken", kWakerWidth, "by",
                                 kWakerWidth, "times", "had blocked");
  std::size_t shown = 0;
  for (const Wakeups& one : wakeups) {
    if (rows != 0 && shown == rows) break;
    ++shown;
    text +=
        fmt::format("{:<{}}  {:<{}} {:>9} {:>12}\n", short_name(woken_text(one.woken), kWakerWidth),
                    kWakerWidth, short_name(waker_text(one), kWakerWidth), kWakerWidth,
                    with_separators(one.times), format_seconds(blocked_seconds(one)));
  }
  if (shown < wakeups.size()) text += fmt::format("  ... {} more\n", wakeups.size() - shown);
  if (std::ranges::any_of(wakeups, may_be_interrupt)) text += std::string(kNotSure) + "\n";
  if (wakeups.empty()) text += "nothing that had blocked was woken\n";
  return text;
}

std::string wakeups_json(std::span<const Wakeups> wakeups) {
  std::string out = "{\"schema\":\"loft.wakeups/1\",\"wakeups\":[";
  for (std::size_t i = 0; i < wakeups.size(); ++i) {
    const Wakeups& one = wakeups[i];
    out += fmt::format(
        "{}{{\"woken\":{},\"by\":{},\"by_interrupt\":{},\"times\":{},\"blocked_s\":{:.9f}}}",
        i > 0 ? ",\n" : "\n", task_json(one.woken), task_json(one.waker),
        may_be_interrupt(one) ? "null"
        : one.by_interrupt    ? "true"
                              : "false",
        one.times, blocked_seconds(one));
  }
  return out + "]}\n";
}

std::string wakeups_csv(std::span<const Wakeups> wakeups) {
  const auto number = [](std::uint32_t value) { return value == 0 ? "" : std::to_string(value); };
  std::string out = "woken_pid,woken_tid,woken,by_pid,by_tid,by,by_interrupt,times,blocked_s\n";
  for (const Wakeups& one : wakeups)
    out += fmt::format("{},{},{},{},{},{},{},{},{:.9f}\n", number(one.woken.pid),
                       number(one.woken.tid), csv_field(one.woken.name), number(one.waker.pid),
                       number(one.waker.tid), csv_field(one.waker.name),
                       may_be_interrupt(one) ? ""
                       : one.by_interrupt    ? "1"
                                             : "0",
                       one.times, blocked_seconds(one));
  return out;
}

PageTable wakeups_table(std::span<const Wakeups> wakeups) {
  PageColumn woken{"woken", CellForm::text}, by{"by", CellForm::text},
      times{"times", CellForm::count}, blocked{"had blocked", CellForm::seconds};
  if (std::ranges::any_of(wakeups, may_be_interrupt)) by.help = kNotSure;
  blocked.help = "from when the woken thread left its CPU until it had one again";
  for (const Wakeups& one : wakeups) {
    woken.texts.push_back(woken_text(one.woken));
    by.texts.push_back(waker_text(one));
    times.numbers.push_back(static_cast<double>(one.times));
    blocked.numbers.push_back(blocked_seconds(one));
  }
  return {"Who woke whom", {woken, by, times, blocked}};
}

}  // namespace loft::view
