#include "symbols/elf_symbols.hpp"

#include <algorithm>

namespace loft::symbols {
namespace {

struct RawSymbol {
  std::uint32_t name = 0;
  std::uint8_t info = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;

  [[nodiscard]] unsigned type() const { return info & 15u; }
  [[nodiscard]] unsigned binding() const { return info >> 4; }
};

// The entries of one symbol table section.
class RawSymbols {
 public:
  RawSymbols(const ElfFile& elf, const ElfSection& section)
      : elf_(elf), bytes_(elf.content(section)), entry_(elf.is_64bit() ? 24 : 16) {
    if (section.entry_size > entry_)
      entry_ = static_cast<std::size_t>(std::min<std::uint64_t>(section.entry_size, 1024));
    if (section.link < elf.sections().size()) names_ = elf.content(elf.sections()[section.link]);
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size() / entry_; }
  [[nodiscard]] std::string_view name(const RawSymbol& symbol) const {
    return text_at(names_, symbol.name);
  }

  [[nodiscard]] RawSymbol operator[](std::size_t index) const {
    ByteReader in(bytes_, elf_.order(), index * entry_);
    RawSymbol symbol;
    symbol.name = in.u32();
    if (elf_.is_64bit()) {
      symbol.info = in.u8();
      in.skip(1);
      symbol.section = in.u16();
      symbol.value = in.u64();
      symbol.size = in.u64();
    } else {
      symbol.value = in.u32();
      symbol.size = in.u32();
      symbol.info = in.u8();
      in.skip(1);
      symbol.section = in.u16();
    }
    return symbol;
  }

 private:
  const ElfFile& elf_;
  Bytes bytes_;
  Bytes names_;
  std::size_t entry_;
};

bool is_compiler_mark(std::string_view name) {
  // $a, $t, $x, $d: Arm's and RISC-V's marks between code and data. .L: labels that escaped.
  if (name.starts_with(".L")) return true;
  return name.size() >= 2 && name[0] == '$' && std::string_view("atxd").find(name[1]) < 4 &&
         (name.size() == 2 || name[2] == '.' || name[1] == 'x');
}

Candidate::Binding binding_of(const RawSymbol& symbol) {
  if (symbol.binding() == STB_LOCAL) return Candidate::Binding::local;
  return symbol.binding() == STB_WEAK ? Candidate::Binding::weak : Candidate::Binding::global;
}

// The section whose code a symbol is in; null for data, undefined and absolute symbols.
const ElfSection* code_section(const ElfFile& elf, const RawSymbol& symbol) {
  const auto& sections = elf.sections();
  if (symbol.section == SHN_UNDEF || symbol.section == SHN_ABS) return nullptr;
  if (symbol.section < sections.size() && symbol.section < SHN_LORESERVE)
    return sections[symbol.section].is_code() ? &sections[symbol.section] : nullptr;
  // More sections than fit 16 bits: the address tells.
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const ElfSection& s) {
    return s.is_code() && s.contains(symbol.value);
  });
  return found == sections.end() ? nullptr : &*found;
}

// Takes "@@VERSION" off: it names the default, which everybody means.
std::string_view without_default_version(std::string_view name) {
  return name.substr(0, std::min(name.find("@@"), name.size()));
}

}  // namespace

std::vector<CodeSymbol> code_symbols(const ElfFile& elf, std::uint32_t table_type) {
  std::vector<CodeSymbol> found;
  const ElfSection* section = elf.section_of_type(table_type);
  if (section == nullptr) return found;
  const RawSymbols symbols(elf, *section);
  // Thumb functions have their lowest address bit set.
  const std::uint64_t address_mask =
      elf.machine() == EM_ARM ? ~std::uint64_t{1} : ~std::uint64_t{0};
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    const RawSymbol symbol = symbols[i];
    const bool is_function = symbol.type() == STT_FUNC || symbol.type() == STT_GNU_IFUNC;
    if (!is_function && symbol.type() != STT_NOTYPE) continue;
    const ElfSection* code = code_section(elf, symbol);
    if (code == nullptr) continue;
    const std::string_view name = without_default_version(symbols.name(symbol));
    if (name.empty() || is_compiler_mark(name)) continue;
    // Objects not yet linked count from their section; their place in the file is the address.
    const std::uint64_t base = elf.type() == ET_REL ? code->offset : 0;
    const std::uint64_t section_start = elf.type() == ET_REL ? code->offset : code->address;
    const std::uint64_t start = (symbol.value & address_mask) + base;
    if (start < section_start || start - section_start >= std::max<std::uint64_t>(code->size, 1))
      continue;
    const std::uint64_t limit = section_start + code->size;
    found.push_back({start, std::min(symbol.size, limit - start), limit, name, binding_of(symbol),
                     is_function, symbol.type() == STT_GNU_IFUNC});
  }
  return found;
}

bool add_symbols(const ElfFile& elf, std::uint32_t table_type, SymbolArray::Builder& into) {
  const auto symbols = code_symbols(elf, table_type);
  for (const CodeSymbol& symbol : symbols)
    into.add(
        {symbol.start, symbol.size, symbol.name, symbol.limit, symbol.binding, symbol.is_function});
  return !symbols.empty();
}

std::optional<Variable> variable_at(const ElfFile& elf, std::uint64_t address) {
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const ElfSection* section = elf.section_of_type(type);
    if (section == nullptr) continue;
    const RawSymbols symbols(elf, *section);
    for (std::size_t i = 1; i < symbols.size(); ++i) {
      const RawSymbol symbol = symbols[i];
      if (symbol.type() == STT_OBJECT && symbol.section != SHN_UNDEF && address >= symbol.value &&
          address - symbol.value < symbol.size)
        return Variable{without_default_version(symbols.name(symbol)), symbol.value};
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> address_of_symbol(const ElfFile& elf, std::string_view name) {
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const ElfSection* section = elf.section_of_type(type);
    if (section == nullptr) continue;
    const RawSymbols symbols(elf, *section);
    for (std::size_t i = 1; i < symbols.size(); ++i)
      if (symbols.name(symbols[i]) == name) return symbols[i].value;
  }
  return std::nullopt;
}

}  // namespace loft::symbols
