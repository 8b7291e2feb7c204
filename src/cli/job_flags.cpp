#include "cli/job_flags.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "job/folder.hpp"
#include "job/launcher.hpp"

namespace loft::cli {

void add_job_flag(Command& command, JobFlags& flags) {
  command.add_option("--job", flags.wish.folder,
                     "as a rank of a parallel job: write DIR/NODE/RANK.data, a summary; 'loft "
                     "report DIR' shows the job");
}

void add_full_flag(Command& command, JobFlags& flags) {
  command.add_option("--full", flags.wish.full,
                     "with --job: ranks that are recorded in full, like 0,17 or 0-3, or all");
}

std::string own_output(const std::string& path) {
  const auto rank = job::own_rank();
  return rank ? job::file_of_rank(path, *rank) : path;
}

std::string launcher_warning(const std::vector<std::string>& command,
                             const std::string& loft_command, bool sees_children) {
  const auto launched = job::launched_by(command);
  if (!launched || (launched->ranks_are_children && sees_children)) return {};
  const std::string why =
      launched->ranks_are_children
          ? "the virtual PMU tells no ranks apart, and sees none on other nodes"
          : launched->name +
                " starts its ranks elsewhere, where they are not seen: this measures " +
                launched->name + " alone";
  return fmt::format("{}; for each rank: {}", why, printable(launched->per_rank(loft_command)));
}

Result<int> run_as_rank(const JobFlags& flags, const std::vector<std::string>& command,
                        Terminal& terminal,
                        const std::function<Result<void>(job::RankSummary&)>& measure) {
  LOFT_TRY(job::RankRun run, job::RankRun::begin(flags.wish, command));
  if (const auto measured = measure(run.summary()); !measured) {
    run.discard();
    return Failure(measured.error());
  }
  LOFT_CHECK(run.finish());
  const job::Rank& rank = run.summary().rank;
  if (rank.number == 0)
    terminal.note(fmt::format("{}: rank 0 of {}; when all have ended: loft report {}\n",
                              printable(run.path()), rank.size, printable(flags.wish.folder)));
  return run.summary().exit_status;
}

}  // namespace loft::cli
