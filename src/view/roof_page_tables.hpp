// Tables of the roofline's page beside those of functions and threads.
#pragma once

#include <optional>
#include <span>

#include "view/page.hpp"
#include "view/roof.hpp"

namespace loft::view {

// Why each row of a table is as fast as it is; empty where no model says.
struct WhyColumns {
  PageColumn why{.name = "limited by", .form = CellForm::text, .help = "by a model of the core"};
  PageColumn gain{.name = "without it",
                  .form = CellForm::number,
                  .unit = "× faster",
                  .help = "as the model computes it"};
  PageColumn evidence{.name = "evidence", .form = CellForm::text};

  void add(const model::Subject& subject);
};

// Loops of all runs; nothing where none was found.
[[nodiscard]] std::optional<PageTable> loops_table(std::span<const RoofReport> runs);
// How causes changed while a run went on; nothing where they did not.
[[nodiscard]] std::optional<PageTable> phases_table(std::span<const RoofReport> runs);
// What each cause costs the whole program and its functions; nothing where no cause is known.
[[nodiscard]] std::optional<PageTable> what_if_table(std::span<const RoofReport> runs);
// Bytes of the run and of its functions at each level of memory; nothing where no model told them.
[[nodiscard]] std::optional<PageTable> levels_table(std::span<const RoofReport> runs);

}  // namespace loft::view
