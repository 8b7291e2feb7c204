// The code of functions for the page, and the page of `loft annotate`.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/annotate.hpp"
#include "view/page.hpp"
#include "view/why_text.hpp"

namespace loft::view {
namespace {

using model::AnnotatedFunction;
using model::AnnotatedInstruction;

std::string where(const model::SourcePlace& place) {
  if (place.file.empty()) return {};
  std::string text = fmt::format("{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
  return place.inlined.empty() ? text : text + " in " + loft::join(place.inlined, " > ");
}

// A row that holds the address; of branches and producers outside of the function there is none.
std::uint32_t row_of(const AnnotatedFunction& function, std::uint64_t address) {
  const auto found =
      std::ranges::lower_bound(function.code, address, {}, &AnnotatedInstruction::address);
  if (found == function.code.end() || found->address != address) return PageCode::kNoRow;
  return static_cast<std::uint32_t>(found - function.code.begin());
}

std::string head_of(const AnnotatedFunction& function) {
  if (function.samples == 0) return function.binary;
  if (function.seconds <= 0)
    return fmt::format("{}: ~{:.1f} % of all samples, {} of them", function.binary,
                       function.share_of_time * 100, function.samples);
  return fmt::format("{}: ~{:.1f} % of the time, ~{}, {} samples", function.binary,
                     function.share_of_time * 100, format_seconds(function.seconds),
                     function.samples);
}

}  // namespace

PageCode page_code(const AnnotatedFunction& function) {
  PageCode code;
  code.name = function.name;
  code.head = head_of(function);
  if (function.why) code.verdict = why_text(*function.why);
  for (const model::SourcePlace& place : function.places)
    code.places.push_back({where(place), place.text});
  for (const AnnotatedInstruction& each : function.code) {
    code.text.push_back(code.texts.of(shown_instruction(function, each)));
    code.place.push_back(each.place);
    code.wait.push_back(static_cast<std::uint8_t>(each.wait));
    code.from.push_back(each.waits_for ? row_of(function, *each.waits_for) : PageCode::kNoRow);
    code.target.push_back(each.target != 0 ? row_of(function, each.target) : PageCode::kNoRow);
    code.offset.push_back(static_cast<double>(each.address - function.address));
    code.count.push_back(each.count.value_or(kNotKnown));
    code.share.push_back(static_cast<float>(each.share));
    code.waited.push_back(static_cast<float>(each.waited.value_or(kNotKnown)));
  }
  return code;
}

// The function as the samples of another event have it.
static AnnotatedFunction of_event(AnnotatedFunction function, std::size_t other,
                                  const std::string& event) {
  function.name += " (" + event + ")";
  function.samples = function.others[other].samples;
  function.share_of_time = function.others[other].share;
  for (AnnotatedInstruction& each : function.code) {
    each.samples = each.others[other].samples;
    each.share = each.others[other].share;
  }
  return function;
}

Result<std::string> annotate_html(const model::Annotation& annotation) {
  PageData page;
  page.title = annotation.functions.empty() ? "code" : annotation.functions.front().name;
  page.command = loft::join(annotation.command, " ");
  page.source =
      annotation.events.empty()
          ? fmt::format("counts: {}; time: native run", annotation.counts_from)
          : fmt::format("in the place of the time: samples of {}", annotation.events.front());
  for (const AnnotatedFunction& function : annotation.functions) {
    page.codes.push_back(page_code(function));
    for (std::size_t i = 0; i < function.others.size(); ++i)
      page.codes.push_back(page_code(of_event(function, i, annotation.events[i + 1])));
  }
  for (const std::string& note : annotation.notes)
    page.warnings.push_back({WarningKind::note, note});
  return page_html(page);
}

}  // namespace loft::view
