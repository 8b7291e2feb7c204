#include "view/calls_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "view/calls.hpp"

namespace loft::view {
namespace {

using sample::CallQuantity;
using sample::CallRun;
using sample::CallStatistics;
using sample::kNoCallNode;
using sample::kNoFunction;

constexpr std::size_t kMostRows = 2000;
constexpr std::size_t kMostHistograms = 20;
constexpr std::size_t kMostLines = 6;
constexpr std::size_t kMostCalls = 200'000;
constexpr std::size_t kSteps = 600;  // of a time line: about one per two pixels

// Times are shown in seconds.
double factor_of(const CallQuantity& quantity) {
  return quantity.is_time ? quantity.scale * 1e-9 : quantity.scale;
}

PageColumn column_of(const CallQuantity& quantity, std::string name, std::string help = {}) {
  return {.name = std::move(name),
          .form = quantity.is_time ? CellForm::seconds : CellForm::number,
          .help = std::move(help)};
}

class PageOfCalls {
 public:
  PageOfCalls(const CallRun& run, Nanoseconds zero) : run_(run), zero_(zero) {
    for (std::uint32_t i = 0; i < run.functions.size(); ++i) {
      const CallStatistics& of = run.statistics[i];
      if (of.calls + of.open + of.unmeasured != 0) called_.push_back(i);
    }
    std::ranges::stable_sort(called_, std::greater{}, [&](std::uint32_t function) {
      return run.statistics[function].of[0].self;
    });
  }

  PageData make() {
    head();
    time_lines();
    calls_over_time();
    for (std::size_t q = 0; q < run_.quantities.size(); ++q) flame(q);
    function_table();
    slowest_table();
    caller_table();
    histograms();
    unwatched_table();
    return std::move(page_);
  }

 private:
  [[nodiscard]] const std::string& name_of(std::uint32_t function) const {
    static const std::string kNone = "(not watched)";
    return function == kNoFunction ? kNone : run_.functions[function].name;
  }

  // Seconds since second 0 of the page.
  [[nodiscard]] double time_of(std::uint64_t tick) const {
    return to_seconds(run_.clock.time_of(tick) - zero_);
  }

  [[nodiscard]] double value(std::size_t quantity, double raw) const {
    return raw * factor_of(run_.quantities[quantity]);
  }

  void head() {
    page_.title = "calls";
    page_.source = route_text(run_);
    std::uint64_t calls = 0, open = 0, early = 0;
    for (const CallStatistics& of : run_.statistics) {
      calls += of.calls + of.unmeasured;
      open += of.open;
      early += of.ended_early;
    }
    page_.figures = {{"calls", with_separators(calls), "that have ended"},
                     {"functions", with_separators(called_.size()),
                      fmt::format("called, of {}", with_separators(run_.functions.size()))},
                     {"ended early", with_separators(early), "exceptions, longjmp"},
                     {"open", with_separators(open), "when the run ended"}};
    if (run_.lost != 0)
      page_.warnings.push_back(
          {WarningKind::lost,
           fmt::format("{} of {} single calls found no room; statistics have all",
                       with_separators(run_.lost), with_separators(run_.seen))});
    for (const std::string& note : run_.notes) page_.warnings.push_back({WarningKind::note, note});
  }

