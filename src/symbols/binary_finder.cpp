#include "symbols/binary_finder.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <cstdlib>

#include "base/file.hpp"
#include "symbols/debuginfod.hpp"

namespace loft::symbols {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string cache_folder(const SymbolOptions& options) {
  if (!options.build_id_cache.empty()) return options.build_id_cache;
  if (const char* folder = std::getenv("PERF_BUILDID_DIR"); folder != nullptr && *folder != '\0')
    return folder;
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string() : join_path(home, ".debug");
}

// "3fa9c0de" gives "3f/a9c0de". Empty for what is no build id: it becomes part of a path.
std::string split_build_id(const std::string& id) {
  if (id.size() < 4 || id.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  return id.substr(0, 2) + "/" + id.substr(2);
}

std::uint32_t checksum(Bytes bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                              static_cast<z_size_t>(bytes.size())));
}

bool has_all(const ElfFile& elf, bool debug_info) {
  return elf.section_of_type(SHT_SYMTAB) != nullptr &&
         (!debug_info || elf.section(".debug_info") != nullptr ||
          elf.section(".zdebug_info") != nullptr);
}

std::shared_ptr<const ElfFile> fetch(const std::string& build_id, Fetched what) {
  const std::string path = fetch_by_build_id(build_id, what);
  if (path.empty()) return nullptr;
  const auto elf = ElfFile::open(path);
  return elf && same_build_id((*elf)->build_id(), build_id) ? *elf : nullptr;
}

}  // namespace

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string BinaryFinder::in_cache(const std::string& build_id, const std::string& kind) const {
  const std::string folder = cache_folder(options_);
  const std::string tail = split_build_id(build_id);
  if (folder.empty() || tail.empty()) return {};
  const std::string entry = join_path(folder, ".build-id/" + tail);
  if (is_regular_file(join_path(entry, kind))) return join_path(entry, kind);
  // Before 4.15, perf linked the build id to the file itself.
  if (kind != "debug" && is_regular_file(entry)) return entry;
  return {};
}

std::vector<std::string> BinaryFinder::by_build_id(const std::string& build_id) const {
  std::vector<std::string> paths;
  const std::string tail = split_build_id(build_id);
  if (tail.empty()) return paths;
  for (const std::string& folder : options_.debug_directories)
    paths.push_back(join_path(options_.root.at(folder), ".build-id/" + tail + ".debug"));
  return paths;
}

FoundFiles BinaryFinder::find(const Binary& binary) const {
  FoundFiles found;
  std::string path = binary.path;
  const bool was_deleted = path.ends_with(kDeleted);
  if (was_deleted) path.resize(path.size() - kDeleted.size());
  if (was_deleted && binary.build_id.empty()) {
    found.why = "the file was deleted while it ran, and no build id was recorded";
    return found;
  }
  std::vector<std::string> candidates;
  for (const std::string& folder : options_.search_paths) {
    candidates.push_back(join_path(folder, path));
    candidates.push_back(join_path(folder, path.substr(path.rfind('/') + 1)));
  }
  candidates.push_back(options_.root.at(path));
  if (std::string cached = in_cache(binary.build_id, "elf"); !cached.empty())
    candidates.push_back(std::move(cached));

  std::string replaced;
  for (const std::string& candidate : candidates) {
    if (!is_regular_file(candidate)) continue;
    auto elf = ElfFile::open(candidate);
    if (!elf) {
      found.why = elf.error().why;
    } else if (!binary.build_id.empty() && !same_build_id((*elf)->build_id(), binary.build_id)) {
      replaced = (*elf)->build_id().empty()
                     ? "the file has no build id, recorded was " + binary.build_id
                     : "build id differs: recorded " + binary.build_id + ", the file has " +
                           (*elf)->build_id();
    } else {
      found.binary = std::move(*elf);
      found.why.clear();
      break;
    }
  }
  if (found.binary == nullptr) found.binary = fetch(binary.build_id, Fetched::executable);
  if (found.binary != nullptr) found.why.clear();
  if (found.binary == nullptr && !replaced.empty()) found.why = replaced;
  if (found.binary == nullptr && found.why.empty()) found.why = "no such file";
  found.debug = find_debug(found.binary.get(), binary.build_id, path);
  return found;
}

std::shared_ptr<const ElfFile> BinaryFinder::find_debug(const ElfFile* binary,
                                                        const std::string& build_id,
                                                        const std::string& path) const {
  if (binary != nullptr && has_all(*binary, options_.debug_info)) return nullptr;
  const std::string id = binary != nullptr ? binary->build_id() : build_id;
  std::vector<std::string> candidates = by_build_id(id);
  if (std::string cached = in_cache(id, "debug"); !cached.empty())
    candidates.push_back(std::move(cached));
  for (const std::string& candidate : candidates) {
    if (!is_regular_file(candidate)) continue;
    if (auto elf = ElfFile::open(candidate); elf && same_build_id((*elf)->build_id(), id))
      return *elf;
  }
  if (binary != nullptr)
    if (auto linked = by_debug_link(*binary, path)) return linked;
  return fetch(id, Fetched::debug_file);
}

std::shared_ptr<const ElfFile> BinaryFinder::by_debug_link(const ElfFile& binary,
                                                           const std::string& path) const {
  const auto link = binary.debug_link();
  if (!link) return nullptr;
  const std::string beside = folder_of(binary.path());
  std::vector<std::string> candidates = {join_path(beside, link->name),
                                         join_path(beside, ".debug/" + link->name)};
  for (const std::string& folder : options_.debug_directories) {
    const std::string below = join_path(options_.root.at(folder), folder_of(path));
    candidates.push_back(join_path(below, link->name));
  }
  for (const std::string& candidate : candidates) {
    if (candidate == binary.path() || !is_regular_file(candidate)) continue;
    auto elf = ElfFile::open(candidate);
    if (!elf) continue;
    const bool is_proven = binary.build_id().empty() || (*elf)->build_id().empty()
                               ? checksum((*elf)->bytes()) == link->crc
                               : same_build_id((*elf)->build_id(), binary.build_id());
    if (is_proven) return *elf;
  }
  return nullptr;
}

std::shared_ptr<const ElfFile> BinaryFinder::find_alternate(const ElfFile& debug) const {
  const auto link = debug.alternate_link();
  if (!link) return nullptr;
  std::vector<std::string> candidates = by_build_id(link->build_id);
  candidates.push_back(link->path.starts_with('/')
                           ? options_.root.at(link->path)
                           : join_path(folder_of(debug.path()), link->path));
  for (const std::string& candidate : candidates) {
    if (!is_regular_file(candidate)) continue;
    if (auto elf = ElfFile::open(candidate);
        elf && same_build_id((*elf)->build_id(), link->build_id))
      return *elf;
  }
  return fetch(link->build_id, Fetched::debug_file);
}

}  // namespace loft::symbols
