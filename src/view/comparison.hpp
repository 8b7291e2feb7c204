// Two runs by function and event, with what may be chance: sample/comparison.hpp.
#pragma once

#include <optional>
#include <string>

#include "sample/comparison.hpp"
#include "sample/named_profile.hpp"
#include "sample/task_compare.hpp"
#include "view/page.hpp"

namespace loft::view {

// What `loft compare` shows. Threads only where recordings tell when they ran.
struct ComparedRuns {
  sample::Comparison comparison;
  std::optional<sample::TaskComparison> tasks;
  std::vector<PageFlame> flames;  // differential; only where a page is asked for
};

[[nodiscard]] std::string comparison_text(const sample::Comparison& comparison);
[[nodiscard]] std::string comparison_csv(const sample::Comparison& comparison);
// The tables as a JSON array.
[[nodiscard]] std::string comparison_json(const sample::Comparison& comparison);

// One graph as wide as the second run and one as wide as the first, for each event of both.
[[nodiscard]] std::vector<PageFlame> differential_flames(const sample::NamedProfile& before,
                                                         const sample::NamedProfile& after);
[[nodiscard]] PageData comparison_page(const ComparedRuns& runs);

}  // namespace loft::view
