// The entries of the procedure linkage table have no symbols of their own. Each jumps through a
// slot that a relocation fills; the relocation names the function.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "symbols/elf_symbols.hpp"

namespace loft::symbols {
namespace {

using SlotNames = std::unordered_map<std::uint64_t, std::string_view>;

struct PltEntry {
  std::uint64_t start;
  std::uint64_t size;
  std::uint64_t slot;
};

// Which dynamic symbol each relocated slot belongs to.
SlotNames names_of_slots(const ElfFile& elf) {
  SlotNames names;
  const ElfSection* table = elf.section_of_type(SHT_DYNSYM);
  if (table == nullptr || table->link >= elf.sections().size()) return names;
  const Bytes symbols = elf.content(*table);
  const Bytes texts = elf.content(elf.sections()[table->link]);
  const std::size_t symbol_size = elf.is_64bit() ? 24 : 16;
  const std::size_t word = elf.is_64bit() ? 8 : 4;
  for (const ElfSection& section : elf.sections()) {
    if (section.type != SHT_RELA && section.type != SHT_REL) continue;
    ByteReader in(elf.content(section), elf.order());
    while (in.remaining() >= 2 * word) {
      const std::uint64_t slot = in.sized(word);
      const std::uint64_t info = in.sized(word);
      if (section.type == SHT_RELA) in.skip(word);
      const std::uint64_t symbol = elf.is_64bit() ? info >> 32 : info >> 8;
      if (!in.ok() || symbol == 0 || symbol >= symbols.size() / symbol_size) continue;
      ByteReader name(symbols, elf.order(), static_cast<std::size_t>(symbol) * symbol_size);
      names.emplace(slot, text_at(texts, name.u32()));
    }
  }
  return names;
}

// jmp *slot, behind an endbr and a bnd prefix perhaps.
std::vector<PltEntry> x86_entries(const ElfFile& elf, const ElfSection& section, Bytes code) {
  std::vector<PltEntry> entries;
  const std::size_t stride = section.name == ".plt.got" && section.size % 16 != 0 ? 8 : 16;
  for (std::size_t at = 0; at + stride <= code.size(); at += stride) {
    for (std::size_t i = at; i + 6 <= at + stride; ++i) {
      if (code[i] != std::byte{0xff}) continue;
      ByteReader operand(code, ByteOrder::little, i + 2);
      const std::uint32_t value = operand.u32();
      const bool is_direct = code[i + 1] == std::byte{0x25};
      const bool through_ebx = code[i + 1] == std::byte{0xa3} && elf.machine() == EM_386;
      if (!is_direct && !through_ebx) continue;
      std::uint64_t slot = value;
      if (elf.machine() == EM_X86_64)
        slot =
            section.address + i + 6 + static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
      if (through_ebx) {
        const ElfSection* base = elf.section(".got.plt");
        slot = ((base != nullptr ? base->address : 0) + value) & 0xffffffff;
      }
      entries.push_back({section.address + at, stride, slot});
      break;
    }
  }
  return entries;
}

// adrp x16, page; ldr x17, [x16, #offset]; behind a "bti c" perhaps.
std::vector<PltEntry> arm64_entries(const ElfSection& section, Bytes code) {
  std::vector<PltEntry> entries;
  constexpr std::uint32_t kBtiC = 0xd503245f;
  std::uint32_t before = 0;
  for (std::size_t at = 0; at + 16 <= code.size(); at += 4) {
    ByteReader in(code, ByteOrder::little, at);
    const std::uint32_t adrp = in.u32();
    const std::uint32_t ldr = in.u32();
    const bool has_bti = std::exchange(before, adrp) == kBtiC;
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    const std::uint64_t pages = ((adrp >> 5 & 0x7ffff) << 2) | (adrp >> 29 & 3);
    const auto signed_pages =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(pages << 43) >> 43);
    const std::uint64_t place = section.address + at;
    const std::uint64_t slot =
        (place & ~std::uint64_t{0xfff}) + (signed_pages << 12) + (ldr >> 10 & 0xfff) * 8;
    entries.push_back({has_bti ? place - 4 : place, has_bti ? 20u : 16u, slot});
  }
  return entries;
}

}  // namespace

void add_plt(const ElfFile& elf, SymbolArray::Builder& into) {
  const bool is_x86 = elf.machine() == EM_X86_64 || elf.machine() == EM_386;
  if (!is_x86 && elf.machine() != EM_AARCH64) return;
  SlotNames names;
  for (const ElfSection& section : elf.sections()) {
    if (!section.name.starts_with(".plt") || section.type != SHT_PROGBITS) continue;
    if (names.empty()) names = names_of_slots(elf);
    const Bytes code = elf.content(section);
    for (const PltEntry& entry :
         is_x86 ? x86_entries(elf, section, code) : arm64_entries(section, code)) {
      const auto name = names.find(entry.slot);
      if (name == names.end() || name->second.empty()) continue;
      into.add({entry.start, entry.size, into.keep(std::string(name->second) + "@plt"),
                entry.start + entry.size, Candidate::Binding::local, true});
    }
  }
}

}  // namespace loft::symbols
