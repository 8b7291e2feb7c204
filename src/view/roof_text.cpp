#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "model/what_if.hpp"
#include "view/roof.hpp"
#include "view/short_name.hpp"
#include "view/why_text.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;
using model::Scope;

constexpr std::size_t kNameWidth = 30;

// The widths of the table's columns; numbers always have room.
struct TableLayout {
  std::size_t name = kNameWidth, rate = 9, intensity = 9, gap = 3, limit = 26, share = 7, time = 8;

  // What a row takes besides its name, with an error of the time.
  static constexpr std::size_t kNarrowRest = 59;
  static TableLayout of(int columns) {
    constexpr std::size_t kLeastName = 16;
    const TableLayout wide;
    const auto room = static_cast<std::size_t>(std::max(0, columns));
    if (columns <= 0 || room >= 98) return wide;
    const std::size_t name = room > kNarrowRest + kLeastName ? room - kNarrowRest : kLeastName;
    return {std::min(name, kNameWidth), 8, 7, 2, 23, 6, 7};
  }
};

constexpr std::size_t kWhyWidth = 100;  // of a verdict and what speaks for it
constexpr double kWorthALine = 0.02;    // of the time

// Three significant digits; rates below a thousandth are not worth a row of zeros.
std::string number(std::optional<double> value) {
  if (!value) return "-";
  if (*value == 0) return "0";
  if (*value < 0.001) return "< 0.001";
  return fmt::format("{:.{}f}", *value, *value >= 100 ? 0 : *value >= 10 ? 1 : *value >= 1 ? 2 : 3);
}

std::string row(const std::string& name, const RoofPoint& point, model::RoofKind ops,
                const TableLayout& at) {
  const auto giga = [](std::optional<double> value) {
    return value ? std::optional(*value * 1e-9) : value;
  };
  const auto& why = point.subject.why;
  const bool is_explained = why && why->outcome != model::Outcome::not_seen;
  // The column has room for one cause; the line below the table names both.
  const std::string limit =
      is_explained && why->limit   ? std::string(model::words_of(*why->limit))
      : is_explained               ? words_of(*why)
      : point.limit                ? "below " + point.limit->name
      : !point.subject.work        ? "not counted"
      : point.subject.seconds <= 0 ? "took no time"
      : !point.ops_per_second      ? "rate not known"
      : point.subject.work->bytes <= 0 && *point.ops_per_second > 0 ? "no loads and stores"
      : ops == model::RoofKind::flops && *point.ops_per_second <= 0 ? "no floating point"
                                                                    : "-";
  // What rests on sampled or modelled time is marked like every estimate.
  const std::string mark = point.subject.origin == sample::Origin::counted ? "" : "~";
  const std::string work_mark =
      point.intensity && point.subject.work_origin != sample::Origin::counted ? "~" : "";
  const std::string share =
      point.limit ? fmt::format("{}{:.0f} %", mark, point.limit->share * 100) : std::string("-");
  const std::string time = point.subject.seconds > 0
                               ? fmt::format("{}{:.0f} %", mark, point.subject.share_of_time * 100)
                               : std::string("-");
  const auto rate = giga(point.ops_per_second);
  const std::string rate_text = number(rate);
  const bool is_plain = rate_text.starts_with('<') || rate.value_or(0) <= 0;
  std::string error;
  if (point.subject.time_error > 0)
    error = fmt::format(
        " ±{:.0f}", std::max(1.0, point.subject.share_of_time * point.subject.time_error * 100));
  const std::string limited =
      at.gap < TableLayout().gap ? short_name(printable(limit), at.limit) : printable(limit);
  return fmt::format(
      "{:<{}} {:>{}} {:>{}}{:{}}{:<{}} {:>{}}{:>{}}{}\n", short_name(printable(name), at.name),
      at.name, (is_plain ? "" : mark) + rate_text, at.rate, work_mark + number(point.intensity),
      at.intensity, "", at.gap, limited, at.limit, share, at.share, time, at.time, error);
}

bool is_of(const model::Subject& loop, const model::Subject& function) {
  return loop.loop && loop.name == function.name && loop.binary == function.binary;
}

