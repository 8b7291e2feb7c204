// Asks a file everything that can be asked, as the tests and the fuzzer do.
#pragma once

#include <algorithm>
#include <vector>

#include "symbols/binary_finder.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/elf_table.hpp"
#include "symbols/symbol_table.hpp"
#include "symbols/unwind_table.hpp"

namespace loft::symbols {

// Says how many answers there were, so that a caller can tell that questions were asked at all.
inline std::size_t interrogate(std::vector<std::byte> bytes) {
  auto elf = ElfFile::of_bytes(std::move(bytes), "bytes");
  if (!elf) return 0;
  SymbolOptions options;
  options.root = SystemRoot("/nonexistent");
  options.debug_directories.clear();
  options.build_id_cache = "/nonexistent";
  SymbolTable::Parts parts;
  fill_from_elf({*elf, nullptr, {}}, options, parts);
  const SymbolTable table(std::move(parts));
  const UnwindTable* unwind = table.unwind_table();

  std::vector<std::uint64_t> addresses = {0, 1, ~std::uint64_t{0}, table.address_of_offset(0x1000)};
  for (const ElfSection& section : (*elf)->sections()) {
    if (!section.is_code()) continue;
    const std::uint64_t size = std::min<std::uint64_t>(section.size, 4096);
    for (std::uint64_t at = 0; at < size && addresses.size() < 256; at += 1 + size / 24)
      addresses.push_back(section.address + at);
  }
  std::size_t answers = 0;
  for (const std::uint64_t address : addresses) {
    answers += table.find(address) != nullptr ? 1 : 0;
    answers += table.line(address) ? 1 : 0;
    answers += table.inlined(address).size();
    answers += unwind != nullptr && unwind->row(address) ? 1 : 0;
  }
  return answers;
}

}  // namespace loft::symbols
