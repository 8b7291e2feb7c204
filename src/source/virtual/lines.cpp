#include "source/virtual/lines.hpp"

#include <fmt/format.h>

#include "symbols/demangle.hpp"
#include "symbols/elf_symbols.hpp"

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

std::string LineFinder::variable(const std::string& binary, std::uint64_t address,
                                 std::uint64_t map_start, std::uint64_t map_offset) {
  const symbols::SymbolTable* table = table_of(binary);
  if (table == nullptr) return {};
  const std::uint64_t moved = map_start - table->address_of(map_start, map_start, map_offset);
  auto& file = files_[binary];
  if (file == nullptr)
    if (auto opened = symbols::ElfFile::open(binary)) file = *std::move(opened);
  if (file == nullptr) return {};
  const auto found = symbols::variable_at(*file, address - moved);
  if (!found) return {};
  const std::uint64_t offset = address - moved - found->start;
  std::string name = symbols::demangle(found->name);
  if (name.empty()) name = found->name;  // it is not mangled
  return name + (offset == 0 ? "" : fmt::format("+{:#x}", offset));
}

std::vector<std::string> LineFinder::inlined(const std::string& binary, std::uint64_t address) {
  std::vector<std::string> names;
  if (const symbols::SymbolTable* table = table_of(binary))
    for (const symbols::InlinedFrame& frame : table->inlined(address))
      names.emplace_back(frame.function);
  return names;
}

}  // namespace loft::source::virtual_pmu
