#include "roof/work_json.hpp"

namespace loft::roof {
namespace {

using model::Work;

// The numbers of a piece of work, each by its name in the file.
template <class W, class Visit>
void visit(W& work, const Visit& number) {
  number("flops_sp", work.flops_sp);
  number("flops_dp", work.flops_dp);
  number("flops_fma", work.flops_fma);
  number("flops_x87", work.flops_x87);
  number("bytes", work.bytes);
  number("scalar", work.widths.scalar);
  number("bits128", work.widths.bits128);
  number("bits256", work.widths.bits256);
  number("bits512", work.widths.bits512);
}

// Those that files of older versions lack.
template <class W, class Visit>
void visit_later(W& work, const Visit& number) {
  number("flops_div", work.flops_div);
  number("flops_sqrt", work.flops_sqrt);
}

}  // namespace

ordered_json json_of(const std::optional<Work>& work) {
  if (!work) return nullptr;
  ordered_json json;
  const auto put = [&](const char* name, double value) { json[name] = value; };
  visit(*work, put);
  visit_later(*work, put);
  json["instructions"] =
      work->instructions ? ordered_json(*work->instructions) : ordered_json(nullptr);
  return json;
}

std::optional<Work> Fields::work(const char* name) {
  const ordered_json* found = find(name);
  if (found == nullptr) note(name);
  if (found == nullptr || found->is_null()) return std::nullopt;
  Fields parts(*found);
  Work work;
  visit(work, [&](const char* part, double& value) { value = parts.amount(part); });
  visit_later(work, [&](const char* part, double& value) {
    if (parts.find(part) != nullptr) value = parts.amount(part);
  });
  const ordered_json* instructions = parts.find("instructions");
  work.instructions.reset();
  if (instructions != nullptr && !instructions->is_null())
    work.instructions = parts.amount("instructions");
  if (!parts.wrong().empty()) note(parts.wrong());
  return work;
}

}  // namespace loft::roof
