#include "source/busy_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::source {
namespace {

// The columns of a line: user nice system idle iowait irq softirq steal ...; guests are in user.
constexpr std::size_t kBusyColumns[] = {0, 1, 2, 5, 6};

std::optional<std::uint64_t> busy_of_line(std::string_view line) {
  std::vector<std::uint64_t> ticks;
  for (const std::string_view field : split(line, ' ')) {
    if (field.empty() || field.starts_with("cpu")) continue;
    const auto number = parse_u64(field);
    if (!number) return std::nullopt;
    ticks.push_back(*number);
  }
  std::uint64_t busy = 0;
  for (const std::size_t column : kBusyColumns) {
    if (column >= ticks.size()) return std::nullopt;
    busy += ticks[column];
  }
  return busy;
}

}  // namespace

std::optional<std::uint64_t> busy_ticks(std::string_view stat, const CpuList& cpus) {
  std::uint64_t sum = 0;
  std::size_t found = 0;
  for (const std::string_view line : split(stat, '\n')) {
    if (!line.starts_with("cpu")) continue;
    const std::string_view label = line.substr(3, std::min(line.find(' '), line.size()) - 3);
    const auto cpu = parse_u64(label);
    const bool is_wanted =
        cpus.empty() ? label.empty()
                     : cpu && std::ranges::find(cpus, static_cast<int>(*cpu)) != cpus.end();
    if (!is_wanted) continue;
    const auto busy = busy_of_line(line);
    if (!busy) return std::nullopt;
    sum += *busy;
    ++found;
  }
  if (found != std::max<std::size_t>(cpus.size(), 1)) return std::nullopt;
  return sum;
}

std::optional<Nanoseconds> busy_time(const CpuList& cpus, const SystemRoot& root) {
  const auto stat = read_file(root.at("/proc/stat"));
  const long per_second = ::sysconf(_SC_CLK_TCK);
  if (!stat || per_second <= 0) return std::nullopt;
  const auto ticks = busy_ticks(*stat, cpus);
  if (!ticks) return std::nullopt;
  return Nanoseconds(static_cast<Nanoseconds::rep>(
      *ticks * (1'000'000'000ull / static_cast<std::uint64_t>(per_second))));
}

}  // namespace loft::source
