// What metrics are, and what is wrong with files of them, as text, CSV or JSON: `loft metric list`,
// `show` and `check`.
#pragma once

#include <span>
#include <string>

#include "metric/check.hpp"
#include "metric/library.hpp"

namespace loft::view {

using Definitions = std::span<const metric::Definition* const>;

// One line each: name, variant, unit, description.
std::string definitions_text(Definitions definitions);
std::string definitions_csv(Definitions definitions);
// {"schema":"loft.metric.list/1","metrics":[{"name","description","unit","group","variant",
//  "formula","origin"}]}
std::string definitions_json(Definitions definitions);

// One definition in full: formulas, unit, the events and constants that it needs.
std::string definition_text(const metric::Library& library, const metric::Definition& definition);

// `with_notes`: also when each metric is not available.
std::string check_text(const metric::CheckResult& result, bool with_notes);
// {"schema":"loft.metric.check/1","definitions","expectations","diagnostics":[...]}
std::string check_json(const metric::CheckResult& result);

}  // namespace loft::view
