#include "cli/report_tasks.hpp"

#include "source/file/tasks.hpp"
#include "view/tasks.hpp"

namespace loft::cli {
namespace {

Result<std::string> render(const TaskViewFlags& flags, const sample::TaskTable& table,
                           const OutputFlags& output, int columns) {
  const bool is_svg =
      output.format == "svg" || (output.format.empty() && output.file.ends_with(".svg"));
  if (is_svg && flags.schedule) return view::schedule_svg(table);
  if (is_svg)
    return failure(ErrorKind::invalid_input, "draw this view", "only --schedule is a picture",
                   "choose text, csv or json");
  LOFT_TRY(const Format format, choose_format(output));
  const auto pick = [format](auto text, auto csv, auto json) {
    return format == Format::json ? json() : format == Format::csv ? csv() : text();
  };
  if (flags.schedule)
    return pick([&] { return view::schedule_text(table, columns); },
                [&] { return view::schedule_csv(table); },
                [&] { return view::schedule_json(table); });
  if (flags.interval)
    return pick([&] { return view::slices_text(table); }, [&] { return view::slices_csv(table); },
                [&] { return view::slices_json(table); });
  return pick([&] { return view::threads_text(table); }, [&] { return view::threads_csv(table); },
              [&] { return view::threads_json(table); });
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
  const sample::TaskTable table = source::read_tasks(recording);
  const bool on_screen = terminal.out_is_terminal() && output.file.empty();
  LOFT_TRY(const auto text, render(flags, table, output, on_screen ? terminal.columns() : 118));
  LOFT_CHECK(write_result(output, text, Stream::out, terminal));
  return 0;
}

}  // namespace loft::cli
