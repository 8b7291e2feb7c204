#include "cli/report_tasks.hpp"

#include "source/file/tasks.hpp"
#include "view/tasks.hpp"

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
}

Result<int> show_tasks(const TaskViewFlags& flags, const source::Recording& recording,
                       const OutputFlags& output, Terminal& terminal) {
  LOFT_TRY(const TaskOutput* form, choose_output(outputs_of(flags), output));
  const sample::TaskTable table = source::read_tasks(recording);
  const bool on_screen = terminal.out_is_terminal() && output.file.empty();
  const ShownTasks shown{table, on_screen ? terminal.columns() : 118};
  LOFT_CHECK(write_output(*form, shown, output, Stream::out, terminal));
  return 0;
}

}  // namespace loft::cli
