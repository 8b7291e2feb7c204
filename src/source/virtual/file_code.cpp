#include "source/virtual/file_code.hpp"

#include <algorithm>

#include "symbols/elf_file.hpp"
#ifdef LOFT_HAS_ENGINE
#include "engine/classify/disassemble.hpp"
#endif

namespace loft::source::virtual_pmu {
namespace {

constexpr std::uint64_t kMostBytesOfCode = 1u << 20;

Failure not_listed(const std::string& path, std::string why) {
  return failure(ErrorKind::unsupported, "list the code of '" + path + "'", std::move(why));
}

// The bytes of a loaded segment, as far as the file has them.
Bytes bytes_at(const symbols::ElfFile& file, std::uint64_t start, std::uint64_t end) {
  for (const symbols::ElfSegment& segment : file.segments()) {
    if (segment.type != PT_LOAD || start < segment.address ||
        start - segment.address >= segment.file_size)
      continue;
    const std::uint64_t inside = start - segment.address;
    const std::uint64_t length =
        std::min({end - start, segment.file_size - inside, kMostBytesOfCode});
    const Bytes all = file.bytes();
    if (segment.offset > all.size() || inside > all.size() - segment.offset) return {};
    const std::uint64_t at = segment.offset + inside;
    return all.subspan(at, std::min<std::uint64_t>(length, all.size() - at));
  }
  return {};
}

}  // namespace

Result<std::vector<FileInstruction>> code_in_file(const std::string& path,
                                                  const std::string& build_id, std::uint64_t start,
                                                  std::uint64_t end) {
  if (!path.starts_with('/')) return not_listed(path, "it is no file");
  if (end <= start) return not_listed(path, "where it ends is not known");
  LOFT_TRY(const auto file, symbols::ElfFile::open(path));
  if (!build_id.empty() && !symbols::same_build_id(build_id, file->build_id()))
    return not_listed(path, "it was replaced since: its build id is not the recorded one");
  const Bytes bytes = bytes_at(*file, start, end);
  if (bytes.empty()) return not_listed(path, "the file has no bytes there");
#ifdef LOFT_HAS_ENGINE
  if (file->machine() != EM_X86_64 || !file->is_64bit())
    return not_listed(path, "only code of x86-64 is disassembled");
  std::vector<FileInstruction> code;
  for (auto& each : engine::disassemble(bytes, start))
    code.push_back({each.address, each.length, std::move(each.text), each.target});
  return code;
#else
  return not_listed(path, "loft was built without its disassembler, which exists for x86-64 alone");
#endif
}

}  // namespace loft::source::virtual_pmu
