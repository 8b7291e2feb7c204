// The vdso: code that the kernel maps into every process, and that is in no file.
#pragma once

#include "symbols/symbol_store.hpp"

namespace loft::symbols {

// From perf's cache, or this process's own when it is proven to be the recorded one.
SymbolTable::Parts read_vdso(const Binary& binary, const SymbolOptions& options);

}  // namespace loft::symbols
