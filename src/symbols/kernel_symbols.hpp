// Names of the kernel and its modules: kallsyms, or a vmlinux that is proven to be the one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "symbols/binary_finder.hpp"
#include "symbols/symbol_array.hpp"

namespace loft::symbols {

using SharedText = std::shared_ptr<const std::string>;

// Adds the functions of a kallsyms text: those of `module`, or of the kernel itself and all modules
// when it is empty. Says how many; 0 when the addresses were hidden from whoever copied it.
std::size_t add_kallsyms(const SharedText& text, std::string_view module,
                         SymbolArray::Builder& into);

// Where kallsyms has a symbol, such as _text.
std::optional<std::uint64_t> address_in_kallsyms(std::string_view text, std::string_view name);

// The table of a kernel or a module ("[kernel.kallsyms]_text", "[nf_tables]", "/.../x.ko"), at the
// addresses of the recording. `recorded` is the recording's own kallsyms, or null.
SymbolTable::Parts read_kernel(const Binary& binary, const SymbolOptions& options,
                               const SharedText& recorded);

}  // namespace loft::symbols
