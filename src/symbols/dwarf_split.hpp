// Split DWARF (-gsplit-dwarf): a unit's entries are not in the program but in a .dwo file beside
// the object, or in one .dwp file beside the program; the program keeps a skeleton with the
// addresses.
//
//   const DwarfSplit split(*elf, options);
//   if (const auto unit = split.find(reader, skeleton)) walk(unit->reader());
//
// A file is taken only when its id is the one that the skeleton names.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "symbols/dwarf_reader.hpp"
#include "symbols/symbol_store.hpp"

namespace loft::symbols {

class SplitUnit {
 public:
  SplitUnit(std::shared_ptr<const ElfFile> file, const DwarfSections& sections,
            const SkeletonBases& bases)
      : file_(std::move(file)), reader_(sections, nullptr, bases) {}

  [[nodiscard]] const DwarfReader& reader() const { return reader_; }
  // Null when it has no unit with this id.
  [[nodiscard]] const DwarfUnit* unit_with(std::uint64_t id) const;

 private:
  std::shared_ptr<const ElfFile> file_;  // keeps the bytes
  DwarfReader reader_;
};

class DwarfSplit {
 public:
  DwarfSplit(const ElfFile& elf, const SymbolOptions& options)
      : program_(elf.path()), root_(options.root), search_paths_(options.search_paths) {}

  // What the skeleton stands for; null when it is no skeleton or its file was not found. Safe for
  // several threads.
  [[nodiscard]] std::shared_ptr<const SplitUnit> find(const DwarfReader& reader,
                                                      const DwarfUnit& skeleton) const;

 private:
  [[nodiscard]] std::shared_ptr<const ElfFile> package() const;
  [[nodiscard]] std::vector<std::string> places_of(const std::string& folder,
                                                   const std::string& name) const;

  std::string program_;
  SystemRoot root_;
  std::vector<std::string> search_paths_;
  mutable std::once_flag package_once_;
  mutable std::shared_ptr<const ElfFile> package_;  // the .dwp
};

}  // namespace loft::symbols
