#include "top/accounts.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::top {
namespace {

constexpr const char* kSchedstat = "/proc/schedstat";
constexpr Nanoseconds kWindow = std::chrono::seconds(1);

struct CpuLine {
  int cpu = -1;
  std::vector<std::uint64_t> fields;
};

// "cpu3 1 2 3"; nothing for other lines, that of all CPUs included.
std::optional<CpuLine> parse_cpu_line(std::string_view line) {
  if (!line.starts_with("cpu")) return std::nullopt;
  const auto words = split(line, ' ');
  const auto cpu = parse_u64(words.front().substr(3));
  if (!cpu || *cpu > 65535) return std::nullopt;
  CpuLine parsed{static_cast<int>(*cpu), {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty()) continue;
    const auto number = parse_u64(words[i]);
    if (!number) return std::nullopt;
    parsed.fields.push_back(*number);
  }
  return parsed;
}

Nanoseconds length_of_tick() {
  const long per_second = ::sysconf(_SC_CLK_TCK);
  return Nanoseconds(1'000'000'000 / std::max(per_second, 1L));
}

std::optional<double> share(Nanoseconds before, Nanoseconds after, Nanoseconds elapsed) {
  if (elapsed.count() <= 0 || after < before) return std::nullopt;
  return to_seconds(after - before) / to_seconds(elapsed);
}

}  // namespace

AccountsByCpu parse_schedstat(std::string_view text) {
  // yld_count, 0, sched_count, goidle, ttwu_count, ttwu_local, then time run, time waited, turns.
  constexpr std::size_t kRun = 6;
  constexpr std::size_t kWaited = 7;
  AccountsByCpu accounts;
  for (const std::string_view line : split(text, '\n'))
    if (const auto parsed = parse_cpu_line(line); parsed && parsed->fields.size() > kWaited)
      accounts[parsed->cpu] = {nanoseconds(parsed->fields[kRun]),
                               nanoseconds(parsed->fields[kWaited])};
  return accounts;
}

AccountsByCpu parse_stat(std::string_view text, Nanoseconds tick) {
  // user nice system idle iowait irq softirq steal; guests are in user.
  constexpr std::size_t kBusy[] = {0, 1, 2, 5, 6};
  AccountsByCpu accounts;
  for (const std::string_view line : split(text, '\n')) {
    const auto parsed = parse_cpu_line(line);
    if (!parsed || parsed->fields.size() <= 6) continue;
    std::uint64_t ticks = 0;
    for (const std::size_t column : kBusy) ticks += parsed->fields[column];
    accounts[parsed->cpu] = {tick * static_cast<Nanoseconds::rep>(ticks), std::nullopt};
  }
  return accounts;
}

CpuAccounts::CpuAccounts(SystemRoot root) : root_(std::move(root)) {
  const auto text = read_file(root_.at(kSchedstat));
  has_schedstat_ = text && !parse_schedstat(*text).empty();
}

void CpuAccounts::read(Nanoseconds at) {
  const auto text = read_file(root_.at(has_schedstat_ ? kSchedstat : "/proc/stat"));
  if (!text) {
    readings_.clear();
    return;
  }
  readings_.push_back(
      {at, has_schedstat_ ? parse_schedstat(*text) : parse_stat(*text, length_of_tick())});
  const Nanoseconds window = has_schedstat_ ? Nanoseconds(0) : kWindow;
  while (readings_.size() > 2 && at - readings_[1].at >= window) readings_.pop_front();
}

std::optional<CpuAccounts::Change> CpuAccounts::change_of(int cpu) const {
  if (readings_.size() < 2) return std::nullopt;
  const Reading& first = readings_.front();
  const Reading& last = readings_.back();
  const auto before = first.cpus.find(cpu);
  const auto after = last.cpus.find(cpu);
  if (before == first.cpus.end() || after == last.cpus.end()) return std::nullopt;
  return Change{before->second, after->second, last.at - first.at};
}

std::optional<double> CpuAccounts::busy(int cpu) const {
  const auto change = change_of(cpu);
  if (!change) return std::nullopt;
  const auto busy = share(change->before.busy, change->after.busy, change->time);
  return busy ? std::optional(std::min(*busy, 1.0)) : std::nullopt;
}

std::optional<double> CpuAccounts::waiting(int cpu) const {
  const auto change = change_of(cpu);
  if (!change || !change->before.waited || !change->after.waited) return std::nullopt;
  return share(*change->before.waited, *change->after.waited, change->time);
}

}  // namespace loft::top
