#include "symbols/vdso.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "symbols/elf_table.hpp"

namespace loft::symbols {
namespace {

// A copy of the vdso that this process has.
std::shared_ptr<const ElfFile> own_vdso() {
  const auto maps = read_file("/proc/self/maps");
  if (!maps) return nullptr;
  for (const std::string_view line : split(*maps, '\n')) {
    if (!line.ends_with("[vdso]")) continue;
    const std::size_t dash = line.find('-');
    const std::size_t blank = line.find(' ');
    if (dash == std::string_view::npos || blank == std::string_view::npos || blank < dash) continue;
    const auto start = parse_hex(line.substr(0, dash));
    const auto end = parse_hex(line.substr(dash + 1, blank - dash - 1));
    if (!start || !end || *end <= *start) continue;
    const auto* bytes = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(*start));
    auto elf = ElfFile::of_bytes(std::vector<std::byte>(bytes, bytes + (*end - *start)), "[vdso]");
    return elf ? *elf : nullptr;
  }
  return nullptr;
}

bool is_own_release(const SymbolOptions& options) {
  const auto release = read_line("/proc/sys/kernel/osrelease");
  return release && *release == options.kernel_release;
}

}  // namespace

SymbolTable::Parts read_vdso(const Binary& binary, const SymbolOptions& options) {
  SymbolTable::Parts parts{.binary = binary};
  FoundFiles found;
  const std::string cached = BinaryFinder(options).in_cache(binary.build_id, "vdso");
  if (!cached.empty()) {
    if (auto elf = ElfFile::open(cached); elf && same_build_id((*elf)->build_id(), binary.build_id))
      found.binary = *elf;
  }
  if (found.binary == nullptr && options.root.is_live()) {
    const auto own = own_vdso();
    const bool is_recorded =
        own != nullptr &&
        (binary.build_id.empty() ? is_own_release(options)
                                 : same_build_id(own->build_id(), binary.build_id));
    if (is_recorded) found.binary = own;
  }
  if (found.binary == nullptr) found.why = "the recorded vdso is not this kernel's";
  fill_from_elf(found, options, parts);
  return parts;
}

}  // namespace loft::symbols
