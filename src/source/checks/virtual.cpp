#include <fmt/format.h>

#include <algorithm>

#include "source/checks/checks.hpp"
#include "source/virtual/counting.hpp"
#include "source/virtual/event_names.hpp"
#include "source/watch.hpp"

namespace loft::source::checks {
namespace {

using Status = Check::Status;

// Counts the instructions of a program that does nothing, under the engine.
Result<sample::Count> count_nothing() {
  const auto& names = virtual_pmu::event_names();
  const auto found = std::find_if(names.begin(), names.end(),
                                  [](const auto& name) { return name.name == "instructions"; });
  if (found == names.end())
    return failure(ErrorKind::unsupported, "count with the virtual PMU",
                   "loft was built without its engine, which exists for x86-64 alone");
  CountRequest request;
  request.events.resize(1);
  request.events[0].name = "instructions";
  request.events[0].encoding = event::virtual_encoding(found->index);
  request.groups = {{{0}, false}};
  request.command = {"true"};
  LOFT_TRY(const auto run, virtual_pmu::prepare(request));
  LOFT_TRY(const auto result, watch(*run, request, {}));
  return result.events.front().total;
}

}  // namespace

std::vector<Check> virtual_counters(const SystemRoot&) {
  const std::string title = "virtual PMU";
  const auto count = count_nothing();
  if (!count)
    return {{"virtual-pmu", title, Status::missing, count.error().why, count.error().hint}};
  if (!count->is_available() || count->raw == 0)
    return {{"virtual-pmu", title, Status::missing,
             "'true' ran under the engine but counted nothing", ""}};
  return {{"virtual-pmu", title, Status::ok,
           fmt::format("'true' executes {} instructions; {} events", count->raw,
                       virtual_pmu::event_names().size()),
           ""}};
}

}  // namespace loft::source::checks
