// The flags of loft report, and what they choose in a recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/report_tasks.hpp"
#include "sample/report.hpp"
#include "source/file/profile_recording.hpp"

namespace loft::cli {

struct ReportFlags {
  std::vector<std::string> words;  // the recording, and a word behind --tree
  std::string input;               // the recording again, behind -i
  std::vector<std::string> by = {"function"};
  std::string sort;
  std::vector<std::string> comms, binaries, symbol_names, events;
  std::vector<std::uint32_t> pids, tids;
  std::string cpus;
  std::string time;
  std::size_t top = 0;
  std::size_t step = 0;  // of a job; 0: the last
  std::string machine;   // of a job: the file with the roofs of its ranks
  bool children = false;
  bool inlines = false;
  unsigned threads = 0;
  source::SymbolSearch symbols;
  std::string tree;  // "caller" or "callee" when asked for
  double least_share = 0.5;
  bool records = false;
  std::string calls;  // "all" or one of the tables of calls when asked for
  bool regions = false;
  TaskViewFlags tasks;
  std::string csv;  // a folder
  std::string format;
  std::string output;
};

void add_report_flags(Command& command, ReportFlags& flags);

// The recording: the one that is named, else perf.data, else loft.data. "--tree callee FILE" means
// "--tree=callee FILE", which the parser cannot know, for --tree stands alone as well.
[[nodiscard]] Result<std::string> take_file(ReportFlags& flags);

[[nodiscard]] Result<sample::ProfileOptions> profile_options(const ReportFlags& flags,
                                                             const source::Recording& recording);
// Views of tasks show all of them: a filter that they would ignore is refused.
[[nodiscard]] Result<void> check_tasks_are_whole(const ReportFlags& flags);
[[nodiscard]] std::optional<sample::SortBy> sort_of(const ReportFlags& flags);
[[nodiscard]] unsigned workers_of(const ReportFlags& flags);

}  // namespace loft::cli
