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

// The levels of memory, each by its name in the file.
template <class L, class Visit>
void visit_levels(L& levels, const Visit& number) {
  number("L2", levels.l2);
  number("L3", levels.l3);
  number("DRAM", levels.dram);
}

ordered_json json_of(const model::LevelBytes& levels) {
  ordered_json json = ordered_json::object();
  visit_levels(levels, [&](const char* name, std::optional<double> bytes) {
    if (bytes) json[name] = *bytes;
  });
  return json;
}

void read_levels(const ordered_json& json, model::LevelBytes& levels, Fields& of_work) {
  Fields parts(json);
  visit_levels(levels, [&](const char* name, std::optional<double>& bytes) {
    if (parts.find(name) != nullptr) bytes = parts.amount(name);
  });
  if (!parts.wrong().empty()) of_work.note(parts.wrong());
}

}  // namespace

ordered_json json_of(const std::optional<Work>& work) {
  if (!work) return nullptr;
  ordered_json json;
  const auto put = [&](const char* name, double value) { json[name] = value; };
  visit(*work, put);
  visit_later(*work, put);
  if (work->levels.is_known()) json["levels"] = json_of(work->levels);
  const auto put_optional = [&](const char* name, std::optional<double> value) {
    json[name] = value ? ordered_json(*value) : ordered_json(nullptr);
  };
  put_optional("instructions", work->instructions);
  put_optional("int_ops", work->int_ops);
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
  const auto optional_amount = [&](const char* part) -> std::optional<double> {
    const ordered_json* value = parts.find(part);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return parts.amount(part);
  };
  work.instructions = optional_amount("instructions");
  work.int_ops = optional_amount("int_ops");
  if (const ordered_json* levels = parts.find("levels")) read_levels(*levels, work.levels, parts);
  if (!parts.wrong().empty()) note(parts.wrong());
  return work;
}

}  // namespace loft::roof
