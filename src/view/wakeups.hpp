// Who woke whom, as text, JSON, CSV or a table of a page.
#pragma once

#include <span>
#include <string>

#include "sample/wakeups.hpp"
#include "view/page.hpp"

namespace loft::view {

// At most `rows` of them; 0: all.
[[nodiscard]] std::string wakeups_text(std::span<const sample::Wakeups> wakeups, std::size_t rows);
[[nodiscard]] std::string wakeups_json(std::span<const sample::Wakeups> wakeups);
[[nodiscard]] std::string wakeups_csv(std::span<const sample::Wakeups> wakeups);
[[nodiscard]] PageTable wakeups_table(std::span<const sample::Wakeups> wakeups);

}  // namespace loft::view
