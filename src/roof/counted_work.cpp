#include "roof/counted_work.hpp"

#include <map>

#include "roof/work_events.hpp"

namespace loft::roof {
namespace {

// Each thread once, by its number, with all that it did.
std::map<std::uint32_t, sample::ThreadCounts> threads_of(const sample::RunCounts& counted) {
  std::map<std::uint32_t, sample::ThreadCounts> all;
  for (const sample::ThreadCounts& part : counted.threads) {
    const auto [entry, is_new] = all.try_emplace(static_cast<std::uint32_t>(part.tid), part);
    if (is_new) continue;
    entry->second.comm = part.comm;
    for (std::size_t i = 0; i < part.counts.size() && i < entry->second.counts.size(); ++i)
      entry->second.counts[i] += part.counts[i];
  }
  return all;
}

}  // namespace

CountedWork counted_work(const sample::RunCounts& counted) {
  std::vector<std::string> names;
  std::vector<sample::Count> totals;
  for (const sample::CountedEvent& event : counted.events) {
    names.push_back(event.name);
    totals.push_back(event.total);
  }
  const WorkColumns columns(names);
  CountedWork work;
  work.total = columns.work_in(totals);
  for (const auto& [tid, thread] : threads_of(counted))
    work.threads.push_back({tid, thread.comm, columns.work_in(thread.counts)});
  for (const sample::FunctionCounts& function : counted.functions)
    work.functions.push_back({{function.name, function.binary}, columns.work_in(function.counts)});
  return work;
}

}  // namespace loft::roof
