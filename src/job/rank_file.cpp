#include "job/rank_file.hpp"

#include <linux/perf_event.h>

#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/recording_schema.hpp"
#include "format/perf/header.hpp"
#include "format/perf/writer.hpp"
#include "source/file/loft_facts.hpp"

namespace loft::job {
namespace {

namespace fact = event::recording::fact;
using event::recording::kRankSection;

// An event that never happens: a recording without any is none.
format::perf::WrittenEvent no_event() {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
  std::vector<std::byte> bytes(sizeof attr);
  std::memcpy(bytes.data(), &attr, sizeof attr);
  return {std::move(bytes), {1}, "dummy"};
}

Result<std::string> file_bytes(std::string_view text) {
  std::string file;
  const auto write_at = [&](std::uint64_t offset,
                            std::span<const std::byte> bytes) -> Result<void> {
    if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
    std::memcpy(file.data() + offset, bytes.data(), bytes.size());
    return {};
  };
  format::perf::RecordingWriter writer(write_at, {no_event()});
  LOFT_CHECK(writer.start());
  LOFT_CHECK(writer.finish_round());  // readers take data of no size for a recording cut off
  const auto bytes = std::as_bytes(std::span(text));
  writer.add_feature(kRankSection, {bytes.begin(), bytes.end()});
  LOFT_CHECK(writer.finish());
  return file;
}

// The file of a node begins with this line; then come summaries, one after the other.
constexpr std::string_view kNodeHead = "loft.node/1\n";

std::vector<std::string_view> split_summaries(std::string_view text) {
  if (!text.starts_with(kNodeHead)) return {text};
  text.remove_prefix(kNodeHead.size());
  constexpr std::string_view kEnd = "\nend\n";
  std::vector<std::string_view> texts;
  while (!text.empty()) {
    const std::size_t end = text.find(kEnd);
    const std::size_t size = end == std::string_view::npos ? text.size() : end + kEnd.size();
    texts.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return texts;
}

}  // namespace

Result<void> write_rank_file(const std::string& path, const RankSummary& summary) {
  LOFT_TRY(const std::string file, file_bytes(summary_text(summary)));
  return replace_file(path, file);
}

Result<void> write_node_file(const std::string& path, std::span<const RankSummary> summaries) {
  std::string text(kNodeHead);
  for (const RankSummary& summary : summaries) text += summary_text(summary);
  LOFT_TRY(const std::string file, file_bytes(text));
  return replace_file(path, file);
}

Result<SummaryFile> SummaryFile::of(std::span<const std::byte> bytes) {
  SummaryFile file;
  LOFT_TRY(const auto header, format::perf::read_header(bytes));
  for (const auto& feature : header.features) {
    if (feature.bit != kRankSection) continue;
    const auto section = bytes.subspan(feature.where.offset, feature.where.size);
    file.has_section_ = true;
    file.texts_ = split_summaries({reinterpret_cast<const char*>(section.data()), section.size()});
  }
  return file;
}

Result<SummaryFile> SummaryFile::open(const std::string& path) {
  LOFT_TRY(Mapping mapping, Mapping::of_file(path));
  if (mapping.bytes().empty())
    return failure(ErrorKind::malformed, "read '" + path + "'", "it is empty",
                   "its rank ended before it wrote anything");
  LOFT_TRY(SummaryFile file, of(mapping.bytes()));
  file.mapping_ = std::move(mapping);
  return file;
}

Result<RankSummary> SummaryFile::summary(std::size_t which) const {
  return parse_summary(texts_[which]);
}

Facts facts_of(const Rank& rank, const std::optional<MpiTime>& mpi) {
  Facts facts{{fact::kRank, std::to_string(rank.number)},
              {fact::kRanks, std::to_string(rank.size)},
              {fact::kNode, printable(rank.node)}};
  if (rank.local) facts.emplace_back(fact::kLocalRank, std::to_string(*rank.local));
  if (!rank.job.empty()) facts.emplace_back(fact::kJob, printable(rank.job));
  if (!rank.launch.empty()) facts.emplace_back(fact::kLaunch, printable(rank.launch));
  if (!rank.launcher.empty()) facts.emplace_back(fact::kLauncher, printable(rank.launcher));
  if (mpi) {
    facts.emplace_back(fact::kMpiNs, std::to_string(mpi->ns));
    facts.emplace_back(fact::kMpiCalls, std::to_string(mpi->calls));
    facts.emplace_back(fact::kMpiSpanNs, std::to_string(mpi->span_ns));
  }
  return facts;
}

void read_facts(const perf_data::Metadata& metadata, Rank& rank) {
  const auto number = [&](std::string_view key, auto& value) {
    if (const auto read = parse_u64(source::loft_fact(metadata, key)); read && *read < (1u << 24))
      value = static_cast<std::uint32_t>(*read);
  };
  const auto text = [&](std::string_view key, std::string& value) {
    if (const auto read = source::loft_fact(metadata, key); !read.empty()) value = read;
  };
  number(fact::kRank, rank.number);
  number(fact::kRanks, rank.size);
  number(fact::kLocalRank, rank.local);
  text(fact::kNode, rank.node);
  text(fact::kJob, rank.job);
  text(fact::kLaunch, rank.launch);
  text(fact::kLauncher, rank.launcher);
  rank.size = std::max(rank.size, rank.number + 1);
}

}  // namespace loft::job
