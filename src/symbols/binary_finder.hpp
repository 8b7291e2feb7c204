// Looks for the file that was recorded and for the debug file that belongs to it.
//
// Both are proven: by build id where the recording or the files have one, by checksum where a
// binary names its debug file. What cannot be proven is not used.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/places.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/symbol_store.hpp"

namespace loft::symbols {

struct FoundFiles {
  std::shared_ptr<const ElfFile> binary;  // null when it was not found or was replaced
  std::shared_ptr<const ElfFile> debug;   // null when there is none, or none is needed
  std::string why;                        // why there is no binary
};

class BinaryFinder {
 public:
  explicit BinaryFinder(const SymbolOptions& options) : options_(options) {}

  [[nodiscard]] FoundFiles find(const Binary& binary) const;

  // The file that dwz moved shared debug information to; null when there is none.
  [[nodiscard]] std::shared_ptr<const ElfFile> find_alternate(const ElfFile& debug) const;

  // What perf's cache holds under a build id: `kind` is "elf", "debug", "kallsyms" or "vdso".
  // Empty when it holds nothing of the kind.
  [[nodiscard]] std::string in_cache(const std::string& build_id, const std::string& kind) const;

  // DIR/.build-id/3f/a9c0de.debug in every debug directory.
  [[nodiscard]] std::vector<std::string> by_build_id(const std::string& build_id) const;

 private:
  [[nodiscard]] std::shared_ptr<const ElfFile> find_debug(const ElfFile* binary,
                                                          const std::string& build_id,
                                                          const std::string& path) const;
  [[nodiscard]] std::shared_ptr<const ElfFile> by_debug_link(const ElfFile& binary,
                                                             const std::string& path) const;

  const SymbolOptions& options_;
};

// A file that can be opened without waiting for somebody, as a pipe would.
bool is_regular_file(const std::string& path);

}  // namespace loft::symbols
