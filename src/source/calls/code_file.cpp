#ifdef LOFT_HAS_ENGINE

#include "source/calls/code_file.hpp"

#include <algorithm>

#include "symbols/binary_finder.hpp"
#include "symbols/elf_symbols.hpp"

namespace loft::source::calls {
namespace {

using symbols::CodeSymbol;
using symbols::ElfFile;
using symbols::ElfSection;

void sort_unique(std::vector<std::uint64_t>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

bool any_within(const std::vector<std::uint64_t>& sorted, std::uint64_t first, std::uint64_t last) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), first);
  return found != sorted.end() && *found < last;
}

bool is_loaded(const ElfSection& section) { return (section.flags & SHF_ALLOC) != 0; }

// Whether `one` is the better name of an address.
bool is_better(const CodeSymbol& one, const CodeSymbol& other) {
  if (one.is_function != other.is_function) return one.is_function;
  if ((one.size != 0) != (other.size != 0)) return one.size != 0;
  return one.binding < other.binding;
}

}  // namespace

std::vector<std::uint64_t> find_segment_writes(const ElfFile& elf) {
  std::vector<std::uint64_t> found;
  constexpr std::byte kRepeat{0xf3}, kTwoBytes{0x0f}, kOpcode{0xae};
  for (const ElfSection& section : elf.sections()) {
    if (!section.is_code()) continue;
    const Bytes code = elf.content(section);
    for (auto at = code.begin(); (at = std::find(at, code.end(), kRepeat)) != code.end(); ++at) {
      const auto left = static_cast<std::size_t>(code.end() - at);
      const std::size_t prefixes =
          left > 1 && std::to_integer<unsigned>(at[1]) >> 4 == 4 ? 2 : 1;  // with REX
      if (left < prefixes + 3 || at[static_cast<std::ptrdiff_t>(prefixes)] != kTwoBytes ||
          at[static_cast<std::ptrdiff_t>(prefixes) + 1] != kOpcode)
        continue;
      const auto operand = std::to_integer<unsigned>(at[static_cast<std::ptrdiff_t>(prefixes) + 2]);
      if (operand >> 3 == 0xd8 >> 3)
        found.push_back(section.address + static_cast<std::uint64_t>(at - code.begin()));
    }
  }
  return found;
}

Result<std::shared_ptr<const CodeFile>> CodeFile::open(const std::string& path) {
  const symbols::SymbolOptions options;
  auto found = symbols::BinaryFinder(options).find({.path = path});
  if (found.binary == nullptr)
    return failure(ErrorKind::not_found, "read the code of '" + path + "'", found.why);
  if (!found.binary->is_64bit() || found.binary->machine() != EM_X86_64)
    return failure(ErrorKind::unsupported, "watch calls in '" + path + "'",
                   "it is not a program for x86-64");
  return of(std::move(found.binary), std::move(found.debug));
}

std::shared_ptr<const CodeFile> CodeFile::of(std::shared_ptr<const ElfFile> binary,
                                             std::shared_ptr<const ElfFile> debug) {
  std::shared_ptr<CodeFile> file(new CodeFile());
  file->elf_ = std::move(binary);
  file->debug_ = std::move(debug);
  file->first_code_ = ~std::uint64_t{0};
  for (const ElfSection& section : file->elf_->sections()) {
    if (!section.is_code()) continue;
    file->first_code_ = std::min(file->first_code_, section.address);
    file->last_code_ = std::max(file->last_code_, section.address + section.size);
  }
  file->read_symbols(file->debug_.get());
  file->segment_writes_ = find_segment_writes(*file->elf_);
  file->find_jumps();
  file->find_pointers();
  file->find_relocated_pointers();
  file->find_landing_pads();
  sort_unique(file->pointers_);
  file->targets_.insert(file->targets_.end(), file->pointers_.begin(), file->pointers_.end());
  sort_unique(file->targets_);
  return file;
}

void CodeFile::read_symbols(const ElfFile* debug) {
  std::vector<CodeSymbol> found;
  const auto add = [&](const ElfFile& elf, std::uint32_t type) {
    const auto more = symbols::code_symbols(elf, type);
    found.insert(found.end(), more.begin(), more.end());
  };
  add(*elf_, SHT_DYNSYM);
  add(*elf_, SHT_SYMTAB);
  if (debug != nullptr) add(*debug, SHT_SYMTAB);
  std::stable_sort(found.begin(), found.end(), [](const CodeSymbol& a, const CodeSymbol& b) {
    return a.start != b.start ? a.start < b.start : is_better(a, b);
  });
  for (const CodeSymbol& symbol : found) {
    targets_.push_back(symbol.start);
    names_.push_back({symbol.start, symbol.name});
    if (!functions_.empty() && functions_.back().start == symbol.start) {
      functions_.back().is_resolver = functions_.back().is_resolver || symbol.is_resolver;
      continue;
    }
    if (symbol.size == 0) continue;
    functions_.push_back({symbol.start, symbol.size, symbol.name, symbol.is_resolver});
  }
}

