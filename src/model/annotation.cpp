#include "model/annotation.hpp"

#include <algorithm>
#include <tuple>

namespace loft::model {

std::string_view words_of(core::Wait wait) {
  switch (wait) {
    case core::Wait::operation:
      return "its result";
    case core::Wait::unit:
      return "a free unit";
    case core::Wait::l1:
      return "load from L1";
    case core::Wait::l2:
      return "load from L2";
    case core::Wait::l3:
      return "load from L3";
    case core::Wait::memory:
      return "load from DRAM";
    case core::Wait::walk:
      return "page walk";
    case core::Wait::transfer:
      return "other thread's line";
    case core::Wait::forwarding:
      return "forwarded store";
    case core::Wait::restart:
      return "misprediction";
    case core::Wait::issue:
      return "front end, width";
    case core::Wait::retirement:
      return "turn to leave";
    case core::Wait::count_:
      break;
  }
  return "";
}

void AnnotatedSum::add(const AnnotatedInstruction& each) {
  if (each.count) count = std::max(count.value_or(0), *each.count);
  samples += each.samples;
  share += each.share;
  if (each.waited) waited = waited.value_or(0) + *each.waited;
  others.resize(std::max(others.size(), each.others.size()));
  for (std::size_t i = 0; i < each.others.size(); ++i) {
    others[i].samples += each.others[i].samples;
    others[i].share += each.others[i].share;
  }
}

std::vector<AnnotatedLine> lines_of(const AnnotatedFunction& function) {
  std::vector<AnnotatedLine> lines(function.places.size());
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].place = static_cast<std::uint32_t>(i);
  std::vector<bool> is_used(lines.size());
  for (const AnnotatedInstruction& each : function.code) {
    lines[each.place].sum.add(each);
    is_used[each.place] = true;
  }
  std::erase_if(lines, [&](const AnnotatedLine& line) { return !is_used[line.place]; });
  std::ranges::stable_sort(lines, {}, [&](const AnnotatedLine& line) {
    const SourcePlace& place = function.places[line.place];
    return std::tie(place.file, place.line);
  });
  return lines;
}

}  // namespace loft::model
