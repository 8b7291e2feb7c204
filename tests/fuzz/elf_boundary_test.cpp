// Binaries that are wrong where a reader does not expect it: every field of the header, of every
// section and of every segment has other values, two neighbours are exchanged, and the file is cut
// where a section begins or ends.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "base/file.hpp"
#include "fuzz/targets.hpp"

namespace loft::fuzz {
namespace {

struct Field {
  std::size_t at = 0;  // in the file, or in an entry of a table
  std::size_t size = 0;
};

// Where the numbers of an ELF file are. Those of the corpus are all little-endian.
class ElfFile {
 public:
  explicit ElfFile(std::string bytes) : bytes_(std::move(bytes)) {
    const bool is_long = bytes_[4] == 2;
    word_ = is_long ? 8 : 4;
    segments_ = table(is_long ? 32 : 28, is_long ? 54 : 42);
    sections_ = table(is_long ? 40 : 32, is_long ? 58 : 46);
  }

  using Try = std::function<void(const std::string&)>;

  void with_other_values(const Try& attempt) const {
    for (const Field& field : header_fields()) change(field, attempt);
    for (const Table& table : {segments_, sections_})
      for (std::size_t i = 0; i < table.count; ++i)
        for (const Field& field : entry_fields(table))
          change({table.at + i * table.entry + field.at, field.size}, attempt);
  }

  void with_neighbours_exchanged(const Try& attempt) const {
    for (const Table& table : {segments_, sections_})
      for (std::size_t i = 0; i + 1 < table.count; ++i) {
        const std::size_t at = table.at + i * table.entry;
        std::string bytes = bytes_;
        bytes.replace(at, table.entry, bytes_, at + table.entry, table.entry);
        attempt(bytes);  // the second one is there twice
        bytes.replace(at + table.entry, table.entry, bytes_, at, table.entry);
        attempt(bytes);
      }
  }

  void cut_at_sections(const Try& attempt) const {
    for (std::size_t i = 0; i < sections_.count; ++i) {
      const std::size_t entry = sections_.at + i * sections_.entry;
      const std::size_t offset = number({entry + 8 + 2 * word_, word_});
      const std::size_t size = number({entry + 8 + 3 * word_, word_});
      for (const std::size_t at : {offset, offset + 1, offset + size - 1, offset + size, entry})
        if (at < bytes_.size()) attempt(bytes_.substr(0, at));
    }
  }

 private:
  struct Table {
    std::size_t at = 0;
    std::size_t entry = 0;
    std::size_t count = 0;
  };

  [[nodiscard]] std::size_t number(const Field& field) const {
    std::uint64_t value = 0;
    if (field.at + field.size <= bytes_.size())
      std::memcpy(&value, bytes_.data() + field.at, field.size);
    return value;
  }

  [[nodiscard]] Table table(std::size_t offset_at, std::size_t entry_at) const {
    Table found{number({offset_at, word_}), number({entry_at, 2}), number({entry_at + 2, 2})};
    const bool fits = found.at + found.entry * found.count <= bytes_.size();
    EXPECT_TRUE(fits) << "the corpus has whole files";
    return fits ? found : Table{};
  }

  // Behind the identification: type, machine, version, entry, the tables, flags, then their sizes.
  [[nodiscard]] std::vector<Field> header_fields() const {
    std::vector<Field> fields{{4, 1}, {5, 1}, {16, 2}, {18, 2}, {20, 4}};
    std::size_t at = 24;
    for (int i = 0; i < 3; ++i, at += word_) fields.push_back({at, word_});
    fields.push_back({at, 4});
    for (at += 4; at < 24 + 3 * word_ + 16; at += 2) fields.push_back({at, 2});
    return fields;
  }

  // By words, which is what offsets, sizes, addresses and links are.
  [[nodiscard]] std::vector<Field> entry_fields(const Table& table) const {
    std::vector<Field> fields{{0, 4}, {4, 4}};
    for (std::size_t at = 8; at + word_ <= table.entry; at += word_) fields.push_back({at, word_});
    for (std::size_t at = 8; at + 8 <= table.entry && word_ == 8; at += 8)
      fields.push_back({at + 4, 4});  // the link and the information of a section
    return fields;
  }

  void change(const Field& field, const Try& attempt) const {
    const std::uint64_t before = number(field);
    const std::array<std::uint64_t, 6> others{
        0, before + 1, before * 2, bytes_.size(), bytes_.size() - 1, ~std::uint64_t{0}};
    for (const std::uint64_t value : others) {
      std::string bytes = bytes_;
      std::memcpy(bytes.data() + field.at, &value, field.size);
      attempt(bytes);
    }
  }

  std::string bytes_;
  std::size_t word_ = 0;
  Table segments_, sections_;
};

TEST(ElfBoundaries, AnyFieldMayBeWrong) {
  const std::string folder = LOFT_SOURCE_DIR "/tests/fuzz/corpus/elf";
  const auto names = list_directory(folder);
  ASSERT_TRUE(names);
  std::size_t tried = 0;
  const auto attempt = [&](const std::string& bytes) {
    ++tried;
    fuzz_elf({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  };
  for (const std::string& name : *names) {
    const auto text = read_file(join_path(folder, name));
    ASSERT_TRUE(text) << name;
    ASSERT_GE(text->size(), 64u) << name;
    SCOPED_TRACE(name);
    const ElfFile file(*text);
    file.with_other_values(attempt);
    file.with_neighbours_exchanged(attempt);
    file.cut_at_sections(attempt);
  }
  EXPECT_GT(tried, names->size() * 500);
}

}  // namespace
}  // namespace loft::fuzz
