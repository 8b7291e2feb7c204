// What was counted, gathered from the contexts of threads that have ended or are read now.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sample/calls.hpp"
#include "source/calls/arena.hpp"

namespace loft::source::calls {

class CallResults {
 public:
  explicit CallResults(sample::CallRun& run, std::uint64_t most_kept)
      : run_(run), most_kept_(most_kept) {}

  // A thread that is followed from now on; its number.
  std::uint32_t add_thread(pid_t pid, pid_t tid);

  // `functions` says which of the run's functions the arena's are.
  void read_kept(Arena& arena, std::uint32_t context, std::uint32_t thread,
                 const std::vector<std::uint32_t>& functions);
  void close(Arena& arena, std::uint32_t context, std::uint32_t thread,
             const std::vector<std::uint32_t>& functions);
  void note(std::string text);

  [[nodiscard]] const sample::CallRun& run() const { return run_; }

 private:
  void keep(const loft_calls_kept& call, std::uint32_t thread,
            const std::vector<std::uint32_t>& functions);
  void add_nodes(const std::vector<ReadNode>& nodes, const std::vector<std::uint32_t>& functions);

  sample::CallRun& run_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      nodes_;  // by parent and function
  std::uint64_t most_kept_;
  std::vector<std::uint64_t> kept_;  // by thread
};

}  // namespace loft::source::calls
