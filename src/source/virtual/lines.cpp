#include "source/virtual/lines.hpp"

namespace loft::source::virtual_pmu {

const symbols::SymbolTable* LineFinder::table_of(const std::string& binary) {
  if (!binary.starts_with('/')) return nullptr;  // code of no file
  auto& table = tables_[binary];
  if (table == nullptr) table = symbols_.open({.path = binary});
  return table.get();
}

LineFinder::Line LineFinder::find(const std::string& binary, std::uint64_t address) {
  const symbols::SymbolTable* table = table_of(binary);
  const auto found = table == nullptr ? std::nullopt : table->line(address);
  return found ? Line{std::string(found->file), found->line} : Line{};
}

std::vector<std::string> LineFinder::inlined(const std::string& binary, std::uint64_t address) {
  std::vector<std::string> names;
  if (const symbols::SymbolTable* table = table_of(binary))
    for (const symbols::InlinedFrame& frame : table->inlined(address))
      names.emplace_back(frame.function);
  return names;
}

}  // namespace loft::source::virtual_pmu
