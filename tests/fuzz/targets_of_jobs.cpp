// The target that reads what ranks of a job left behind.
#include "fuzz/targets.hpp"
#include "job/merge.hpp"
#include "job/rank_file.hpp"

namespace loft::fuzz {

// What was read is added up, and read again from its own text.
void fuzz_rank(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto check = [](const Result<job::RankSummary>& summary) {
    if (!summary) return;
    if (!job::parse_summary(job::summary_text(*summary, ~std::size_t{0} / 2))) __builtin_trap();
    job::Merge merge({.load = job::load_among(summary->columns), .counts_failed = true});
    merge.add(*summary);
    (void)std::move(merge).report();
  };
  check(job::parse_summary(text));
  const auto file = job::SummaryFile::of(bytes);
  for (std::size_t i = 0; file && i < file->size(); ++i) check(file->summary(i));
}

}  // namespace loft::fuzz
