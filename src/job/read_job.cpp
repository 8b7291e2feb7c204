#include "job/read_job.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.hpp"
#include "job/folder.hpp"
#include "job/merge.hpp"
#include "job/rank_file.hpp"
#include "job/summarize.hpp"
#include "source/file/recording.hpp"

namespace loft::job {
namespace {

using model::JobReport;
using model::RankState;

// What has to be known of a file before a step is chosen.
struct Head {
  FileName file;
  std::uint32_t rank = 0;
  std::size_t which = 0;  // of the file's summaries
  std::string launch;
  std::string pass;
  std::uint64_t start_ns = 0;
  RankState state = RankState::unfinished;
  std::vector<Column> columns;
  std::shared_ptr<const RankSummary> made;  // of a full recording, whose samples are read once
};

// Ranks that were started together.
struct Step {
  std::string launch;
  std::string pass;
  std::uint64_t start_ns = ~std::uint64_t{0};  // of its first rank
  std::vector<const Head*> heads;
};

// A full recording has no summary: it is made of its samples.
Result<RankSummary> summary_of_recording(const FileName& file) {
  RankSummary summary;
  summary.rank.number = file.rank.value_or(0);
  summary.rank.size = summary.rank.number + 1;
  summary.rank.node = file.node;
  LOFT_TRY(const auto recording, source::Recording::open(file.path));
  LOFT_CHECK(add_recording(*recording, summary));
  summary.command = join(recording->metadata().command_line, " ");
  return summary;
}

Result<RankSummary> summary_in(const FileName& name, const SummaryFile& file, std::size_t which) {
  LOFT_TRY(auto summary, file.summary(which));
  if (name.rank && summary.rank.number != *name.rank)
    return failure(ErrorKind::malformed, "read '" + name.path + "'",
                   "it is of rank " + std::to_string(summary.rank.number));
  return summary;
}

Result<RankSummary> read_again(const Head& head) {
  if (head.made) return *head.made;
  LOFT_TRY(const SummaryFile file, SummaryFile::open(head.file.path));
  if (head.which >= file.size())
    return failure(ErrorKind::malformed, "read '" + head.file.path + "'", "it has changed");
  return summary_in(head.file, file, head.which);
}

class Reader {
 public:
  Reader(const std::string& folder, const ReadOptions& options)
      : folder_(folder), options_(options) {}

  Result<JobReport> read() {
    LOFT_CHECK(read_heads());
    group();
    if (steps_.empty())
      return failure(ErrorKind::malformed, "report on the job in '" + folder_ + "'",
                     "none of its " + std::to_string(skipped_.size()) + " files can be read",
                     skipped_.empty() ? "" : "the first: " + skipped_.front().why);
    LOFT_TRY(const auto chosen, choose());
    return merge(chosen);
  }

 private:
  Result<void> read_heads() {
    LOFT_TRY(auto contents, rank_files(folder_));
    for (const std::string& path : contents.foreign)
      skipped_.push_back({path, "it is no file of a rank"});
    for (const FileName& file : contents.files) {
      if (const auto read = read_file_heads(file); !read)
        skipped_.push_back({file.path, read.error().why});
    }
    return {};
  }

  Result<void> read_file_heads(const FileName& name) {
    LOFT_TRY(const SummaryFile file, SummaryFile::open(name.path));
    if (file.is_recording()) {
      LOFT_TRY(auto summary, summary_of_recording(name));
      add_head(name, 0, summary);
      heads_.back().made = std::make_shared<const RankSummary>(std::move(summary));
      return {};
    }
    if (file.size() == 0)
      return failure(ErrorKind::malformed, "read '" + name.path + "'",
                     "the recorder of this node has met no rank of the job");
    std::optional<Error> first;  // of a node's file the ranks that can be read are kept
    for (std::size_t i = 0; i < file.size(); ++i) {
      const auto summary = summary_in(name, file, i);
      if (summary)
        add_head(name, i, *summary);
      else if (!first)
        first = summary.error();
    }
    return first ? Result<void>(Failure(*first)) : Result<void>();
  }

