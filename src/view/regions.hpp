// Regions that a program marked (include/loft/region.h), as a recording keeps them: a table as
// text, CSV or JSON, and the parts of a page.
#pragma once

#include <string>

#include "sample/counting.hpp"
#include "view/page.hpp"

namespace loft::view {

// As `loft stat --by region` shows them.
[[nodiscard]] std::string regions_text(const sample::RunCounts& run);
// One line for each region and quantity.
[[nodiscard]] std::string regions_csv(const sample::RunCounts& run);
// One object, schema "loft.regions/1".
[[nodiscard]] std::string regions_json(const sample::RunCounts& run);

// A table, and for the time and each event a flame graph of regions inside of regions. Nothing
// where none was marked.
void add_regions(const sample::RunCounts& run, PageData& page);

}  // namespace loft::view