// What one iteration does: "12 instructions, 8.31 cycles, 32 B, 2 FLOP, 256 bits wide".
std::string iteration(const model::Subject& subject) {
  const model::LoopFacts& loop = *subject.loop;
  std::string text;
  const auto add = [&](std::optional<double> amount, std::string_view mark, std::string_view unit) {
    if (amount)
      text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", mark, number(amount), unit);
  };
  const auto each = [&](std::optional<double> amount) {
    return amount && loop.iterations > 0 ? std::optional(*amount / loop.iterations) : std::nullopt;
  };
  if (subject.work) add(each(subject.work->instructions), "", "instructions");
  add(loop.cycles, "~", "cycles");
  if (subject.work) add(each(subject.work->bytes), "", "B");
  if (subject.work && subject.work->flops() > 0) add(each(subject.work->flops()), "", "FLOP");
  if (loop.vector_bits)
    text += *loop.vector_bits <= 64 ? ", scalar" : fmt::format(", {} bits wide", *loop.vector_bits);
  if (loop.masked_share.value_or(0) >= 0.01)
    text += fmt::format(", {:.0f} % under a mask", *loop.masked_share * 100);
  if (loop.is_remainder) text += ", remainder of a wider loop";
  return text;
}

// The loops of a function that take most of its time, or do most of its work where samples were too
// few to tell.
std::string loop_rows(const RoofReport& report, const model::Subject& function,
                      const TableLayout& at) {
  constexpr std::size_t kMost = 4;
  std::vector<const RoofPoint*> loops;
  for (const RoofPoint& point : report.chart.points)
    if (is_of(point.subject, function) && point.subject.work &&
        point.subject.share_of_time >= report.least_loop)
      loops.push_back(&point);
  std::ranges::stable_sort(loops, std::ranges::greater(), [](const RoofPoint* point) {
    return std::pair(point->subject.share_of_time, point->subject.work->instructions.value_or(0));
  });
  if (loops.size() > kMost) loops.resize(kMost);
  std::ranges::stable_sort(loops, {}, [](const RoofPoint* point) {
    return std::pair(point->subject.loop->start, point->subject.loop->depth);
  });
  std::string text;
  for (const RoofPoint* point : loops) {
    const model::LoopFacts& loop = *point->subject.loop;
    const int indent = 2 + 2 * loop.depth;
    text += row(fmt::format("{:>{}}loop {}", "", indent, name_of(loop)), *point,
                report.chart.roofline.work, at);
    text += fmt::format("{:>{}}{} × {}\n", "", indent + 2, with_si_prefix(loop.iterations, ""),
                        iteration(point->subject));
    if (loop.trips) {
      text.pop_back();
      text += fmt::format("; {} per entry\n", with_si_prefix(*loop.trips, ""));
    }
  }
  return text;
}

std::string head(const RoofReport& report) {
  const std::string command = shortened(printable(join(report.command, " ")), 60);
  return fmt::format("{}   {} on {} thread{}   counts: {}   time: {}\n", command,
                     format_seconds(report.wall_seconds), report.threads,
                     report.threads == 1 ? "" : "s", report.counts_from, report.time_from());
}

// Where the bytes of the run and of the functions that take most time went: one line per level.
std::string level_lines(const RoofReport& report) {
  const char* unit = ops_unit(report.chart.roofline.work);
  std::string text;
  const auto add = [&](std::string name, const RoofPoint& point) {
    for (const model::LevelPoint& at : point.levels) {
      const char* mark = at.origin == sample::Origin::counted ? "" : "~";
      const auto marked = [&](const std::string& value) {
        return value == "-" ? "-" : mark + value;
      };
      const auto rate = at.bytes_per_second ? with_si_prefix(*at.bytes_per_second, "B/s") : "-";
      const auto share = at.share ? fmt::format("{:.0f} %", *at.share * 100) : std::string("-");
      const auto bytes = at.bytes > 0 ? with_si_prefix(at.bytes, "B") : "0 B";
      text += fmt::format("{:<{}} {:>5} {:>10} {:>9} {:>12} {:>9}\n", name, kNameWidth, at.level,
                          marked(bytes), marked(number(at.intensity)), marked(rate), marked(share));
      name.clear();
    }
  };
  for (const RoofPoint& point : report.chart.points)
    if (point.subject.scope == Scope::run) add("whole run", point);
  for (const std::size_t index : report.chart.shown) {
    const RoofPoint& point = report.chart.points[index];
    if (point.subject.share_of_time >= kWorthALine)
      add("  " + short_name(printable(point.subject.name), kNameWidth - 2), point);
    for (const RoofPoint& loop : report.chart.points)
      if (is_of(loop.subject, point.subject) && loop.subject.share_of_time >= report.least_loop)
        add(short_name(printable("    loop " + name_of(*loop.subject.loop)), kNameWidth), loop);
  }
  if (text.empty()) return {};
  return fmt::format("{:<{}} {:>5} {:>10} {:>9} {:>12} {:>9}\n", "bytes at each level", kNameWidth,
                     "level", "bytes", fmt::format("{}/B", unit), "rate", "of roof") +
         text;
}

