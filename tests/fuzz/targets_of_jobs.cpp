// The target that reads what ranks of a job left behind.
#include "fuzz/targets.hpp"
#include "job/merge.hpp"
#include "job/rank_file.hpp"

namespace loft::fuzz {

// What was read is added up, and read again from its own text.
void fuzz_rank(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto from_file = job::read_rank_bytes(bytes);
  const auto from_text = job::parse_summary(text);
  for (const job::RankSummary* summary :
       {from_file && *from_file ? &**from_file : nullptr, from_text ? &*from_text : nullptr}) {
    if (summary == nullptr) continue;
    if (!job::parse_summary(job::summary_text(*summary, ~std::size_t{0} / 2))) __builtin_trap();
    job::Merge merge({.load = job::load_among(summary->columns), .counts_failed = true});
    merge.add(*summary);
    (void)std::move(merge).report();
  }
}

}  // namespace loft::fuzz
