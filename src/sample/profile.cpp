#include "sample/profile.hpp"

#include <algorithm>
#include <map>

#include "sample/call_request.hpp"
#include "sample/profile_worker.hpp"

namespace loft::sample {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool ProfileFilter::lets_all() const {
  return events.empty() && pids.empty() && tids.empty() && cpus.empty() && comms.empty() &&
         binaries.empty() && symbols.empty() && from == 0 && until == ~std::uint64_t{0};
}

bool ProfileFilter::passes_symbol(const std::string& function) const {
  return symbols.empty() || matches_any(symbols, function);
}

std::vector<bool> ProfileFilter::passing_comms(const TaskHistory& history) const {
  std::vector<bool> passing;
  if (comms.empty()) return passing;
  for (const auto& name : history.names()) passing.push_back(matches_any(comms, name));
  return passing;
}

std::vector<bool> ProfileFilter::passing_binaries(const TaskHistory& history) const {
  std::vector<bool> passing;
  if (binaries.empty()) return passing;
  for (const auto& binary : history.binaries())
    passing.push_back(matches_any(binaries, binary.path) ||
                      matches_any(binaries, last_part(binary.path)));
  return passing;
}

Profile::Profile(const TaskHistory& history, Locations& locations,
                 const std::vector<perf_data::EventDescription>& events, ProfileOptions options)
    : context_(new Context{history, locations, events, std::move(options), {}, {}, false, {}}) {
  const ProfileFilter& filter = context_->options.filter;
  context_->needs_chain = context_->options.tree || context_->options.inclusive;
  if (context_->options.arch == "x86_64") context_->architecture = symbols::Architecture::x86_64;
  if (context_->options.arch == "aarch64") context_->architecture = symbols::Architecture::arm64;
  context_->comm_passes = filter.passing_comms(history);
  context_->binary_passes = filter.passing_binaries(history);
}

Profile::~Profile() = default;

SampleSink* Profile::worker(unsigned number) {
  const std::lock_guard lock(mutex_);
  if (number >= workers_.size()) workers_.resize(number + 1);
  if (workers_[number] == nullptr) workers_[number] = std::make_unique<ProfileWorker>(*context_);
  return workers_[number].get();
}

ProfileResult Profile::finish() {
  ProfileResult result;
  result.timeline = Timeline(context_->options.most_timeline);
  result.events.resize(context_->events.size());
  result.filtered_out.resize(context_->events.size());
  std::map<ProfileWorker::ProcessEvent, Weight> processes;
  for (auto& worker : workers_) {
    if (worker != nullptr) worker->move_into(result, processes);
    worker.reset();
  }
  for (const auto& [key, weight] : processes)
    result.processes.push_back({key.first, key.second, weight});
  result.timeline.sort();
  return result;
}

}  // namespace loft::sample