// One line for each shown function with a verdict: what holds it back, what it would gain, and what
// speaks for it.
std::string why_lines(const RoofReport& report) {
  std::string text;
  const auto add = [&](const std::string& name, const model::Why& why) {
    const std::string words = verdict_text(why);
    if (words.empty()) return;
    std::string line = fmt::format("{}: {}", short_name(printable(name), kNameWidth), words);
    // What speaks for it goes to a line of its own where both do not fit into one.
    if (!why.evidence.empty())
      line += (line.size() + why.evidence.size() + 2 > kWhyWidth ? ":\n  " : ": ") + why.evidence;
    text += line + "\n";
  };
  for (const RoofPoint& point : report.chart.points)
    if (point.subject.scope == Scope::run && point.subject.why)
      add("whole run", *point.subject.why);
  for (const std::size_t index : report.chart.shown) {
    const model::Subject& subject = report.chart.points[index].subject;
    if (!subject.why || subject.share_of_time < kWorthALine) continue;
    add(subject.name, *subject.why);
    // A loop that is held back by something else than its function.
    for (const RoofPoint& point : report.chart.points)
      if (is_of(point.subject, subject) && point.subject.why && point.subject.why->limit &&
          point.subject.share_of_time >= report.least_loop &&
          words_of(*point.subject.why) != words_of(*subject.why))
        add("  loop " + name_of(*point.subject.loop), *point.subject.why);
  }
  return text;
}

// How the causes changed while it ran.
std::string phase_lines(const RoofReport& report) {
  constexpr std::size_t kMostOfOne = 8;  // more is a change to and fro
  std::string text;
  for (std::size_t i = 0; i < report.phases.size();) {
    const std::string& function = report.phases[i].function;
    std::size_t end = i;
    while (end < report.phases.size() && report.phases[end].function == function &&
           report.phases[end].binary == report.phases[i].binary)
      ++end;
    const std::string name =
        function.empty() ? "whole run" : short_name(printable(function), kNameWidth);
    if (end - i > kMostOfOne) {
      std::set<std::string> causes;
      for (std::size_t at = i; at < end; ++at) causes.insert(words_of(report.phases[at].why));
      text += fmt::format("{:>18}   {}: changes {} times: {}\n", "", name, end - i - 1,
                          join(std::vector<std::string>(causes.begin(), causes.end()), "; "));
    } else
      for (std::size_t at = i; at < end; ++at) {
        const model::RoofPhase& phase = report.phases[at];
        text += fmt::format("{:>18}   {}: {}\n",
                            fmt::format("{:.2f} to {:.2f} s", phase.start, phase.end), name,
                            verdict_text(phase.why));
      }
    i = end;
  }
  return text.empty() ? text : "over time, by the model alone:\n" + text;
}

// What each cause costs: the whole program, and the functions that would gain most.
std::string what_if_lines(const RoofReport& report) {
  constexpr std::size_t kMostCauses = 8;
  constexpr std::size_t kMostFunctions = 3;
  constexpr double kWorthNaming = 1.05;
  if (!report.shows_what_if) return {};
  const model::WhatIf what_if = what_if_of(report.chart.points);
  if (what_if.whole.empty())
    return "what if: no cause is known whose removal would gain anything\n";
  std::string text =
      fmt::format("{:<{}} {:>9}   {}\n",
                  fmt::format("what if, of {:.0f} % of the time:", what_if.explained * 100),
                  kNameWidth, "whole run", "functions, ~ all modelled");
  for (std::size_t i = 0; i < std::min(kMostCauses, what_if.whole.size()); ++i) {
    const auto& [cause, gain] = what_if.whole[i];
    std::string functions;
    std::size_t named = 0;
    for (const model::WhatIf::Function& function : what_if.functions)
      for (const auto& [of, much] : function.gains)
        if (of == cause && much >= kWorthNaming && named < kMostFunctions) {
          functions += fmt::format("{}{} {:.2f} ×", named > 0 ? ", " : "",
                                   short_name(printable(function.name), kNameWidth), much);
          ++named;
        }
    text +=
        fmt::format("{:<{}} {:>7} ×   {}\n", fmt::format("  without: {}", model::words_of(cause)),
                    kNameWidth, fmt::format("~{:.2f}", gain), functions);
  }
  return text;
}

