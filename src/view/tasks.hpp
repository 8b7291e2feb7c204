// The tasks of a recording for people and programs: tree, time line, slices.
#pragma once

#include <string>

#include "sample/task_table.hpp"

namespace loft::view {

// Who started whom, and what each did.
std::string threads_text(const sample::TaskTable& table);
std::string threads_csv(const sample::TaskTable& table);
std::string threads_json(const sample::TaskTable& table);  // schema "loft.threads/1"

// Which task ran on which CPU when.
std::string schedule_text(const sample::TaskTable& table, int columns);
std::string schedule_svg(const sample::TaskTable& table);
std::string schedule_csv(const sample::TaskTable& table);   // one line per run
std::string schedule_json(const sample::TaskTable& table);  // schema "loft.schedule/1"

// One line per slice, in order of time.
std::string slices_text(const sample::TaskTable& table);
std::string slices_csv(const sample::TaskTable& table);
std::string slices_json(const sample::TaskTable& table);  // schema "loft.slices/1"

}  // namespace loft::view
