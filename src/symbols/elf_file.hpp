// An ELF file as its headers describe it, of any class and byte order, checked against its bytes.
//
//   LOFT_TRY(const auto elf, ElfFile::open("/usr/bin/app"));
//   if (const ElfSection* text = elf->section(".text")) use(elf->content(*text));
//
// What a header claims beyond the end of the file is not there: content() is empty then.
#pragma once

#include <elf.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "base/mapping.hpp"
#include "base/result.hpp"

namespace loft::symbols {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint64_t entry_size = 0;

  [[nodiscard]] bool is_code() const { return (flags & SHF_EXECINSTR) != 0; }
  [[nodiscard]] bool contains(std::uint64_t where) const {
    return where >= address && where - address < size;
  }
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
};

struct DebugLink {
  std::string name;
  std::uint32_t crc = 0;
};

struct AlternateLink {
  std::string path;
  std::string build_id;
};

class ElfFile {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const ElfFile>> open(const std::string& path);

  // Takes over bytes that are in no file: unpacked minidebuginfo, a copy of the vdso.
  [[nodiscard]] static Result<std::shared_ptr<const ElfFile>> of_bytes(std::vector<std::byte> bytes,
                                                                       std::string name);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] bool is_64bit() const { return is_64bit_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] std::uint16_t type() const { return type_; }        // ET_EXEC, ET_DYN, ET_REL
  [[nodiscard]] std::uint16_t machine() const { return machine_; }  // EM_X86_64, ...
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }

  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSection* section_of_type(std::uint32_t type) const;

  // As stored; empty for SHT_NOBITS and for what lies outside of the file.
  [[nodiscard]] Bytes content(const ElfSection& section) const;

  // Unpacked where it is compressed (SHF_COMPRESSED, .zdebug_*); kept, so that views stay good.
  [[nodiscard]] Bytes unpacked(std::string_view name) const;

  [[nodiscard]] const std::string& build_id() const { return build_id_; }  // hexadecimal, or empty
  [[nodiscard]] std::optional<DebugLink> debug_link() const;
  [[nodiscard]] std::optional<AlternateLink> alternate_link() const;

  // Through the loaded segments, see SymbolTable::address_of_offset.
  [[nodiscard]] std::optional<std::uint64_t> address_of_offset(std::uint64_t offset) const;

  // False for a debug file, which has only what was stripped from the binary.
  [[nodiscard]] bool has_code() const { return has_code_; }

 private:
  ElfFile() = default;
  Result<void> parse();
  Result<void> parse_sections(std::uint64_t offset, std::size_t entry_size, std::uint64_t count,
                              std::uint32_t names);
  void parse_segments(std::uint64_t offset, std::size_t entry_size, std::uint64_t count);
  ElfSection read_section(ByteReader in, std::uint32_t& name) const;
  ElfSegment read_segment(ByteReader in) const;
  void find_build_id();
  [[nodiscard]] std::optional<std::uint64_t> address_in_debug_file(std::uint64_t offset) const;

  std::string path_;
  Mapping mapping_;
  std::vector<std::byte> own_;
  Bytes bytes_;
  bool is_64bit_ = true;
  ByteOrder order_ = ByteOrder::little;
  std::uint16_t type_ = 0;
  std::uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::string build_id_;
  bool has_code_ = false;

  mutable std::mutex unpack_mutex_;
  mutable std::unordered_map<std::string, std::vector<std::byte>> unpacked_;
};

// The build id in a block of ELF notes, as hexadecimal digits; empty when there is none.
std::string build_id_in_notes(Bytes notes, ByteOrder order);

// Whether two build ids mean the same file. A recording may pad one with zeros.
bool same_build_id(std::string_view left, std::string_view right);

}  // namespace loft::symbols
