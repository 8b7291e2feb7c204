#include "roof/regions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "roof/work_events.hpp"
#include "source/virtual/counting.hpp"
#include "source/watch.hpp"

namespace loft::roof {
namespace {

using sample::RegionCounts;
using sample::RunCounts;
using Path = std::vector<std::string>;

std::string text_of(const Path& path) { return fmt::format("{}", fmt::join(path, "/")); }

// The threads that were in any region, in the order in which they were made: their tids.
std::vector<pid_t> threads_in(const RunCounts& run) {
  std::vector<pid_t> tids;
  for (const RegionCounts& region : run.regions)
    if (region.thread) tids.push_back(run.threads[*region.thread].tid);
  std::ranges::sort(tids);
  const auto [first, last] = std::ranges::unique(tids);
  tids.erase(first, last);
  return tids;
}

class RegionJoin {
 public:
  RegionJoin(const RunCounts& native, const RunCounts& counted, std::vector<std::string>& notes)
      : native_(native), notes_(notes), columns_(names_of(counted)) {
    const auto before = threads_in(native), now = threads_in(counted);
    has_threads_ = before.size() == now.size();
    if (!has_threads_ && !counted.regions.empty())
      notes.push_back(fmt::format(
          "regions are not shown by thread: {} threads were in them natively and {} under the "
          "virtual PMU",
          before.size(), now.size()));
    std::map<pid_t, pid_t> native_of;
    for (std::size_t i = 0; has_threads_ && i < now.size(); ++i) native_of[now[i]] = before[i];
    for (const RegionCounts& region : counted.regions) {
      if (region.thread && !has_threads_) continue;
      const pid_t tid = region.thread ? native_of[counted.threads[*region.thread].tid] : 0;
      counted_[{region.path, tid}] = &region;
    }
  }

  std::vector<RegionWork> joined() {
    std::vector<RegionWork> regions;
    for (const RegionCounts& region : native_.regions) {
      if (region.thread && !has_threads_) continue;
      const pid_t tid = region.thread ? native_.threads[*region.thread].tid : 0;
      if (!region.elapsed || !region.time) {
        notes_.push_back(fmt::format("region '{}' was not ended: how long it took is not known",
                                     text_of(region.path)));
        continue;
      }
      RegionWork& work = regions.emplace_back();
      work.path = region.path;
      work.tid = static_cast<std::uint32_t>(tid);
      work.visits = region.visits;
      work.seconds = to_seconds(*region.elapsed);
      work.thread_seconds = to_seconds(*region.time);
      work.work = work_of(region, tid);
    }
    return regions;
  }

 private:
  static std::vector<std::string> names_of(const RunCounts& counted) {
    std::vector<std::string> names;
    for (const sample::CountedEvent& event : counted.events) names.push_back(event.name);
    return names;
  }

  std::optional<model::Work> work_of(const RegionCounts& region, pid_t tid) {
    const auto found = counted_.find({region.path, tid});
    if (found == counted_.end()) return std::nullopt;
    if (found->second->visits == region.visits) return columns_.work_in(found->second->counts);
    if (tid == 0)
      notes_.push_back(fmt::format(
          "region '{}' was begun {} times natively and {} times under the virtual PMU: its rate is "
          "not known",
          text_of(region.path), region.visits, found->second->visits));
    return std::nullopt;
  }

  const RunCounts& native_;
  std::vector<std::string>& notes_;
  WorkColumns columns_;
  bool has_threads_ = true;
  std::map<std::pair<Path, pid_t>, const RegionCounts*> counted_;  // by path and native thread
};

}  // namespace

std::vector<RegionWork> join_regions(const RunCounts& native, const RunCounts& counted,
                                     std::vector<std::string>& notes) {
  return RegionJoin(native, counted, notes).joined();
}

RegionWatch RegionWatch::start(const std::vector<std::string>& command) {
  return {source::RegionFile::create(),
          source::virtual_pmu::Preload::markers(command.empty() ? "" : command.front())};
}

Result<std::vector<RegionWork>> RegionWatch::finish(const Count& count,
                                                    std::vector<std::string>& notes) && {
  RunCounts native;
  {
    // The program's next run does not find the file any more.
    const RegionWatch ended = std::move(*this);
    if (!ended.file_) notes.push_back("regions are not known: " + ended.file_.error().why);
    if (!ended.file_ || !ended.file_->is_used()) return std::vector<RegionWork>();
    native = ended.file_->run();
    std::ranges::move(ended.file_->notes(), std::back_inserter(notes));
  }
  RunCounts counted;
  if (count) {
    LOFT_TRY(counted, count());
  }
  return join_regions(native, counted, notes);
}

Result<RunCounts> run_regions(const std::vector<std::string>& command, StandardStreams streams) {
  source::CountRequest request;
  LOFT_TRY(request.events, virtual_events(work_event_names()));
  request.command = command;
  request.streams = streams;
  request.split = source::Split::thread_regions;
  LOFT_TRY(const auto run, source::virtual_pmu::prepare(request));
  return source::watch(*run, request, {});
}

void add_region_subjects(const std::vector<RegionWork>& regions, double wall_seconds, bool has_work,
                         std::vector<model::Subject>& subjects) {
  for (const RegionWork& region : regions) {
    model::Subject subject;
    subject.scope = model::Scope::region;
    subject.name = text_of(region.path);
    subject.tid = region.tid;
    if (has_work) subject.work = region.work;
    subject.seconds = region.seconds;
    if (region.seconds > 0)
      subject.concurrency = std::max(1.0, region.thread_seconds / region.seconds);
    if (wall_seconds > 0) subject.share_of_time = region.seconds / wall_seconds;
    subjects.push_back(std::move(subject));
  }
}

}  // namespace loft::roof
