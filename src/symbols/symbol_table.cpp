#include "symbols/symbol_table.hpp"

#include <fmt/format.h>

#include "symbols/debug_info.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/symbol_array.hpp"
#include "symbols/unwind_table.hpp"

namespace loft::symbols {

SymbolTable::SymbolTable(Parts parts) : parts_(std::move(parts)) {
  if (parts_.symbols == nullptr) parts_.symbols = SymbolArray::Builder().finish(NameStyle::mangled);
}

SymbolTable::~SymbolTable() = default;

std::uint64_t SymbolTable::address_of(std::uint64_t ip, std::uint64_t map_start,
                                      std::uint64_t map_offset) const {
  return parts_.is_absolute ? ip : address_of_offset(ip - map_start + map_offset);
}

std::uint64_t SymbolTable::address_of_offset(std::uint64_t file_offset) const {
  if (parts_.elf == nullptr) return file_offset;
  return parts_.elf->address_of_offset(file_offset).value_or(file_offset);
}

const Symbol* SymbolTable::find(std::uint64_t address) const {
  return parts_.symbols->find(address);
}

std::vector<const Symbol*> SymbolTable::named(std::string_view name) const {
  return parts_.symbols->named(name);
}

std::vector<const Symbol*> SymbolTable::functions() const { return parts_.symbols->functions(); }

std::optional<SourceLine> SymbolTable::line(std::uint64_t address) const {
  if (parts_.debug_info == nullptr) return std::nullopt;
  return parts_.debug_info->line(address - parts_.moved_by);
}

std::vector<InlinedFrame> SymbolTable::inlined(std::uint64_t address) const {
  if (parts_.debug_info == nullptr) return {};
  return parts_.debug_info->inlined(address - parts_.moved_by);
}

std::string SymbolTable::describe(std::uint64_t address) const {
  const std::string& path = parts_.binary.path;
  std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (name.starts_with('[')) name = name.substr(0, name.find(']') + 1);  // "[kernel...]_text"
  const std::string& id = parts_.binary.build_id.empty() ? parts_.build_id : parts_.binary.build_id;
  return id.empty() ? fmt::format("{}+{:#x}", name, address)
                    : fmt::format("{}+{:#x} [{:.16}]", name, address, id);
}

const UnwindTable* SymbolTable::unwind_table() const {
  if (parts_.elf == nullptr) return nullptr;
  std::call_once(unwind_once_,
                 [this] { unwind_table_ = std::make_unique<const UnwindTable>(*parts_.elf); });
  return unwind_table_.get();
}

std::size_t SymbolTable::symbol_count() const { return parts_.symbols->size(); }

}  // namespace loft::symbols
