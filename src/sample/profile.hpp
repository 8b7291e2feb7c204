// Samples added up: rows of a table by any keys, and a call tree.
//
//   Profile profile(history, locations, events, options);
//   recording.for_each_sample(workers, [&](unsigned i) { return profile.worker(i); });
//   const ProfileResult result = profile.finish();
//
// Each worker counts for itself; finish() adds the workers up. Nothing depends on the order of the
// samples or on the number of workers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loft/perf_data/metadata.hpp"
#include "sample/locations.hpp"
#include "sample/sample.hpp"
#include "sample/timeline.hpp"

namespace loft::sample {

// By what samples are put together.
enum class Dimension { function, thread, process, binary, line, cpu, comm };

// Which samples count. An empty set lets all through.
struct ProfileFilter {
  std::set<std::uint32_t> events;
  std::set<std::uint32_t> pids;
  std::set<std::uint32_t> tids;
  std::set<std::uint32_t> cpus;
  std::vector<std::string> comms;     // shell patterns
  std::vector<std::string> binaries;  // shell patterns, for the path or its last part
  std::vector<std::string> symbols;   // shell patterns, for the function in which it was taken
  std::uint64_t from = 0;
  std::uint64_t until = ~std::uint64_t{0};  // included

  [[nodiscard]] bool lets_all() const;
  [[nodiscard]] bool passes_symbol(const std::string& function) const;
  // By name, and by binary, of a history; empty when all pass.
  [[nodiscard]] std::vector<bool> passing_comms(const TaskHistory& history) const;
  [[nodiscard]] std::vector<bool> passing_binaries(const TaskHistory& history) const;
};

struct ProfileOptions {
  std::vector<Dimension> by = {Dimension::function};
  ProfileFilter filter;
  bool rows = true;
  bool inclusive = false;  // rows also count what their functions called
  bool tree = false;
  bool tree_by_process = false;  // below the event stands the process; then its functions
  bool timeline = false;         // keep each sample's moment: for views over time
  std::size_t most_timeline = kMostTimeline;
  bool inlines = false;
  std::string arch;  // of the recording ("x86_64"): how its user stacks are unwound
};

// The value of a row's key where the recording does not carry it.
inline constexpr std::uint32_t kUnknownKey = 0xFFFFFFFF;

// What one process has of one event.
struct ProcessWeight {
  std::uint32_t pid = 0;
  std::uint32_t event = 0;
  Weight weight;
};

struct ProfileResult {
  // First level: the event. Below, one level per dimension, keys as the dimension has them:
  // function ids, tids, pids, binaries, locations, cpus, names.
  Trie rows;
  std::vector<Weight> inclusive;  // by node of `rows`; empty unless asked for
  // First level: the event. Below, function ids from the outermost caller to the innermost callee.
  Trie tree;
  std::vector<Weight> events;            // by event
  Timeline timeline;                     // by thread, then time
  std::set<std::uint32_t> tids;          // that had samples
  std::vector<ProcessWeight> processes;  // by pid, then by event
  std::optional<std::uint64_t> first_time;
  std::optional<std::uint64_t> last_time;
  std::uint64_t unreadable = 0;
  std::vector<Weight> filtered_out;  // by event
};

class ProfileWorker;

class Profile {
 public:
  Profile(const TaskHistory& history, Locations& locations,
          const std::vector<perf_data::EventDescription>& events, ProfileOptions options);
  ~Profile();

  // The sink of worker `number`; made when it is first asked for. Safe from several threads.
  SampleSink* worker(unsigned number);

  [[nodiscard]] ProfileResult finish();

 private:
  friend class ProfileWorker;
  struct Context;
  std::unique_ptr<Context> context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ProfileWorker>> workers_;
};

}  // namespace loft::sample
