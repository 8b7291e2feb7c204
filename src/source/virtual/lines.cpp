#include "source/virtual/lines.hpp"

namespace loft::source::virtual_pmu {

LineFinder::Line LineFinder::find(const std::string& binary, std::uint64_t address) {
  if (!binary.starts_with('/')) return {};  // code of no file
  auto& table = tables_[binary];
  if (table == nullptr) table = symbols_.open({.path = binary});
  if (table == nullptr) return {};
  const auto found = table->line(address);
  return found ? Line{std::string(found->file), found->line} : Line{};
}

}  // namespace loft::source::virtual_pmu
