// The functions that an ELF file names: its symbol tables and the entries of its PLT.
#pragma once

#include <memory>

#include "symbols/elf_file.hpp"
#include "symbols/symbol_array.hpp"

namespace loft::symbols {

// A function, or a label in code, as a symbol table has it.
struct CodeSymbol {
  std::uint64_t start = 0;
  std::uint64_t size = 0;   // within its section
  std::uint64_t limit = 0;  // the end of its section
  std::string_view name;
  Candidate::Binding binding = Candidate::Binding::global;
  bool is_function = true;
  bool is_resolver = false;  // it returns the address of the function that has its name (ifunc)
};
[[nodiscard]] std::vector<CodeSymbol> code_symbols(const ElfFile& elf, std::uint32_t table_type);

// Adds the functions of a symbol table, SHT_SYMTAB or SHT_DYNSYM. Says whether it had any.
bool add_symbols(const ElfFile& elf, std::uint32_t table_type, SymbolArray::Builder& into);

// Adds "puts@plt" and its like, found by the code of each entry (x86-64, i386, arm64).
void add_plt(const ElfFile& elf, SymbolArray::Builder& into);

// The variable that an address lies in, as a symbol table has it.
struct Variable {
  std::string_view name;
  std::uint64_t start = 0;
};
[[nodiscard]] std::optional<Variable> variable_at(const ElfFile& elf, std::uint64_t address);

// Where a symbol is; nothing when the file does not have it. For `_text` of a kernel.
std::optional<std::uint64_t> address_of_symbol(const ElfFile& elf, std::string_view name);

}  // namespace loft::symbols