  void add_head(const FileName& file, std::size_t which, const RankSummary& summary) {
    heads_.push_back({file, summary.rank.number, which, summary.rank.launch, summary.pass,
                      summary.start_ns, state_of(summary), summary.columns, nullptr});
  }

  // By the launcher's own name for it, and by the how many-th run of its rank in there it is.
  void group() {
    std::map<std::string, std::size_t> known;
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> runs;
    std::ranges::stable_sort(heads_, {}, [](const Head& head) { return head.file.run; });
    for (const Head& head : heads_) {
      const std::size_t run =
          head.launch.empty() && head.file.rank
              ? head.file.run
              : ++runs[{head.launch.empty() ? head.file.node : head.launch, head.rank}];
      const std::string key = head.launch + "\n" + std::to_string(run);
      const auto [found, is_new] = known.try_emplace(key, steps_.size());
      if (is_new) steps_.push_back({head.launch, head.pass});
      Step& step = steps_[found->second];
      step.start_ns = std::min(step.start_ns, head.start_ns);
      step.heads.push_back(&head);
    }
    std::ranges::stable_sort(steps_, {}, &Step::start_ns);
  }

  // The last step, and the last one of the other pass where it is one of two.
  Result<std::vector<std::size_t>> choose() {
    if (options_.step && (*options_.step < 1 || *options_.step > steps_.size()))
      return failure(ErrorKind::not_found, "report on step " + std::to_string(*options_.step),
                     "'" + folder_ + "' has " + std::to_string(steps_.size()) + " of them");
    std::vector<std::size_t> chosen{options_.step.value_or(steps_.size()) - 1};
    const std::string& pass = steps_[chosen.front()].pass;
    if (pass.empty() || options_.step) return chosen;
    for (std::size_t i = steps_.size(); i-- > 0;)
      if (!steps_[i].pass.empty() && steps_[i].pass != pass) {
        chosen.push_back(i);
        break;
      }
    return chosen;
  }

  [[nodiscard]] MergeOptions options_for(const std::vector<std::size_t>& chosen) const {
    std::vector<Column> columns;
    bool has_complete = false;
    for (const std::size_t step : chosen)
      for (const Head* head : steps_[step].heads) {
        has_complete = has_complete || head->state == RankState::complete;
        for (const Column& column : head->columns)
          if (std::ranges::find(columns, column.name, &Column::name) == columns.end())
            columns.push_back(column);
      }
    return {load_among(columns), !has_complete};
  }

  Result<JobReport> merge(const std::vector<std::size_t>& chosen) {
    const MergeOptions options = options_for(chosen);
    Merge merge(options);
    for (const std::size_t step : chosen) {
      std::ranges::stable_sort(steps_[step].heads, {}, [](const Head* head) { return head->rank; });
      for (const Head* head : steps_[step].heads) {
        const auto summary = read_again(*head);
        if (!summary) continue;  // it has gone since
        merge.add(*summary);
        if (options_.on_rank) options_.on_rank(*summary, step + 1);
      }
    }
    JobReport report = std::move(merge).report();
    report.folder = folder_;
    report.step = chosen.front() + 1;
    report.steps = steps_.size();
    report.skipped = std::move(skipped_);
    if (options.counts_failed && report.counted > 0)
      report.notes.push_back("no rank ended with status 0: figures are of those that ended");
    return report;
  }

  const std::string& folder_;
  const ReadOptions& options_;
  std::vector<Head> heads_;
  std::vector<Step> steps_;
  std::vector<model::SkippedFile> skipped_;
};

}  // namespace

Result<JobReport> read_job(const std::string& folder, const ReadOptions& options) {
  return Reader(folder, options).read();
}

}  // namespace loft::job
