// From the files that were found to a table: the symbols, then lines and inlined calls.
#pragma once

#include "symbols/binary_finder.hpp"
#include "symbols/symbol_table.hpp"

namespace loft::symbols {

// Fills in all but the binary; `parts.moved_by` moves the symbols. Says whether there are names.
bool fill_from_elf(const FoundFiles& found, const SymbolOptions& options,
                   SymbolTable::Parts& parts);

}  // namespace loft::symbols
