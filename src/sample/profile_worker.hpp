// What one thread does with its samples; only for profile.cpp and profile_worker.cpp.
#pragma once

#include <array>
#include <unordered_map>

#include "sample/profile.hpp"
#include "sample/symbols/unwinder.hpp"

namespace loft::sample {

struct Profile::Context {
  const TaskHistory& history;
  Locations& locations;
  const std::vector<perf_data::EventDescription>& events;
  ProfileOptions options;
  std::vector<bool> comm_passes;    // by name; empty: all
  std::vector<bool> binary_passes;  // by binary; empty: all
  bool needs_chain = false;
  std::optional<symbols::Architecture> architecture;  // of user stacks that can be unwound
};

class ProfileWorker : public SampleSink {
 public:
  explicit ProfileWorker(const Profile::Context& context);

  void add(const Sample& sample) override;
  void finish(std::uint64_t unreadable) override { unreadable_ += unreadable; }

  // Adds what this worker has counted.
  void move_into(ProfileResult& result, std::unordered_map<std::uint32_t, Weight>& processes) const;

 private:
  // The innermost and, where asked for, all other frames of a sample.
  void collect_frames(const Sample& sample);
  void collect_chain(const Sample& sample);
  // User frames from the copied stack, where there is one that can be unwound.
  void collect_unwound(const Sample& sample);
  [[nodiscard]] const symbols::MappedFile* mapped_file(TaskHistory::Root space,
                                                       std::uint64_t address);
  [[nodiscard]] std::uint32_t locate(CpuMode mode, std::uint64_t ip, const Sample& sample);
  [[nodiscard]] const Location& location(std::uint32_t id);
  void push_location(std::uint32_t id);

  [[nodiscard]] bool passes(const Sample& sample);
  [[nodiscard]] std::uint32_t key_of(Dimension dimension, const Sample& sample);
  void add_row(const Sample& sample, const Weight& weight);
  void add_inclusive(Trie::NodeId parent, const Weight& weight);
  Trie::NodeId add_to_tree(const Sample& sample, const Weight& weight);

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
  std::vector<Location> locations_;  // copies by id, so that no lock is needed
  std::vector<bool> location_known_;
  std::array<SpanCache, kSpans> spaces_{};
  std::array<SpanCache, kSpans> comms_{};
  SpanCache kernel_;
  std::vector<std::uint32_t> functions_;  // of the sample at hand, innermost first
  std::uint32_t leaf_ = 0;                // its innermost location
  symbols::Unwinder unwinder_;
  std::vector<std::uint64_t> unwound_;
  std::unordered_map<const Mapping*, symbols::MappedFile> mapped_files_;
  Trie rows_;
  std::vector<Weight> inclusive_;
  std::vector<std::uint64_t> last_counted_;  // by row: number of the sample that counted it last
  std::uint64_t sample_number_ = 0;
  Trie tree_;
  std::vector<Weight> event_weights_;
  std::vector<TimelineEntry> timeline_;
  std::unordered_map<std::uint32_t, Weight> processes_;
  std::set<std::uint32_t> tids_;
  std::uint32_t last_tid_ = kUnknownKey;
  std::uint64_t first_time_ = ~std::uint64_t{0};
  std::uint64_t last_time_ = 0;
  std::uint64_t unreadable_ = 0;
  std::uint64_t filtered_out_ = 0;
};

}  // namespace loft::sample
