// The sources that count a program while it runs, best first, and which of them counts what.
//
//   LOFT_TRY(const Assignment assignment, assign_sources(request, {}));
//   for (const SourcePart& part : assignment.parts) use(part.source);
//
// A new source is one row of the table in sources.cpp, one file with its prepare(), and one value
// of sample::Source.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "event/resolver.hpp"
#include "source/counting.hpp"

namespace loft::source {

struct SourceInfo {
  sample::Source id;
  // Which events are its own; those that nothing counts here are nobody's.
  bool (*counts)(const event::Event& event);
  // What it needs: an error for a request that it cannot serve, whatever the events.
  Result<void> (*check)(const CountRequest& request);
  Result<std::unique_ptr<CountingRun>> (*prepare)(const CountRequest& request);

  [[nodiscard]] std::string_view name() const { return to_string(id); }
};

[[nodiscard]] std::span<const SourceInfo> all_sources();
[[nodiscard]] const SourceInfo& source_of(sample::Source id);
[[nodiscard]] std::vector<std::string> source_names();

// The names that commands understand: the kernel's, libpfm4's, the user's, and the virtual PMU's.
[[nodiscard]] event::ResolverOptions known_names(
    event::PlainNames plain_names = event::PlainNames::never_virtual);

// What one source counts of a request, in a run of its own.
struct SourcePart {
  const SourceInfo* source = nullptr;
  std::vector<std::size_t> events;  // positions in the request
};

struct Assignment {
  std::vector<SourcePart> parts;     // the native run first
  std::vector<std::string> missing;  // for each event why nobody counts it; empty where one does
};

struct AssignOptions {
  std::optional<sample::Source> only;
  // Threads, CPUs and intervals of two runs are not the same ones: the first source takes all.
  bool in_one_run = false;
};

// Each event goes to the source that counts it. Fails when nothing can be counted.
[[nodiscard]] Result<Assignment> assign_sources(const CountRequest& request,
                                                const AssignOptions& options);

}  // namespace loft::source