std::string energy_lines(const RoofReport& report) {
  double flops = 0;
  for (const RoofPoint& point : report.chart.points)
    if (point.subject.scope == Scope::run && point.subject.work)
      flops = point.subject.work->flops();
  std::string text;
  for (const sample::EnergyUsed& used : report.energy) {
    const bool is_counted = used.origin == sample::Origin::counted;
    const char* mark = is_counted ? "" : "~";
    text += fmt::format("energy: {}{}, {}{}", mark, with_si_prefix(used.joules, "J"), mark,
                        with_si_prefix(used.joules / report.wall_seconds, "W"));
    if (flops > 0 && !used.is_gpu)
      text += fmt::format(", {}{} a FLOP", mark, with_si_prefix(used.joules / flops, "J"));
    text += fmt::format("   ({}, {}{})\n", printable(used.meter),
                        used.is_gpu ? "whoever used it" : "whole machine",
                        is_counted ? "" : "; added up from readings of watts");
  }
  return text;
}

// The functions that used most, by the first meter that is not a GPU's.
std::string function_energy_line(const RoofReport& report) {
  constexpr std::size_t kMost = 4;
  const auto meter = std::ranges::find(report.energy, false, &sample::EnergyUsed::is_gpu);
  if (meter == report.energy.end()) return {};
  const auto index = static_cast<std::size_t>(meter - report.energy.begin());
  std::vector<std::string> parts;
  for (const model::FunctionEnergy& function : report.function_energy) {
    if (parts.size() == kMost || function.joules[index] < kWorthALine * meter->joules) break;
    parts.push_back(fmt::format("~{} {}", with_si_prefix(function.joules[index], "J"),
                                short_name(printable(function.name), kNameWidth)));
  }
  if (parts.empty()) return {};
  return fmt::format("of it by samples: {}   ({}; modelled, idle time and others' work included)\n",
                     join(parts, ", "), printable(meter->meter));
}

// Regions that the program marked, by all threads and then by each.
std::string region_lines(const RoofReport& report, model::RoofKind ops, const TableLayout& at) {
  std::string text;
  for (const RoofPoint& point : report.chart.points) {
    const model::Subject& subject = point.subject;
    if (subject.scope != Scope::region) continue;
    text += row(subject.tid == 0 ? "  region " + subject.name
                                 : fmt::format("  thread {}: {}", subject.tid, subject.name),
                point, ops, at);
  }
  return text;
}

std::string run_text(const RoofReport& report, const TableLayout& at) {
  std::string text = report.label.empty() ? "" : printable(report.label) + ": ";
  text += head(report);
  const model::RoofKind ops = report.chart.roofline.work;
  // Narrow, the word before stands for both.
  const char* of_roof = at.share < TableLayout().share ? "roof" : "of roof";
  text += fmt::format("{:<{}} {:>{}} {:>{}}{:{}}{:<{}} {:>{}}{:>{}}\n", "", at.name,
                      fmt::format("G{}/s", ops_unit(ops)), at.rate,
                      fmt::format("{}/B", ops_unit(ops)), at.intensity, "", at.gap, "limited by",
                      at.limit, of_roof, at.share, "time", at.time);
  for (const RoofPoint& point : report.chart.points)
    if (point.subject.scope == Scope::run) text += row("whole run", point, ops, at);
  for (const RoofPoint& point : report.chart.points)
    if (point.subject.scope == Scope::thread)
      text += row(report.task_word() == std::string_view("rank")
                      ? "  " + point.subject.name
                      : fmt::format("  thread {} {}", point.subject.tid, point.subject.name),
                  point, ops, at);
  for (const std::size_t index : report.chart.shown) {
    const RoofPoint& point = report.chart.points[index];
    text += row("  " + point.subject.name, point, ops, at);
    text += loop_rows(report, point.subject, at);
  }
  if (report.chart.others)
    text += row("  " + report.chart.others->subject.name, *report.chart.others, ops, at);
  text += region_lines(report, ops, at);
  text += level_lines(report);
  text += why_lines(report);
  text += phase_lines(report);
  text += what_if_lines(report);
  text += energy_lines(report) + function_energy_line(report);
  if (!report.advice.empty()) text += printable(report.advice) + "\n";
  for (const std::string& note : report.notes) text += "note: " + printable(note) + "\n";
  return text;
}

}  // namespace

std::string roof_text(std::span<const RoofReport> runs, int columns) {
  const TableLayout at = TableLayout::of(columns);
  std::string text;
  for (const RoofReport& run : runs) text += (text.empty() ? "" : "\n") + run_text(run, at);
  return text;
}

}  // namespace loft::view