  // How many calls of the functions with most work began in each step of time.
  void time_lines() {
    if (!run_.has_all_calls || run_.calls.empty()) return;
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const auto& call : run_.calls) {
      first = std::min(first, call.begin);
      last = std::max(last, call.begin + call.ticks);
    }
    const double seconds =
        static_cast<double>(last - first) * run_.clock.nanoseconds_per_tick * 1e-9;
    if (seconds <= 0) return;
    const double step = seconds / kSteps;
    for (std::size_t i = 0; i < std::min(called_.size(), kMostLines); ++i) {
      std::vector<double> begun(kSteps);
      for (const auto& call : run_.calls) {
        if (call.function != called_[i]) continue;
        const double at =
            static_cast<double>(call.begin - first) / static_cast<double>(last - first);
        begun[std::min(kSteps - 1, static_cast<std::size_t>(at * kSteps))] += 1;
      }
      PageTimeLine line{.name = "calls of " + name_of(called_[i]), .unit = "/s"};
      for (std::size_t k = 0; k < kSteps; ++k) {
        line.start_s.push_back(time_of(first) + static_cast<double>(k) * step);
        line.end_s.push_back(time_of(first) + static_cast<double>(k + 1) * step);
        line.value.push_back(begun[k] / step);
      }
      page_.time_lines.push_back(std::move(line));
    }
  }

  void flame(std::size_t quantity) {
    if (run_.nodes.empty() || !is_known_of_tree(run_, quantity)) return;
    const CallQuantity& of = run_.quantities[quantity];
    PageFlame flame{.title = of.name, .unit = of.is_time ? "s" : ""};
    double whole = 0;
    for (std::size_t i = 0; i < run_.nodes.size(); ++i)
      if (run_.nodes[i].parent == kNoCallNode)
        whole += value(quantity, static_cast<double>(run_.values_of_node(i)[quantity].value));
    flame.add(0, "all calls", 0, whole);
    for (std::size_t i = 0; i < run_.nodes.size(); ++i) {
      const auto& node = run_.nodes[i];
      const auto& values = run_.values_of_node(i)[quantity];
      flame.add(node.parent == kNoCallNode ? 0 : node.parent + 1, name_of(node.function),
                value(quantity, static_cast<double>(values.self)),
                value(quantity, static_cast<double>(values.value)));
    }
    page_.flames.push_back(std::move(flame));
  }

  void function_table() {
    const CallQuantity& lead = run_.quantities[0];
    PageColumn name{.name = "function", .form = CellForm::text};
    PageColumn binary{.name = "binary", .form = CellForm::text};
    PageColumn calls{.name = "calls", .form = CellForm::count};
    PageColumn self = column_of(lead, "self", lead.name + " without watched functions");
    PageColumn total = column_of(lead, "total", lead.name + "; a recursion is in it once");
    PageColumn mean = column_of(lead, "mean");
    PageColumn p50 = column_of(lead, "p50");
    PageColumn p99 = column_of(lead, "p99");
    PageColumn max = column_of(lead, "max");
    PageColumn early{.name = "ended early", .form = CellForm::count};
    PageColumn open{.name = "open", .form = CellForm::count};
    std::vector<PageColumn> means;
    for (std::size_t q = 1; q < run_.quantities.size(); ++q)
      means.push_back(column_of(run_.quantities[q], run_.quantities[q].name + " per call"));
    for (const std::uint32_t i : called_) {
      const CallStatistics& of = run_.statistics[i];
      const auto mean_of = [&](std::size_t q) {
        return of.of[q].calls == 0 ? kNotKnown
                                   : value(q, static_cast<double>(of.of[q].sum) /
                                                  static_cast<double>(of.of[q].calls));
      };
      const auto known = [&](std::uint64_t raw) {
        return of.is_known(0) ? value(0, static_cast<double>(raw)) : kNotKnown;
      };
      const auto percentile = [&](double share) {
        return of.of[0].histogram.is_empty() ? kNotKnown : value(0, of.of[0].percentile(share));
      };
      name.texts.push_back(run_.functions[i].name);
      binary.texts.push_back(run_.functions[i].dso.substr(run_.functions[i].dso.rfind('/') + 1));
      calls.numbers.push_back(static_cast<double>(of.calls + of.unmeasured));
      self.numbers.push_back(known(of.of[0].self));
      total.numbers.push_back(known(of.of[0].total));
      mean.numbers.push_back(mean_of(0));
      p50.numbers.push_back(percentile(0.5));
      p99.numbers.push_back(percentile(0.99));
      max.numbers.push_back(of.of[0].calls == 0 ? kNotKnown
                                                : value(0, static_cast<double>(of.of[0].max)));
      for (std::size_t q = 1; q < run_.quantities.size(); ++q)
        means[q - 1].numbers.push_back(mean_of(q));
      early.numbers.push_back(static_cast<double>(of.ended_early));
      open.numbers.push_back(static_cast<double>(of.open));
    }
    PageTable table{"Functions", {name, self, total, calls, mean, p50, p99, max}};
    for (PageColumn& column : means) table.columns.push_back(std::move(column));
    table.columns.insert(table.columns.end(), {early, open, binary});
    page_.tables.push_back(std::move(table));
  }

