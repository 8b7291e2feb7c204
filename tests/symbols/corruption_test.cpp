// Files that lie: whatever their bytes say, nothing is read outside of them and every question
// ends.
#include "symbols/binary_finder.hpp"
#include "symbols/dwarf_info.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/elf_table.hpp"
#include "symbols/interrogation.hpp"
#include "symbols/unwind_table.hpp"
#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

class Corruption : public Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    // Small, and with all that is read: symbols, PLT, lines, inlined calls, unwind tables.
    compile(
        "#include <cstdio>\nstatic inline __attribute__((always_inline)) int in(int x) { return x "
        "* 3; }\nint out(int x) { if (x) std::puts(\"a\"); return in(x) + in(x + 1); }\n"
        "int main(int c, char**) { return out(c); }",
        "-O1 -g -gz=none", "program");
    const auto content = read_file(at("program"));
    ASSERT_TRUE(content);
    const auto bytes = std::as_bytes(std::span(*content));
    bytes_.assign(bytes.begin(), bytes.end());
  }

  std::uint64_t random() {
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return seed_ >> 16;
  }

  std::vector<std::byte> bytes_;
  std::uint64_t seed_ = 42;
};

TEST_F(Corruption, FlippedBytesAreSurvived) {
  for (int round = 0; round < 1500; ++round) {
    auto broken = bytes_;
    const std::uint64_t flips = 1 + random() % 16;
    for (std::uint64_t i = 0; i < flips; ++i)
      broken[static_cast<std::size_t>(random() % broken.size())] = static_cast<std::byte>(random());
    interrogate(std::move(broken));
  }
}

// Bytes at random mostly hit code. What headers and debug sections claim is hit here.
TEST_F(Corruption, FlippedBytesOfTheTablesAreSurvived) {
  const auto elf = ElfFile::of_bytes(bytes_, "whole");
  ASSERT_TRUE(elf);
  for (const ElfSection& section : (*elf)->sections()) {
    const bool is_read = section.name.starts_with(".debug") || section.name.starts_with(".rela") ||
                         section.name == ".eh_frame" || section.name == ".symtab" ||
                         section.name == ".dynsym";
    const std::size_t size = (*elf)->content(section).size();
    if (!is_read || size == 0) continue;
    for (int round = 0; round < 120; ++round) {
      auto broken = bytes_;
      for (int i = 0; i < 4; ++i) {
        constexpr std::array<unsigned char, 6> kNasty = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
        const auto at = static_cast<std::size_t>(section.offset + random() % size);
        broken[at] = round % 2 == 0 ? static_cast<std::byte>(random())
                                    : static_cast<std::byte>(kNasty[random() % kNasty.size()]);
      }
      interrogate(std::move(broken));
    }
  }
}

TEST_F(Corruption, FilesCutAnywhereAreSurvived) {
  for (std::size_t size = 0; size < bytes_.size(); size += 1 + size / 16)
    interrogate({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size)});
}

TEST_F(Corruption, HeadersWithEveryValueAreSurvived) {
  for (std::size_t at = 0; at < 64; ++at) {
    for (const unsigned value : {0x00u, 0x01u, 0x40u, 0x7fu, 0x80u, 0xffu}) {
      auto broken = bytes_;
      broken[at] = static_cast<std::byte>(value);
      interrogate(std::move(broken));
    }
  }
}

TEST_F(Corruption, TheWholeFileIsAnswered) {
  // Were this 0, the tests above would prove nothing.
  EXPECT_GT(interrogate(bytes_), 50u);
}

TEST(BuildIdNotes, LiesAboutSizesGiveNothing) {
  const auto in = [](std::string_view notes) {
    return build_id_in_notes(std::as_bytes(std::span(notes)), ByteOrder::little);
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(in("\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xab\xcd"sv), "abcd");
  EXPECT_EQ(in("\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xab"sv), "");
  EXPECT_EQ(in("\xff\xff\xff\xff\2\0\0\0\3\0\0\0GNU\0\xab\xcd"sv), "");
  EXPECT_EQ(in("\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0\xab\xcd"sv), "");
  EXPECT_EQ(in("\4\0\0\0\0\0\0\0\3\0\0\0GNU\0"sv), "");
  EXPECT_EQ(in("\4\0\0\0\2\0\0\0\3\0\0\0CPU\0\xab\xcd"sv), "");
  EXPECT_EQ(in("\4\0\0\0\1\0\0\0\1\0\0\0GNU\0\xff\0\0\0\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\x12\x34"sv),
            "1234")
      << "behind another note";
}

}  // namespace
}  // namespace loft::symbols
