#include "view/roof_page_tables.hpp"

#include <fmt/format.h>

#include "model/what_if.hpp"

namespace loft::view {
namespace {

using model::RoofPoint;

constexpr const char* kNoVector = "";

std::string width_text(const model::LoopFacts& loop) {
  if (!loop.vector_bits) return kNoVector;
  std::string text = *loop.vector_bits <= 64 ? "scalar" : fmt::format("{} bits", *loop.vector_bits);
  if (loop.masked_share.value_or(0) >= 0.01)
    text += fmt::format(", {:.0f} % under a mask", *loop.masked_share * 100);
  return loop.is_remainder ? text + ", remainder" : text;
}

double each(std::optional<double> amount, double iterations) {
  return amount && iterations > 0 ? *amount / iterations : kNotKnown;
}

class LoopColumns {
 public:
  void add(const RoofPoint& point, const std::string& label) {
    const model::Subject& subject = point.subject;
    const model::LoopFacts& loop = *subject.loop;
    run_.texts.push_back(label);
    name_.texts.push_back(name_of(loop));
    function_.texts.push_back(subject.name);
    at_.texts.push_back(fmt::format("+{:x}", loop.start));
    const bool has_time = subject.seconds > 0;
    time_.numbers.push_back(has_time ? subject.share_of_time : kNotKnown);
    time_.origins.push_back(subject.origin);
    iterations_.numbers.push_back(loop.iterations);
    trips_.numbers.push_back(or_unknown(loop.trips));
    cycles_.numbers.push_back(or_unknown(loop.cycles));
    cycles_.origins.push_back(subject.origin);
    const auto& work = subject.work;
    instructions_.numbers.push_back(
        each(work ? work->instructions : std::nullopt, loop.iterations));
    bytes_.numbers.push_back(
        each(work ? std::optional(work->bytes) : std::nullopt, loop.iterations));
    flops_.numbers.push_back(
        each(work ? std::optional(work->flops()) : std::nullopt, loop.iterations));
    width_.texts.push_back(width_text(loop));
    why_.add(subject);
  }

  [[nodiscard]] PageTable table(bool with_runs) const {
    PageTable table{"Loops", {}, {}};
    if (with_runs) table.columns.push_back(run_);
    for (const PageColumn* column :
         {&name_, &function_, &at_, &time_, &iterations_, &trips_, &cycles_, &instructions_,
          &bytes_, &flops_, &width_, &why_.why, &why_.gain, &why_.evidence})
      table.columns.push_back(*column);
    return table;
  }
  [[nodiscard]] bool is_empty() const { return name_.texts.empty(); }