  void slowest_table() {
    if (run_.calls.empty()) return;
    PageColumn name{.name = "function", .form = CellForm::text};
    PageColumn caller{.name = "called from", .form = CellForm::text};
    PageColumn at{.name = "at", .form = CellForm::seconds, .help = "since the run began"};
    PageColumn thread{.name = "thread", .form = CellForm::text};
    PageColumn depth{.name = "depth", .form = CellForm::count, .help = "watched calls around it"};
    std::vector<PageColumn> values;
    for (const CallQuantity& quantity : run_.quantities)
      values.push_back(column_of(quantity, quantity.name));
    for (const std::size_t i : slowest(run_, 0, kMostRows)) {
      const auto& call = run_.calls[i];
      name.texts.push_back(name_of(call.function));
      caller.texts.push_back(name_of(call.caller));
      at.numbers.push_back(time_of(call.begin));
      thread.texts.push_back(std::to_string(run_.threads[call.thread].thread));
      depth.numbers.push_back(call.depth);
      for (std::size_t q = 0; q < run_.quantities.size(); ++q)
        values[q].numbers.push_back(
            run_.values_of(i)[q] == sample::kUnknownValue
                ? kNotKnown
                : value(q, static_cast<double>(run_.values_of(i)[q].value)));
    }
    PageTable table{"Largest calls", {name}};
    for (PageColumn& column : values) table.columns.push_back(std::move(column));
    table.columns.insert(table.columns.end(), {at, thread, depth, caller});
    if (run_.calls.size() > kMostRows)
      table.left_out = fmt::format("{} others", with_separators(run_.calls.size() - kMostRows));
    page_.tables.push_back(std::move(table));
  }

  void caller_table() {
    const auto edges = callers(run_);
    if (edges.empty()) return;
    PageColumn caller{.name = "caller", .form = CellForm::text};
    PageColumn callee{.name = "function", .form = CellForm::text};
    PageColumn calls{.name = "calls", .form = CellForm::count};
    PageColumn lead = column_of(run_.quantities[0], run_.quantities[0].name);
    for (std::size_t i = 0; i < std::min(edges.size(), kMostRows); ++i) {
      caller.texts.push_back(name_of(edges[i].caller));
      callee.texts.push_back(name_of(edges[i].callee));
      calls.numbers.push_back(static_cast<double>(edges[i].calls));
      lead.numbers.push_back(value(0, static_cast<double>(edges[i].values[0].value)));
    }
    PageTable table{"Callers", {caller, callee, calls, lead}};
    if (edges.size() > kMostRows)
      table.left_out = fmt::format("{} others", with_separators(edges.size() - kMostRows));
    page_.tables.push_back(std::move(table));
  }

  void histograms() {
    const CallQuantity& lead = run_.quantities[0];
    for (const std::uint32_t function : called_) {
      if (page_.histograms.size() == kMostHistograms) return;
      const auto& of = run_.statistics[function].of[0];
      if (of.histogram.is_empty()) continue;
      PageHistogram picture{.title = name_of(function),
                            .quantity = lead.name,
                            .unit = lead.is_time ? "s" : "",
                            .p50 = value(0, of.percentile(0.5)),
                            .p99 = value(0, of.percentile(0.99))};
      const auto counts = of.histogram.counts();
      for (std::uint32_t step = 0; step < counts.size(); ++step) {
        if (counts[step] == 0) continue;
        picture.low.push_back(value(0, static_cast<double>(log_linear_low(step))));
        picture.high.push_back(value(0, static_cast<double>(log_linear_high(step)) + 1));
        picture.count.push_back(static_cast<double>(counts[step]));
      }
      page_.histograms.push_back(std::move(picture));
    }
  }

