#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "model/machine_compare.hpp"
#include "view/machine.hpp"

namespace loft::view {
namespace {

std::string counted(int count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string clock_text(double hz) { return hz > 0 ? with_si_prefix(hz, "Hz") : "not known"; }

std::string header(const model::Machine& machine) {
  const model::Topology& topology = machine.topology;
  std::string text = fmt::format(
      "{}   {}{}\n{}, {} each, {}, {}\n", printable(machine.cpu), printable(machine.architecture),
      machine.hypervisor.empty() ? "" : ", virtual (" + printable(machine.hypervisor) + ")",
      counted(topology.cores, "core"), counted(topology.threads_per_core, "thread"),
      counted(topology.packages, "socket"), counted(topology.nodes, "NUMA node"));
  text += fmt::format("clock {} measured, {} nominal; time-stamp counter {}\n",
                      clock_text(machine.frequency_hz), clock_text(machine.nominal_hz),
                      clock_text(machine.tsc_hz));
  text += "instructions:";
  for (const std::string& name : machine.extensions) text += " " + printable(name);
  return text +
         fmt::format("\nmeasured {}, {} run\n", printable(machine.when), printable(machine.mode));
}

std::string levels(const model::Machine& machine) {
  std::string text =
      fmt::format("\n{:<8}{:>12}{:>14}{:>14}\n", "level", "claimed", "knee found", "tested with");
  for (const model::Level& level : machine.levels)
    text += fmt::format("{:<8}{:>12}{:>14}{:>14}\n", printable(level.name),
                        level.claimed == 0 ? "-" : with_binary_prefix(level.claimed),
                        !level.found      ? "none"
                        : level.knee == 0 ? "-"
                                          : with_binary_prefix(level.knee),
                        with_binary_prefix(level.test_bytes));
  return text;
}

// Significant digits enough to see what a tenth of a percent does.
std::string number(double value) {
  const int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string roof_row(const model::Roof& roof) {
  std::string name = fmt::format("{} {}", printable(roof.precision), printable(roof.op));
  if (roof.kind == model::RoofKind::bandwidth)
    name = fmt::format("{} {}", printable(roof.level), printable(roof.op));
  if (roof.kind == model::RoofKind::instructions) name = "instructions";
  std::string detail = printable(roof.isa);
  if (roof.streams > 1) detail += fmt::format(" x{}", roof.streams);
  if (roof.verdict == model::Verdict::unavailable)
    return fmt::format("{:<14}{:<12}{:>7}   unavailable: {}\n", name, detail, roof.threads,
                       printable(roof.why));
  const std::string when =
      roof.when.empty() ? std::string() : ", of " + printable(roof.when.substr(0, 10));
  return fmt::format("{:<14}{:<12}{:>7}{:>10}{:>10}{:>10}{:>9}  {}{}\n", name, detail, roof.threads,
                     number(roof.best / 1e9), number(roof.median / 1e9), number(roof.per_cycle),
                     fmt::format("{:.1f} %", roof.spread * 100), to_string(roof.verdict), when);
}

struct Heading {
  const char* name;
  const char* per_second;
  const char* per_cycle;
};

Heading heading_of(model::RoofKind kind) {
  switch (kind) {
    case model::RoofKind::flops:
      return {"peak", "GFLOP/s", "FLOP/cyc"};
    case model::RoofKind::bandwidth:
      return {"bandwidth", "GB/s", "B/cycle"};
    case model::RoofKind::instructions:
      return {"issue", "G/s", "a cycle"};
    case model::RoofKind::integer:
      break;
  }
  return {"integer peak", "GOP/s", "OP/cycle"};
}

std::string roofs(const model::Machine& machine, model::RoofKind kind, bool all) {
  const std::string widest = machine.isas.empty() ? std::string() : machine.isas.back();
  const Heading heading = heading_of(kind);
  std::string text =
      fmt::format("\n{:<14}{:<12}{:>7}{:>10}{:>10}{:>10}{:>9}\n", heading.name, "isa", "threads",
                  heading.per_second, "median", heading.per_cycle, "spread");
  bool any = false;
  for (const model::Roof& roof : machine.roofs) {
    const bool is_wide = roof.isa == widest || kind == model::RoofKind::instructions;
    if (roof.kind != kind || (!all && !is_wide)) continue;
    text += roof_row(roof);
    any = true;
  }
  return any ? text : std::string();
}

std::string constant_row(const model::Constant& constant) {
  if (constant.verdict == model::Verdict::unavailable)
    return fmt::format("{:<22}unavailable: {}\n", printable(constant.name),
                       printable(constant.why));
  const std::string origin =
      constant.origin == "measured" ? std::string() : "  from " + printable(constant.origin);
  if (constant.unit == "cycles")
    return fmt::format("{:<22}{:>10}{:>10}{:>10}{:>9}  {}{}\n", printable(constant.name),
                       fmt::format("{:.2f}", constant.cycles), fmt::format("{:.2f}", constant.ns),
                       fmt::format("{:.2f}", constant.median),
                       fmt::format("{:.1f} %", constant.spread * 100), to_string(constant.verdict),
                       origin);
  return fmt::format("{:<22}{} {}  {}{}\n", printable(constant.name),
                     with_si_prefix(constant.value, ""), printable(constant.unit),
                     to_string(constant.verdict), origin);
}

std::string latencies(const model::Machine& machine) {
  std::string text = fmt::format("\n{:<22}{:>10}{:>10}{:>10}{:>9}\n", "constant", "cycles", "ns",
                                 "median", "spread");
  for (const model::Constant& constant : machine.constants) text += constant_row(constant);
  return text;
}

std::string core_row(const model::Constant& parameter) {
  if (parameter.verdict == model::Verdict::unavailable)
    return fmt::format("{:<40}unavailable: {}\n", printable(parameter.name),
                       printable(parameter.why));
  return fmt::format("{:<40}{:>10}{:>10}{:>9}  {}\n", printable(parameter.name),
                     number(parameter.value), number(parameter.median),
                     fmt::format("{:.1f} %", parameter.spread * 100), to_string(parameter.verdict));
}

std::string core(const model::Machine& machine) {
  if (machine.core.empty()) return {};
  std::string text =
      fmt::format("\n{:<40}{:>10}{:>10}{:>9}\n", "core", "value", "median", "spread");
  for (const model::Constant& parameter : machine.core) text += core_row(parameter);
  return text;
}

}  // namespace

std::string machine_text(const model::Machine& machine, bool all) {
  std::string text = header(machine) + levels(machine);
  text += roofs(machine, model::RoofKind::flops, all);
  text += roofs(machine, model::RoofKind::integer, all);
  text += roofs(machine, model::RoofKind::instructions, all);
  text += roofs(machine, model::RoofKind::bandwidth, all);
  text += latencies(machine);
  if (all) text += core(machine);
  if (!machine.notes.empty()) text += "\n";
  for (const std::string& note : machine.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string comparison_text(const model::Machine& first, const model::Machine& second) {
  std::string text = fmt::format("A: {} ({})\nB: {} ({})\n\n{:<44}{:>12}{:>12}{:>9}\n",
                                 printable(first.cpu), printable(first.when), printable(second.cpu),
                                 printable(second.when), "", "A", "B", "B / A");
  const auto shown = [](std::optional<double> value, const std::string& unit) {
    if (!value) return std::string("-");
    if (unit == "cycles") return fmt::format("{:.2f}", *value);
    return with_si_prefix(*value, "");
  };
  for (const model::Comparison& row : model::compare(first, second)) {
    const auto ratio = row.ratio();
    text += fmt::format("{:<44}{:>12}{:>12}{:>9}{}\n",
                        fmt::format("{}, {}", printable(row.name), printable(row.unit)),
                        shown(row.first, row.unit), shown(row.second, row.unit),
                        ratio ? fmt::format("{:.3f}", *ratio) : "-", row.is_noisy ? "  noisy" : "");
  }
  return text;
}

}  // namespace loft::view
