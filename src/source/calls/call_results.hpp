// What was counted, gathered from the contexts of threads that have ended or are read now.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sample/calls.hpp"
#include "source/calls/arena.hpp"

namespace loft::source::calls {

class CallResults {
 public:
  CallResults(sample::CallRun& run, std::uint64_t most_kept, std::uint32_t counters = 0)
      : run_(run), most_kept_(most_kept), counters_(counters) {}

  // A thread that is followed from now on; its number.
  std::uint32_t add_thread(pid_t pid, pid_t tid);

  // `functions` says which of the run's functions the arena's are.
  void read_kept(Arena& arena, std::uint32_t context, std::uint32_t thread,
                 const std::vector<std::uint32_t>& functions);
  void close(Arena& arena, std::uint32_t context, std::uint32_t thread,
             const std::vector<std::uint32_t>& functions);
  void note(std::string text);
  // Counts are not to be trusted: some were not counted.
  void drop_counts(std::string why);
  [[nodiscard]] const std::optional<std::string>& why_no_counts() const { return why_no_counts_; }

  [[nodiscard]] const sample::CallRun& run() const { return run_; }

 private:
  void keep(const ReadCall& call, std::uint32_t thread,
            const std::vector<std::uint32_t>& functions);
  void add_nodes(const std::vector<ReadNode>& nodes, const std::vector<std::uint32_t>& functions);

  sample::CallRun& run_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      nodes_;  // by parent and function
  std::uint64_t most_kept_;
  std::uint32_t counters_;
  std::optional<std::string> why_no_counts_;
  std::vector<std::uint64_t> kept_;  // by thread
};

}  // namespace loft::source::calls