 private:
  PageColumn run_{.name = "run", .form = CellForm::text};
  PageColumn name_{.name = "loop", .form = CellForm::text, .help = "its source lines"};
  PageColumn function_{.name = "function", .form = CellForm::text};
  PageColumn at_{.name = "at", .form = CellForm::text, .help = "offset in the function"};
  PageColumn time_{.name = "time", .form = CellForm::share, .help = "share of the run's time"};
  PageColumn iterations_{.name = "iterations", .form = CellForm::count};
  PageColumn trips_{.name = "per entry", .form = CellForm::number};
  PageColumn cycles_{.name = "cycles", .form = CellForm::number, .help = "of one iteration"};
  PageColumn instructions_{
      .name = "instructions", .form = CellForm::number, .help = "of one iteration"};
  PageColumn bytes_{
      .name = "bytes", .form = CellForm::number, .help = "loads and stores of one iteration"};
  PageColumn flops_{.name = "FLOP", .form = CellForm::number, .help = "of one iteration"};
  PageColumn width_{.name = "vectors", .form = CellForm::text, .help = "width of what computes"};
  WhyColumns why_;
};

}  // namespace

void WhyColumns::add(const model::Subject& subject) {
  const bool is_explained = subject.why && subject.why->outcome != model::Outcome::not_seen;
  why.texts.push_back(is_explained ? words_of(*subject.why) : "");
  gain.numbers.push_back(is_explained ? or_unknown(subject.why->gain) : kNotKnown);
  gain.origins.push_back(sample::Origin::modelled);
  evidence.texts.push_back(is_explained ? subject.why->evidence : "");
}

std::optional<PageTable> loops_table(std::span<const RoofReport> runs) {
  LoopColumns columns;
  for (const RoofReport& report : runs)
    for (const RoofPoint& point : report.chart.points)
      if (point.subject.loop) columns.add(point, report.label);
  if (columns.is_empty()) return std::nullopt;
  return columns.table(runs.size() > 1);
}

std::optional<PageTable> phases_table(std::span<const RoofReport> runs) {
  PageColumn run{.name = "run", .form = CellForm::text};
  PageColumn start{.name = "from", .form = CellForm::seconds};
  PageColumn end{.name = "to", .form = CellForm::seconds};
  PageColumn who{.name = "function", .form = CellForm::text, .help = "empty: the whole program"};
  WhyColumns why;
  for (const RoofReport& report : runs)
    for (const model::RoofPhase& phase : report.phases) {
      run.texts.push_back(report.label);
      start.numbers.push_back(phase.start);
      end.numbers.push_back(phase.end);
      for (PageColumn* column : {&start, &end}) column->origins.push_back(sample::Origin::modelled);
      who.texts.push_back(phase.function);
      model::Subject subject;
      subject.why = phase.why;
      why.add(subject);
    }
  if (who.texts.empty()) return std::nullopt;
  PageTable table{"Over time", {}, {}};
  if (runs.size() > 1) table.columns.push_back(run);
  for (const PageColumn* column : {&start, &end, &who, &why.why, &why.gain, &why.evidence})
    table.columns.push_back(*column);
  return table;
}

std::optional<PageTable> what_if_table(std::span<const RoofReport> runs) {
  PageColumn run{.name = "run", .form = CellForm::text};
  PageColumn cause{.name = "without", .form = CellForm::text};
  PageColumn who{.name = "function", .form = CellForm::text, .help = "empty: the whole program"};
  PageColumn gain{.name = "faster",
                  .form = CellForm::number,
                  .unit = "×",
                  .help =
                      "of the whole program: the gains of its functions, weighted with their "
                      "time; what the model does not explain gains nothing"};
  const auto add = [&](const std::string& label, core::Cause of, const std::string& name,
                       double much) {
    run.texts.push_back(label);
    cause.texts.emplace_back(model::words_of(of));
    who.texts.push_back(name);
    gain.numbers.push_back(much);
    gain.origins.push_back(sample::Origin::modelled);
  };
  for (const RoofReport& report : runs) {
    const model::WhatIf what_if = what_if_of(report.chart.points);
    for (const auto& [of, much] : what_if.whole) add(report.label, of, "", much);
    for (const model::WhatIf::Function& function : what_if.functions)
      for (const auto& [of, much] : function.gains)
        if (much >= model::kLeastGain) add(report.label, of, function.name, much);
  }
  if (cause.texts.empty()) return std::nullopt;
  PageTable table{"What if", {}, {}};
  if (runs.size() > 1) table.columns.push_back(run);
  for (const PageColumn* column : {&cause, &who, &gain}) table.columns.push_back(*column);
  return table;
}

std::optional<PageTable> levels_table(std::span<const RoofReport> runs) {
  PageColumn run{.name = "run", .form = CellForm::text};
  PageColumn who{.name = "function", .form = CellForm::text, .help = "empty: the whole program"};
  PageColumn level{.name = "level", .form = CellForm::text, .help = "L1: the core's own accesses"};
  PageColumn bytes{.name = "bytes", .form = CellForm::number, .unit = "B", .help = "in and out"};
  PageColumn intensity{.name = "intensity",
                       .form = CellForm::number,
                       .unit = fmt::format("{}/B", ops_unit(runs.front().chart.roofline.work))};
  PageColumn rate{.name = "rate", .form = CellForm::number, .unit = "B/s"};
  PageColumn share{.name = "of roof", .form = CellForm::share, .help = "of the level's bandwidth"};
  for (const RoofReport& report : runs)
    for (const RoofPoint& point : report.chart.points) {
      const model::Scope scope = point.subject.scope;
      const auto& loop = point.subject.loop;
      if (scope != model::Scope::run && scope != model::Scope::function && !loop) continue;
      for (const model::LevelPoint& at : point.levels) {
        run.texts.push_back(report.label);
        who.texts.push_back(scope == model::Scope::run ? ""
                            : loop ? point.subject.name + ", loop " + name_of(*loop)
                                   : point.subject.name);
        level.texts.push_back(at.level);
        bytes.numbers.push_back(at.bytes);
        intensity.numbers.push_back(or_unknown(at.intensity));
        rate.numbers.push_back(or_unknown(at.bytes_per_second));
        share.numbers.push_back(or_unknown(at.share));
        for (PageColumn* column : {&bytes, &intensity, &rate, &share})
          column->origins.push_back(at.origin);
      }
    }
  if (level.texts.empty()) return std::nullopt;
  PageTable table{"Levels of memory", {}, {}};
  if (runs.size() > 1) table.columns.push_back(run);
  for (const PageColumn* column : {&who, &level, &bytes, &intensity, &rate, &share})
    table.columns.push_back(*column);
  return table;
}

}  // namespace loft::view
