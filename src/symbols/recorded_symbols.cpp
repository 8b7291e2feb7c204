#include "symbols/recorded_symbols.hpp"

#include "symbols/symbol_array.hpp"

namespace loft::symbols {
namespace {

using BinaryKind = perf_data::RecordedBinary::Kind;

}  // namespace

RecordedSymbols::RecordedSymbols(std::vector<perf_data::RecordedBinary> binaries)
    : binaries_(std::move(binaries)) {
  for (std::size_t i = 0; i < binaries_.size(); ++i)
    if (!binaries_[i].symbols.empty()) by_path_.emplace(binaries_[i].path, i);
}

void RecordedSymbols::fill_moved(std::string_view path, std::uint64_t distance, NameStyle style,
                                 SymbolTable::Parts& parts) const {
  SymbolArray::Builder builder;
  builder.keep_alive(shared_from_this());
  for (const auto& symbol : binaries_[by_path_.at(path)].symbols)
    builder.add({.start = symbol.address + distance, .size = symbol.size, .name = symbol.name});
  parts.symbols = builder.finish(style);
  parts.why = "names are those that the recording brought along";
}

void RecordedSymbols::fill(NameStyle style, SymbolTable::Parts& parts) const {
  const auto known = by_path_.find(parts.binary.path);
  if (known == by_path_.end()) return;
  const auto& binary = binaries_[known->second];
  const bool is_kernel = binary.kind == BinaryKind::kernel;
  parts.is_absolute = is_kernel || binary.kind == BinaryKind::symbol_map;
  const bool is_in_file_addresses =
      parts.is_absolute || parts.elf != nullptr || !binary.code_offset;
  fill_moved(known->first, is_in_file_addresses ? 0 : *binary.code_offset - binary.code_address,
             style, parts);
}

SymbolTable::Parts RecordedSymbols::made_code(const std::string& path, NameStyle style) const {
  SymbolTable::Parts parts{.binary = {.path = path}, .is_absolute = true};
  fill_moved(path, 0, style, parts);
  return parts;
}

}  // namespace loft::symbols
