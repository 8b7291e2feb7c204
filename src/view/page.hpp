// The report page: one HTML file that opens offline and shows everything loft knows about a run.
//
//   PageData page;
//   page.title = "solver";
//   page.runs = {"before"};
//   page.rooflines = {roofline_of(machine, {.threads = 2})};
//   for (const model::RoofPoint& point : chart.points) page.points.add(point);
//   LOFT_TRY(const auto html, page_html(page));
//
// Every part may be left out; the page then has no such part. A number that is not known is absent
// (an empty optional, NaN in a column) and is shown as such, never as 0. Texts may be anything: the
// page shows them as text. docs/page.md says what each part looks like.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "model/annotation.hpp"
#include "model/roof_points.hpp"
#include "sample/call_tree.hpp"
#include "sample/count.hpp"
#include "sample/named_profile.hpp"

namespace loft::view {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
[[nodiscard]] inline double or_unknown(std::optional<double> value) {
  return value.value_or(kNotKnown);
}

enum class WarningKind { lost, scaled, estimated, missing, note };

struct PageWarning {
  WarningKind kind = WarningKind::note;
  std::string text;
};

// A large number at the top: {"attained", "11.8 GFLOP/s", "54 % of L2 bandwidth"}.
struct PageFigure {
  std::string label;
  std::string value;  // ready to be read, with its unit
  std::string note;   // below it, small; may be empty
  sample::Origin origin = sample::Origin::counted;
};

struct PageFact {
  std::string name;
  std::string value;
};

// A titled list of facts: "Machine", "Run", one per run where there are several.
struct PageFacts {
  std::string title;
  std::vector<PageFact> facts;
};

// Texts, each kept once. Number 0 is the empty one.
class PageTexts {
 public:
  PageTexts() { (void)of({}); }
  std::uint32_t of(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

// Points by column: a million slices are added one by one and cost some 60 bytes each.
class PagePoints {
 public:
  static constexpr std::uint32_t kNoThread = 0xFFFFFFFF;

  void reserve(std::size_t points);
  // A point of the run with this index in PageData::runs.
  void add(const model::RoofPoint& point, std::uint32_t of_run = 0);
  [[nodiscard]] std::size_t size() const { return scope.size(); }

  PageTexts texts;  // what name, function, bound_by and why are numbers of
  std::vector<std::uint8_t> scope;
  std::vector<std::uint8_t> origin;
  std::vector<std::uint32_t> run, name, tid, function, bound_by, why;
  std::vector<float> intensity, flops_per_second, seconds, share, share_of_roof;
  std::vector<double> start_s, end_s;
  // The places of points at levels of memory beyond the core.
  struct Levels {
    std::vector<std::uint32_t> point;  // whose
    std::vector<std::uint32_t> name;   // a text: "L2"
    std::vector<float> intensity, share;
  } levels;
};

// A value over time, drawn in steps. Where nothing is known there is no interval, or NaN.
struct PageTimeLine {
  std::string name;  // "performance", "memory", "package power"
  std::string unit;  // "FLOP/s", "B/s", "W": without a prefix, the page finds one
  std::uint32_t run = 0;
  sample::Origin origin = sample::Origin::counted;
  std::vector<double> start_s, end_s, value;  // of the same length, in order of time
};

struct PageThread {
  std::uint32_t tid = 0;
  std::string name;
  std::string node = {};  // of a rank
};

// Which thread ran on which CPU when, by column.
struct PageSchedule {
  static constexpr std::uint32_t kNoCpu = 0xFFFFFFFF;  // ran, but nobody wrote down where

  std::vector<std::uint32_t> tid, cpu;
  std::vector<double> start_s, end_s;

  void add(std::uint32_t thread, std::uint32_t on_cpu, double start, double end) {
    tid.push_back(thread);
    cpu.push_back(on_cpu);
    start_s.push_back(start);
    end_s.push_back(end);
  }
};

// Single calls over time, by column: a lane for each depth of a thread.
struct PageCalls {
  PageTexts texts;  // what `name` is a number of
  std::vector<std::uint32_t> name, tid, depth;
  std::vector<double> start_s, end_s;
};

// How many calls of a function had which value, drawn as a picture: steps that have any, in order.
struct PageHistogram {
  std::string title;     // the function
  std::string quantity;  // "time", "instructions"
  std::string unit;      // "s", or "" for plain counts
  double p50 = 0;
  double p99 = 0;
  std::vector<double> low, high, count;
};

// A flame graph by column, parents before their children; node 0 is the whole.
struct PageFlame {
  std::string title;          // the event
  std::string unit;           // of the values: "samples", "s", "FLOP", "" for plain counts
  bool from_callees = false;  // below each function stand those that called it
  PageTexts texts;            // what `name` is a number of
  std::vector<std::uint32_t> parent, name;
  std::vector<double> self, total;
  std::vector<std::uint8_t> is_kernel;
  // Of a differential graph, which is as wide as one of two runs: by how much each frame's `total`
  // is more in the second run, and how large a difference can be by chance. Empty in all others.
  std::vector<double> more, noise;

  // Gives the number of the node.
  std::uint32_t add(std::uint32_t above, std::string_view frame, double own, double with_all_below,
                    bool kernel = false);
};

// One graph per event that has samples, as flame_graph() draws them.
std::vector<PageFlame> page_flames(const sample::NamedProfile& profile,
                                   const sample::CallTree& tree);

// How the cells of a column are written. A share is given as 0 to 1, seconds as seconds; a number
// gets an SI prefix before its unit, a count keeps every digit.
enum class CellForm { text, count, number, share, seconds };

struct PageColumn {
  std::string name;
  CellForm form = CellForm::number;
  std::string unit = {};                     // of numbers: "FLOP/s", "FLOP/B"
  std::string help = {};                     // shown on hover: what it means
  std::string event = {};                    // shown while this event is looked at; empty: always
  std::vector<std::string> texts = {};       // of text columns
  std::vector<double> numbers = {};          // of all others; NaN: not known
  std::vector<sample::Origin> origins = {};  // empty: all counted; others are marked in their cells
};

// A table that can be sorted and searched: functions, threads. All columns have the same length.
// The first number column sorts it, largest first, until a person chooses another.
struct PageTable {
  std::string title;
  std::vector<PageColumn> columns;
  std::string left_out = {};  // "37 others, 1.2 %": what the table does not show
};

// The code of a function by column, one row for each instruction.
struct PageCode {
  static constexpr std::uint32_t kNoRow = 0xFFFFFFFF;
  struct Place {
    std::string where;  // "triad.c:14 in dot"
    std::string text;   // of the line
  };

  std::string name;     // of the function
  std::string head;     // its binary, its share of the time
  std::string verdict;  // what holds it back; may be empty
  std::vector<Place> places;
  PageTexts texts;                    // of the instructions
  std::vector<std::uint32_t> text;    // of `texts`
  std::vector<std::uint32_t> place;   // of `places`
  std::vector<std::uint8_t> wait;     // core::Wait: what of it is waited for
  std::vector<std::uint32_t> from;    // the row that it waits for, or kNoRow
  std::vector<std::uint32_t> target;  // the row that it branches to, or kNoRow
  std::vector<double> offset, count;  // in the function; how often it ran
  std::vector<float> share;           // of the function's time, by samples
  std::vector<float> waited;          // of its modelled time; NaN: not modelled
};
[[nodiscard]] PageCode page_code(const model::AnnotatedFunction& function);

struct PageData {
  std::string title;                       // "solver"
  std::string command;                     // as it was started
  std::string source;                      // "counts: virtual PMU, exact; time: native run"
  std::vector<PageFigure> figures;         // a handful
  std::vector<std::string> verdict;        // sentences: where it stands, what to look at next
  std::vector<PageWarning> warnings;       // what a reader must know before trusting a number
  std::vector<std::string> runs;           // labels; empty is one run without a label
  std::vector<model::Roofline> rooflines;  // the first is shown first
  PagePoints points;
  std::vector<PageTimeLine> time_lines;
  bool has_ranks = false;           // tids are numbers of ranks, not of threads
  std::vector<PageThread> threads;  // names for the tids of points and schedule
  std::optional<PageSchedule> schedule;
  std::optional<PageCalls> calls;
  std::vector<PageHistogram> histograms;
  std::vector<PageFlame> flames;
  std::vector<PageTable> tables;
  std::vector<PageCode> codes;  // functions that take most time first
  std::vector<PageFacts> facts;
};

// The whole page. Fails only when its data are inconsistent (columns of different lengths, a run
// that does not exist) or cannot be packed.
[[nodiscard]] Result<std::string> page_html(const PageData& page);

}  // namespace loft::view
