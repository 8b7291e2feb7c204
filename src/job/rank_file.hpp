// The file of a rank: a perf.data whose header carries the rank's summary. A full recording of a
// rank is an ordinary recording, whose facts say which rank it is of.
//
//   LOFT_CHECK(write_rank_file(path, summary));
//   LOFT_TRY(const auto found, read_rank_file(path));
//   if (!found) summarize_the_recording(path);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "job/summary.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::job {

[[nodiscard]] Result<void> write_rank_file(const std::string& path, const RankSummary& summary);

// Nothing: it is a recording without a summary.
[[nodiscard]] Result<std::optional<RankSummary>> read_rank_file(const std::string& path);
[[nodiscard]] Result<std::optional<RankSummary>> read_rank_bytes(std::span<const std::byte> bytes);

// Who the rank is, as facts of a recording, and back. What a recording that was cut off does not
// say stays as it is in `rank`.
using Facts = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] Facts facts_of(const Rank& rank, const std::optional<MpiTime>& mpi = {});
void read_facts(const perf_data::Metadata& metadata, Rank& rank);

}  // namespace loft::job
