#include "roof/compare_work.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace loft::roof {
namespace {

using model::Work;
using sample::Amount;
using sample::ComparedRow;
using sample::ComparedTable;

struct Kind {
  const char* name;
  const char* unit;
  std::optional<double> (*of)(const Work& work);
};

constexpr Kind kKinds[] = {
    {"operations", "FLOP", [](const Work& work) { return std::optional(work.flops()); }},
    {"bytes", "B", [](const Work& work) { return std::optional(work.bytes); }},
    {"instructions", "", [](const Work& work) { return work.instructions; }},
};

using Sums = std::map<std::string, std::optional<double>>;

// By name: the binary may have been renamed. What one clone lacks, their sum lacks.
Sums sums_of(const CountedWork& counted, const Kind& kind) {
  Sums sums;
  for (const FunctionWork& function : counted.functions) {
    const auto value = function.work ? kind.of(*function.work) : std::nullopt;
    const auto [entry, is_new] =
        sums.try_emplace(sample::plain_function_name(function.key.name), value);
    if (is_new) continue;
    if (entry->second && value)
      *entry->second += *value;
    else
      entry->second.reset();
  }
  return sums;
}

std::optional<Amount> amount_of(const std::optional<double>& value, const Kind& kind,
                                const CountedWork& counted) {
  if (!value) return std::nullopt;
  const bool is_modelled = counted.bytes_are_of_memory && kind.unit == std::string_view("B");
  const bool is_exact = counted.by == CountedBy::virtual_pmu &&
                        counted.origin == sample::Origin::counted && !is_modelled;
  return Amount{*value, is_exact ? std::optional(0.0) : std::nullopt};
}

}  // namespace

std::vector<ComparedTable> compare_work(const CountedWork& before, const CountedWork& after) {
  std::vector<ComparedTable> tables;
  for (const Kind& kind : kKinds) {
    if (!before.total || !after.total) continue;
    ComparedTable table{"function", kind.name, kind.unit, {}, {}};
    table.whole = {"", "", amount_of(kind.of(*before.total), kind, before),
                   amount_of(kind.of(*after.total), kind, after)};
    const Sums a = sums_of(before, kind);
    Sums b = sums_of(after, kind);
    for (const auto& [name, value] : a) {
      const auto found = b.find(name);
      const auto other = found == b.end() ? std::optional(0.0) : found->second;
      table.rows.push_back(
          {name, "", amount_of(value, kind, before), amount_of(other, kind, after)});
      if (found != b.end()) b.erase(found);
    }
    for (const auto& [name, value] : b)
      table.rows.push_back({name, "", amount_of(0.0, kind, before), amount_of(value, kind, after)});
    std::erase_if(table.rows, [](const ComparedRow& row) {
      return row.before && row.after && row.before->value == 0 && row.after->value == 0;
    });
    std::ranges::stable_sort(table.rows, std::greater(), [](const ComparedRow& row) {
      return std::abs(row.difference().value_or(0));
    });
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace loft::roof