// Every byte that could be the opcode of a jump or call with a displacement of four bytes is taken
// for one: where instructions begin is not known everywhere.
void CodeFile::find_jumps() {
  for (const ElfSection& section : elf_->sections()) {
    if (!section.is_code()) continue;
    const Bytes code = elf_->content(section);
    for (std::size_t at = 0; at + 5 <= code.size(); ++at) {
      const auto opcode = std::to_integer<unsigned>(code[at]);
      const bool is_jump = opcode == 0xe9 || opcode == 0xe8;
      const bool is_conditional =
          (opcode & 0xf0) == 0x80 && at > 0 && code[at - 1] == std::byte{0x0f};
      if (!is_jump && !is_conditional) continue;
      const auto distance =
          static_cast<std::int32_t>(load<std::uint32_t>(code.data() + at + 1, ByteOrder::little));
      const std::uint64_t target =
          section.address + at + 5 + static_cast<std::uint64_t>(std::int64_t{distance});
      if (is_code(target)) targets_.push_back(target);
    }
  }
}

// Words of data that are addresses of code: tables of functions, of labels, of cases.
void CodeFile::find_pointers() {
  for (const ElfSection& section : elf_->sections()) {
    if (!is_loaded(section) || section.is_code() || section.type != SHT_PROGBITS) continue;
    const Bytes data = elf_->content(section);
    for (std::size_t at = (8 - section.address % 8) % 8; at + 8 <= data.size(); at += 8) {
      const auto value = load<std::uint64_t>(data.data() + at, ByteOrder::little);
      if (is_code(value)) pointers_.push_back(value);
    }
  }
}

void CodeFile::find_relocated_pointers() {
  constexpr std::size_t kSize = 24;
  for (const ElfSection& section : elf_->sections()) {
    if (section.type != SHT_RELA || !is_loaded(section)) continue;
    const Bytes table = elf_->content(section);
    for (std::size_t at = 0; at + kSize <= table.size(); at += kSize) {
      const auto addend = load<std::uint64_t>(table.data() + at + 16, ByteOrder::little);
      if (is_code(addend)) pointers_.push_back(addend);
    }
  }
}

std::vector<std::string_view> CodeFile::names_of(const CodeFunction& function) const {
  std::vector<std::string_view> names;
  auto name = std::lower_bound(names_.begin(), names_.end(), function.start,
                               [](const Name& n, std::uint64_t start) { return n.start < start; });
  for (; name != names_.end() && name->start == function.start; ++name) names.push_back(name->text);
  return names;
}

bool CodeFile::is_code(std::uint64_t address) const {
  return address >= first_code_ && address < last_code_;
}

const CodeFunction* CodeFile::function_around(std::uint64_t address) const {
  const auto behind =
      std::upper_bound(functions_.begin(), functions_.end(), address,
                       [](std::uint64_t a, const CodeFunction& f) { return a < f.start; });
  if (behind == functions_.begin() || address >= std::prev(behind)->end()) return nullptr;
  return &*std::prev(behind);
}

const CodeFunction* CodeFile::function_at(std::uint64_t address) const {
  const CodeFunction* found = function_around(address);
  return found != nullptr && found->start == address ? found : nullptr;
}

const CodeFunction* CodeFile::before(const CodeFunction& function) const {
  return &function == functions_.data() ? nullptr : &function - 1;
}

const CodeFunction* CodeFile::behind(const CodeFunction& function) const {
  return &function == &functions_.back() ? nullptr : &function + 1;
}

Bytes CodeFile::bytes_at(std::uint64_t address, bool only_code) const {
  for (const ElfSection& section : elf_->sections()) {
    if (!is_loaded(section) || !section.contains(address) || section.type == SHT_NOBITS) continue;
    if (only_code && !section.is_code()) continue;
    const Bytes content = elf_->content(section);
    const std::uint64_t offset = address - section.address;
    if (offset < content.size()) return content.subspan(static_cast<std::size_t>(offset));
  }
  return {};
}

Bytes CodeFile::code_at(std::uint64_t address) const { return bytes_at(address, true); }
Bytes CodeFile::data_at(std::uint64_t address) const { return bytes_at(address, false); }

bool CodeFile::is_target_within(std::uint64_t first, std::uint64_t last) const {
  return any_within(targets_, first, last);
}

bool CodeFile::is_pointed_at_within(std::uint64_t first, std::uint64_t last) const {
  return any_within(pointers_, first, last);
}

}  // namespace loft::source::calls

#endif