  // The longest, where there are more than a page should hold.
  void calls_over_time() {
    if (!run_.has_all_calls || run_.calls.empty()) return;
    PageCalls& shown = page_.calls.emplace();
    std::vector<bool> is_named(run_.threads.size());
    for (const std::size_t i : slowest(run_, time_quantity(), kMostCalls)) {
      const auto& call = run_.calls[i];
      shown.name.push_back(shown.texts.of(name_of(call.function)));
      shown.tid.push_back(static_cast<std::uint32_t>(run_.threads[call.thread].thread));
      shown.depth.push_back(call.depth);
      shown.start_s.push_back(time_of(call.begin));
      shown.end_s.push_back(time_of(call.begin + call.ticks));
      is_named[call.thread] = true;
    }
    for (std::size_t i = 0; i < is_named.size(); ++i)
      if (is_named[i])
        page_.threads.push_back(
            {static_cast<std::uint32_t>(run_.threads[i].thread), run_.threads[i].name});
    if (run_.calls.size() > kMostCalls)
      page_.warnings.push_back(
          {WarningKind::note,
           fmt::format("of {} single calls the {} longest are drawn over time",
                       with_separators(run_.calls.size()), with_separators(kMostCalls))});
  }

  [[nodiscard]] std::size_t time_quantity() const {
    for (std::size_t q = 0; q < run_.quantities.size(); ++q)
      if (run_.quantities[q].is_time) return q;
    return 0;
  }

  void unwatched_table() {
    PageColumn name{.name = "function", .form = CellForm::text};
    PageColumn why{.name = "why not", .form = CellForm::text};
    PageColumn hint{.name = "what helps", .form = CellForm::text};
    for (const auto& function : run_.functions) {
      if (function.is_watched()) continue;
      name.texts.push_back(function.name);
      why.texts.push_back(function.why_not);
      hint.texts.push_back(function.hint);
    }
    if (!name.texts.empty()) page_.tables.push_back({"Not watched", {name, why, hint}});
  }

  const CallRun& run_;
  Nanoseconds zero_;
  std::vector<std::uint32_t> called_;  // most of the first quantity first
  PageData page_;
};

template <typename Part>
void append(std::vector<Part>& all, std::vector<Part> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

PageData calls_page(const CallRun& run) { return PageOfCalls(run, run.clock.at_zero).make(); }

std::optional<Nanoseconds> first_call(const CallRun& run) {
  const auto first = std::ranges::min_element(run.calls, {}, &sample::KeptCall::begin);
  if (first == run.calls.end()) return std::nullopt;
  return run.clock.time_of(first->begin);
}

void add_calls(PageData& page, const CallRun& run, Nanoseconds zero) {
  PageData more = PageOfCalls(run, zero).make();
  page.calls = std::move(more.calls);
  append(page.time_lines, std::move(more.time_lines));
  append(page.histograms, std::move(more.histograms));
  append(page.warnings, std::move(more.warnings));
  page.figures.push_back(more.figures.front());
  for (PageFlame& flame : more.flames) flame.title += " of calls";
  append(page.flames, std::move(more.flames));
  for (PageTable& table : more.tables)
    if (table.title == "Functions") table.title = "Calls of functions";
  append(page.tables, std::move(more.tables));
  for (PageThread& thread : more.threads)
    if (std::ranges::find(page.threads, thread.tid, &PageThread::tid) == page.threads.end())
      page.threads.push_back(std::move(thread));
}

}  // namespace loft::view
