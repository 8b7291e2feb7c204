#include "source/choice/sources.hpp"

#include <algorithm>
#include <array>

#include "source/perf_events/counting.hpp"
#include "source/virtual/counting.hpp"
#include "source/virtual/event_names.hpp"

namespace loft::source {
namespace {

bool is_of_kernel(const event::Event& event) { return !event.encoding.is_virtual(); }
bool is_of_engine(const event::Event& event) { return event.encoding.is_virtual(); }

// The order is that of the runs: a native one comes before one under the engine.
constexpr std::array kSources{
    SourceInfo{sample::Source::perf_events, is_of_kernel, perf_events::check, perf_events::prepare},
    SourceInfo{sample::Source::virtual_pmu, is_of_engine, virtual_pmu::check, virtual_pmu::prepare},
};

// A source, and why it cannot serve the request if it cannot.
struct Candidate {
  const SourceInfo* source;
  std::optional<Error> problem;
};

std::vector<Candidate> candidates_for(const CountRequest& request,
                                      std::optional<sample::Source> only) {
  std::vector<Candidate> candidates;
  for (const SourceInfo& source : kSources) {
    Candidate candidate{&source, {}};
    if (only && *only != source.id) {
      candidate.problem = Error{ErrorKind::unsupported, "count",
                                std::string("it is counted by the source ") +
                                    std::string(source.name()) + ", which was not asked for",
                                "leave out --source"};
    } else if (const auto served = source.check(request); !served) {
      candidate.problem = served.error();
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// Why there is nothing to count at all.
Failure nothing_to_count(const CountRequest& request, const Assignment& assignment,
                         const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates)
    if (candidate.problem && std::ranges::any_of(request.events, candidate.source->counts))
      return Failure(*candidate.problem);
  return failure(ErrorKind::unsupported, "count '" + request.events.front().name + "'",
                 assignment.missing.front(),
                 "'loft list virtual' shows what the virtual PMU counts on every x86-64 machine");
}

}  // namespace

std::span<const SourceInfo> all_sources() { return kSources; }

const SourceInfo& source_of(sample::Source id) {
  const auto found = std::ranges::find(kSources, id, &SourceInfo::id);
  return found == kSources.end() ? kSources.front() : *found;
}

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const SourceInfo& source : kSources) names.emplace_back(source.name());
  return names;
}

event::ResolverOptions known_names(event::PlainNames plain_names) {
  event::ResolverOptions options;
  options.virtual_names = virtual_pmu::event_names;
  options.plain_names = plain_names;
  return options;
}

Result<Assignment> assign_sources(const CountRequest& request, const AssignOptions& options) {
  const auto candidates = candidates_for(request, options.only);
  Assignment assignment;
  assignment.missing.resize(request.events.size());
  for (const Candidate& candidate : candidates) {
    SourcePart part{candidate.source, {}};
    for (std::size_t i = 0; i < request.events.size(); ++i) {
      const event::Event& event = request.events[i];
      if (!event.uncountable.empty()) {
        assignment.missing[i] = event.uncountable;
      } else if (candidate.source->counts(event)) {
        part.events.push_back(i);
        if (candidate.problem) assignment.missing[i] = candidate.problem->why;
      }
    }
    if (part.events.empty() || candidate.problem) continue;
    if (options.in_one_run && !assignment.parts.empty()) {
      for (const std::size_t event : part.events)
        assignment.missing[event] = "the source " + std::string(candidate.source->name()) +
                                    " counts in a run of its own, which has other threads, CPUs "
                                    "and intervals; ask for it alone";
      continue;
    }
    assignment.parts.push_back(std::move(part));
  }
  if (assignment.parts.empty()) return nothing_to_count(request, assignment, candidates);
  return assignment;
}

}  // namespace loft::source
