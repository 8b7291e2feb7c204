#include "symbols/elf_table.hpp"

#include "symbols/compression.hpp"
#include "symbols/dwarf_info.hpp"
#include "symbols/elf_symbols.hpp"

namespace loft::symbols {
namespace {

// Fedora's and Android's way: the local functions of a stripped file, packed into it.
void add_minidebuginfo(const ElfFile& elf, SymbolArray::Builder& into) {
  const ElfSection* section = elf.section(".gnu_debugdata");
  if (section == nullptr) return;
  auto mini = ElfFile::of_bytes(unpack_xz(elf.content(*section)), elf.path());
  if (!mini) return;
  if (add_symbols(**mini, SHT_SYMTAB, into)) into.keep_alive(*mini);
}

void add_all(const FoundFiles& found, SymbolArray::Builder& into) {
  const ElfFile* binary = found.binary.get();
  bool complete = binary != nullptr && add_symbols(*binary, SHT_SYMTAB, into);
  if (!complete && found.debug != nullptr) complete = add_symbols(*found.debug, SHT_SYMTAB, into);
  if (binary == nullptr) return;
  if (!complete) {
    add_symbols(*binary, SHT_DYNSYM, into);
    add_minidebuginfo(*binary, into);
  }
  add_plt(*binary, into);
}

bool has_dwarf(const ElfFile* elf) {
  // Modules not yet linked would have to be relocated first.
  return elf != nullptr && elf->type() != ET_REL &&
         (elf->section(".debug_info") != nullptr || elf->section(".zdebug_info") != nullptr);
}

std::shared_ptr<const DebugInfo> debug_info_of(const FoundFiles& found,
                                               const SymbolOptions& options) {
  const auto& elf = has_dwarf(found.binary.get()) ? found.binary : found.debug;
  if (!options.debug_info || !has_dwarf(elf.get())) return nullptr;
  return std::make_shared<const DwarfInfo>(elf, BinaryFinder(options).find_alternate(*elf),
                                           options);
}

}  // namespace

bool fill_from_elf(const FoundFiles& found, const SymbolOptions& options,
                   SymbolTable::Parts& parts) {
  parts.why = found.why;
  parts.elf = found.binary != nullptr ? found.binary : found.debug;
  if (parts.elf == nullptr) return false;
  parts.build_id = parts.elf->build_id();
  if (found.binary == nullptr) parts.why += "; names are from its debug file";

  parts.debug_info = debug_info_of(found, options);
  SymbolArray::Builder builder;
  if (found.binary != nullptr) builder.keep_alive(found.binary);
  if (found.debug != nullptr) builder.keep_alive(found.debug);
  add_all(found, builder);
  const bool any = !builder.is_empty();
  if (!any && parts.why.empty()) parts.why = "the file is stripped and no debug file was found";
  builder.move_by(parts.moved_by);
  parts.symbols = builder.finish(options.names);
  return any;
}

}  // namespace loft::symbols
