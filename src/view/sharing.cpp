#include "view/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using nlohmann::ordered_json;
using sample::LineUse;
using sample::SharedLine;
using sample::SharingKind;

constexpr std::size_t kShownLines = 20;
constexpr std::size_t kShownUses = 8;
constexpr std::size_t kUseNameWidth = 40;

const char* sharing_words(SharingKind kind) {
  switch (kind) {
    case SharingKind::false_sharing:
      return "false sharing: no thread needs the bytes of another";
    case SharingKind::true_sharing:
      return "true sharing: threads use the same bytes";
    case SharingKind::both:
      return "true and false sharing";
    case SharingKind::unknown:
      break;
  }
  return "passed too seldom to tell true from false sharing";
}

std::string line_place(const SharedLine& line) {
  return line.variable.empty() ? fmt::format("{:#x}", line.address)
                               : fmt::format("{} ({:#x})", printable(line.variable), line.address);
}

std::string use_row(const LineUse& use) {
  const std::string name = use.function.empty() ? "(others)" : printable(use.function);
  std::string text =
      fmt::format("{:>14}  {:>14}  {:>14}  {:>7}  {} {}  {}", "~" + with_separators(use.transfers),
                  with_separators(use.loads), with_separators(use.stores),
                  fmt::format("{}-{}", use.first, use.end - 1), use.tid, printable(use.comm),
                  short_name(name, kUseNameWidth));
  if (!use.source.empty()) text += "  " + printable(use.source);
  return text + "\n";
}

std::string line_text(const SharedLine& line) {
  std::string text = fmt::format("\n{}: ~{} transfers, {}\n", line_place(line),
                                 with_separators(line.transfers), sharing_words(line.kind));
  text += fmt::format("{:>14}  {:>14}  {:>14}  {:>7}  {}\n", "transfers", "loads", "stores",
                      "bytes", "thread, function");
  for (std::size_t i = 0; i < std::min(kShownUses, line.uses.size()); ++i)
    text += use_row(line.uses[i]);
  if (line.uses.size() > kShownUses)
    text += fmt::format("{:>14}  ({} other places)\n", "", line.uses.size() - kShownUses);
  return text;
}

// What to do about the lines that are falsely shared.
std::string sharing_advice(const sample::LineSharing& sharing) {
  std::uint64_t transfers = 0;
  for (const SharedLine& line : sharing.lines)
    if (line.kind == SharingKind::false_sharing) transfers += line.transfers;
  if (transfers == 0) return {};
  return fmt::format(
      "~{:.0f} % of the transfers are of lines that threads share by chance: data of a thread on a "
      "line of its own (alignas({})) has none of them\n",
      100 * static_cast<double>(transfers) / static_cast<double>(sharing.transfers),
      sharing.line_bytes);
}

}  // namespace

std::string sharing_text(const sample::LineSharing& sharing) {
  if (sharing.lines.empty()) return "\nno line that one thread had modified was used by another\n";
  std::string text = fmt::format(
      "\n{} lines of {} bytes were passed between threads, ~{} times, ~ modelled\n",
      with_separators(sharing.line_count), sharing.line_bytes, with_separators(sharing.transfers));
  for (std::size_t i = 0; i < std::min(kShownLines, sharing.lines.size()); ++i)
    text += line_text(sharing.lines[i]);
  if (sharing.line_count > kShownLines)
    text += fmt::format("\n({} other lines)\n", sharing.line_count - kShownLines);
  return text + "\n" + sharing_advice(sharing);
}

ordered_json sharing_json(const sample::LineSharing& sharing) {
  ordered_json json{{"kind", "modelled"},
                    {"line_bytes", sharing.line_bytes},
                    {"line_count", sharing.line_count},
                    {"transfers", sharing.transfers},
                    {"lines", ordered_json::array()}};
  for (const SharedLine& line : sharing.lines) {
    ordered_json row{
        {"address", line.address},
        {"pid", line.pid},
        {"variable", line.variable.empty() ? ordered_json(nullptr) : ordered_json(line.variable)},
        {"sharing", to_string(line.kind)},
        {"transfers", line.transfers},
        {"true_transfers", line.true_transfers},
        {"false_transfers", line.false_transfers},
        {"invalidations", line.invalidations},
        {"uses", ordered_json::array()}};
    for (const LineUse& use : line.uses)
      row["uses"].push_back(
          {{"tid", use.tid},
           {"comm", use.comm},
           {"function", use.function},
           {"binary", use.binary},
           {"source", use.source.empty() ? ordered_json(nullptr) : ordered_json(use.source)},
           {"loads", use.loads},
           {"stores", use.stores},
           {"transfers", use.transfers},
           {"first_byte", use.first},
           {"end_byte", use.end}});
    json["lines"].push_back(std::move(row));
  }
  return json;
}

}  // namespace loft::view
