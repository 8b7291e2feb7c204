// The file of a rank, or of all ranks of a node: a perf.data whose header carries summaries. A full
// recording of a rank is an ordinary recording, whose facts say which rank it is of.
//
//   LOFT_CHECK(write_rank_file(path, summary));
//   LOFT_TRY(const auto file, SummaryFile::open(path));
//   if (file.is_recording()) summarize_the_recording(path);
//   for (std::size_t i = 0; i < file.size(); ++i) use(file.summary(i));
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mapping.hpp"
#include "base/result.hpp"
#include "job/summary.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::job {

[[nodiscard]] Result<void> write_rank_file(const std::string& path, const RankSummary& summary);

// Of a node, with what is known of its ranks so far.
[[nodiscard]] Result<void> write_node_file(const std::string& path,
                                           std::span<const RankSummary> summaries);

class SummaryFile {
 public:
  [[nodiscard]] static Result<SummaryFile> open(const std::string& path);
  [[nodiscard]] static Result<SummaryFile> of(
      std::span<const std::byte> bytes);  // which outlive it

  [[nodiscard]] bool is_recording() const { return !has_section_; }  // without a summary
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] Result<RankSummary> summary(std::size_t which) const;

 private:
  SummaryFile() = default;

  Mapping mapping_;
  bool has_section_ = false;
  std::vector<std::string_view> texts_;
};

// Who the rank is, as facts of a recording, and back. What a recording that was cut off does not
// say stays as it is in `rank`.
using Facts = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] Facts facts_of(const Rank& rank, const std::optional<MpiTime>& mpi = {});
void read_facts(const perf_data::Metadata& metadata, Rank& rank);

}  // namespace loft::job
