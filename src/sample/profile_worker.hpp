// What one thread does with its samples; only for profile.cpp and profile_worker.cpp.
#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "sample/caller_memo.hpp"
#include "sample/profile.hpp"
#include "symbols/unwinder.hpp"

namespace loft::sample {

struct Profile::Context {
  const TaskHistory& history;
  Locations& locations;
  const std::vector<perf_data::EventDescription>& events;
  ProfileOptions options;
  std::vector<bool> comm_passes;    // by name; empty: all
  std::vector<bool> binary_passes;  // by binary, where the filter asks
  bool needs_chain = false;
  std::optional<symbols::Architecture> architecture;  // of user stacks that can be unwound
};

class ProfileWorker : public SampleSink {
 public:
  explicit ProfileWorker(const Profile::Context& context);

  void add(const Sample& sample) override { add_all({&sample, 1}); }
  void add_all(std::span<const Sample> samples) override;
  void finish(std::uint64_t unreadable) override { unreadable_ += unreadable; }

  // Adds what this worker has counted.
  using ProcessEvent = std::pair<std::uint32_t, std::uint32_t>;  // pid, event
  void move_into(ProfileResult& result, std::map<ProcessEvent, Weight>& processes) const;

 private:
  struct FunctionCount {
    Weight self;
    Weight inclusive;
    std::uint64_t last_counted = 0;  // number of the sample
  };

  // A sample that counts. Its own frames are in functions_, innermost first; those of its callers
  // follow there, or are known.
  struct Collected {
    const Sample* sample;
    std::size_t first;
    std::size_t count;
    std::uint32_t leaf;                         // its innermost location
    std::uint32_t callers = CallerMemo::kNone;  // in callers_
    Trie::NodeId node = 0;                      // of the tree: first its callers', then its own
  };

  // Steps over some samples at once: each asks for the memory that the next will need.
  void prefetch(const Sample& sample);
  void collect(const Sample& sample, TaskHistory::Root space, const CallerMemo::Key& key);
  void find_node(Collected& collected);
  void count(const Collected& collected);
  void count_sample(const Sample& sample, const Weight& weight);
  // Counts the innermost functions of samples that all count, and nothing else: what most people
  // ask for.
  void add_flat(std::span<const Sample> samples);

  // The chain of a sample from its callers on.
  [[nodiscard]] CallerMemo::Key callers_in(const Sample& sample);
  void collect_chain(const CallerMemo::Key& key, Collected& collected);
  // Looks them up, frame by frame.
  void collect_callers(const Sample& sample, const CallerMemo::Key& key);
  // User frames from the copied stack, where there is one that can be unwound.
  void collect_unwound(const Sample& sample);
  [[nodiscard]] const symbols::MappedFile* mapped_file(TaskHistory::Root space,
                                                       std::uint64_t address);
  [[nodiscard]] std::uint32_t locate(CpuMode mode, std::uint64_t ip, const Sample& sample);
  [[nodiscard]] std::uint32_t locate_in(TaskHistory::Root space, CpuMode mode, std::uint64_t ip);
  [[nodiscard]] TaskHistory::Root space_of(const Sample& sample);
  [[nodiscard]] std::uint32_t innermost_function(std::uint32_t id);
  [[nodiscard]] const Location& location(std::uint32_t id);
  void push_location(std::uint32_t id);

  [[nodiscard]] bool passes(const Sample& sample);
  [[nodiscard]] bool passes_binary(std::uint32_t leaf);
  [[nodiscard]] bool passes_symbol(std::uint32_t function);
  [[nodiscard]] std::span<const std::uint32_t> own_frames(const Collected& collected) const {
    return std::span(functions_).subspan(collected.first, collected.count);
  }
  [[nodiscard]] std::span<const std::uint32_t> known_callers(const Collected& collected) const {
    if (collected.callers == CallerMemo::kNone) return {};
    return callers_.functions_of(collected.callers);
  }
  [[nodiscard]] std::uint32_t key_of(Dimension dimension, const Collected& collected);
  void add_row(const Collected& collected, const Weight& weight);
  void add_inclusive(Trie::NodeId parent, std::span<const std::uint32_t> functions,
                     const Weight& weight);
  void add_inclusive(std::vector<FunctionCount>& counts, std::span<const std::uint32_t> functions,
                     const Weight& weight);
  void add_function(const Collected& collected, const Weight& weight);
  [[nodiscard]] Trie::NodeId node_of_callers(const Collected& collected);
  void move_functions(ProfileResult& result) const;

  // What holds for a process or thread over a span of time, so that neighbours need no lookup.
  struct SpanCache {
    std::uint32_t id = 0;
    bool is_set = false;
    TaskHistory::Span span;
    [[nodiscard]] bool holds(std::uint32_t other, std::uint64_t time) const {
      return is_set && id == other && time >= span.from && time < span.until;
    }
  };
  static constexpr std::size_t kSpans = 64;
  [[nodiscard]] TaskHistory::Root user_space(const Sample& sample);
  [[nodiscard]] TaskHistory::Root kernel_space(std::uint64_t time);
  [[nodiscard]] std::uint32_t comm_of(const Sample& sample);

  const Profile::Context& context_;
  FrameResolver resolver_;
  // Copies by id, so that no lock is needed; their inlined functions are in inlined_.
  std::vector<Location> locations_;
  std::vector<std::uint32_t> inlined_;
  // The function of each location that is nothing but a function; small, for it is asked for each
  // frame.
  static constexpr std::uint32_t kNotPlain = 0xFFFFFFFF;
  std::vector<std::uint32_t> plain_functions_;
  std::array<SpanCache, kSpans> spaces_{};
  std::array<SpanCache, kSpans> comms_{};
  SpanCache kernel_;
  std::vector<std::uint32_t> functions_;  // of the samples at hand
  std::vector<Collected> collected_;
  CallerMemo callers_;
  std::vector<CallerMemo::Key> keys_;          // of the samples at hand
  std::vector<TaskHistory::Root> own_spaces_;  // in which their addresses are looked up
  std::vector<std::uint32_t> flat_;            // the same, then their functions
  symbols::Unwinder unwinder_;
  std::vector<symbols::UnwoundFrame> unwound_;
  std::unordered_map<const Mapping*, symbols::MappedFile> mapped_files_;
  enum class Passes : std::uint8_t { unknown, no, yes };
  std::vector<Passes> symbol_passes_;  // by function
  // Rows that are functions alone, which is what most people ask for, need no trie.
  bool is_by_function_ = false;
  bool is_flat_ = false;  // nothing else is asked, of all samples
  bool lets_all_ = false;
  std::vector<std::vector<FunctionCount>> by_function_;  // by event
  Trie rows_;
  std::vector<Weight> inclusive_;
  std::vector<std::uint64_t> last_counted_;  // by row: number of the sample that counted it last
  std::uint64_t sample_number_ = 0;
  Trie tree_;
  std::vector<Weight> event_weights_;
  Timeline timeline_;
  std::map<ProcessEvent, Weight> processes_;
  // Where the last processes and threads are counted.
  struct ProcessCache {
    ProcessEvent key;
    Weight* weight = nullptr;
  };
  std::array<ProcessCache, kSpans> recent_processes_{};
  std::array<std::uint32_t, kSpans> recent_tids_;
  std::set<std::uint32_t> tids_;
  std::uint64_t first_time_ = ~std::uint64_t{0};
  std::uint64_t last_time_ = 0;
  std::uint64_t unreadable_ = 0;
  std::vector<Weight> filtered_out_;  // by event
};

}  // namespace loft::sample
