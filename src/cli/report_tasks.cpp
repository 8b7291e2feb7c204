#include "cli/report_tasks.hpp"

#include "source/file/tasks.hpp"
#include "source/file/wakeups.hpp"
#include "view/tasks.hpp"
#include "view/wakeups.hpp"

namespace loft::cli {
namespace {

struct ShownTasks {
  const sample::TaskTable& table;
  int columns;
};
using TaskOutput = Output<ShownTasks>;

// A form of a view: text made by a function of the table alone.
template <auto Make>
Result<void> of_table(const ShownTasks& shown, const PieceWriter& write) {
  (void)write(Make(shown.table));  // whoever owns the file knows of a write that failed
  return {};
}

Result<void> schedule_on_screen(const ShownTasks& shown, const PieceWriter& write) {
  (void)write(view::schedule_text(shown.table, shown.columns));
  return {};
}

const std::vector<TaskOutput>& outputs_of(const TaskViewFlags& flags) {
  static const std::vector<TaskOutput> kSchedule{
      {{"text", {".txt"}}, schedule_on_screen},
      {{"json", {".json"}}, of_table<view::schedule_json>},
      {{"csv", {".csv"}}, of_table<view::schedule_csv>},
      {{"svg", {".svg"}}, of_table<view::schedule_svg>}};
  static const std::vector<TaskOutput> kSlices{{{"text", {".txt"}}, of_table<view::slices_text>},
                                               {{"json", {".json"}}, of_table<view::slices_json>},
                                               {{"csv", {".csv"}}, of_table<view::slices_csv>}};
  static const std::vector<TaskOutput> kThreads{{{"text", {".txt"}}, of_table<view::threads_text>},
                                                {{"json", {".json"}}, of_table<view::threads_json>},
                                                {{"csv", {".csv"}}, of_table<view::threads_csv>}};
  return flags.schedule ? kSchedule : flags.interval ? kSlices : kThreads;
}

}  // namespace

void add_task_view_flags(Command& command, TaskViewFlags& flags) {
  auto tasks =
      command.add_flag("--tasks", flags.threads,
                       "the tree of tasks: run time, waiting, switches and counts of each");
  auto threads = command.add_flag("--threads", flags.threads, "")->hide();
  auto schedule = command.add_flag("--schedule", flags.schedule,
                                   "which task ran on which CPU when (text, or -o FILE.svg)");
  command.add_flag("--interval", flags.interval, "every slice of every task with its counts")
      ->excludes(tasks)
      ->excludes(threads)
      ->excludes(schedule);
  schedule->excludes(tasks)->excludes(threads);
  command.add_flag("--wakeups", flags.wakeups, "who woke whom, of loft record --off-cpu")
      ->excludes(tasks)
      ->excludes(threads)
      ->excludes(schedule);
}

namespace {

Result<int> show_wakeups(const source::Recording& recording, const OutputFlags& output,
                         Terminal& terminal) {
  using All = std::vector<sample::Wakeups>;
  constexpr std::size_t kRowsOnScreen = 50;
  const bool on_screen = terminal.out_is_terminal() && output.file.empty();
  const auto text = [&](const All& all, const PieceWriter& write) -> Result<void> {
    (void)write(view::wakeups_text(all, on_screen ? kRowsOnScreen : 0));
    return {};
  };
  const std::vector<Output<All>> outputs{{{"text", {".txt"}}, text},
                                         {{"json", {".json"}}, whole<view::wakeups_json>},
                                         {{"csv", {".csv"}}, whole<view::wakeups_csv>}};
  LOFT_TRY(const auto* form, choose_output(outputs, output));
  LOFT_TRY(const All all, source::read_wakeups(recording));
  LOFT_CHECK(write_output(*form, all, output, Stream::out, terminal));
  return 0;
}

}  // namespace

Result<int> show_tasks(const TaskViewFlags& flags, const source::Recording& recording,
                       const OutputFlags& output, Terminal& terminal) {
  if (flags.wakeups) return show_wakeups(recording, output, terminal);
  LOFT_TRY(const TaskOutput* form, choose_output(outputs_of(flags), output));
  const sample::TaskTable table = source::read_tasks(recording);
  const bool on_screen = terminal.out_is_terminal() && output.file.empty();
  const ShownTasks shown{table, on_screen ? terminal.columns() : 118};
  LOFT_CHECK(write_output(*form, shown, output, Stream::out, terminal));
  return 0;
}

}  // namespace loft::cli
