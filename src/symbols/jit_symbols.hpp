// Code that a program made while it ran: /tmp/perf-PID.map and jitdump files. Addresses are those
// of the process. Where code was made anew at the same place, the last one counts.
#pragma once

#include <string>

#include "symbols/symbol_store.hpp"

namespace loft::symbols {

// "START SIZE name" per line, hexadecimal.
SymbolTable::Parts read_perf_map(const std::string& path, const SymbolOptions& options);

// A jitdump file with its code loads, moves and source lines.
SymbolTable::Parts read_jitdump(const std::string& path, const SymbolOptions& options);

}  // namespace loft::symbols
