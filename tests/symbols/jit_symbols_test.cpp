// Code that a program made while it ran.
#include <unistd.h>

#include "symbols/symbol_array.hpp"
#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

// Builds a jitdump, byte by byte, in either byte order.
class JitdumpBuilder {
 public:
  explicit JitdumpBuilder(bool big_endian) : big_endian_(big_endian) {
    u32(0x4a695444).u32(1).u32(40).u32(62).u32(0).u32(42).u64(0).u64(0);
  }

  JitdumpBuilder& load(std::uint64_t address, std::uint64_t size, std::string_view name) {
    record(0, 40 + name.size() + 1 + size);
    u32(42).u32(42).u64(address).u64(address).u64(size).u64(0).text(name);
    bytes_.append(size, '\x90');
    return *this;
  }

  JitdumpBuilder& move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
    record(1, 48);
    return u32(42).u32(42).u64(from).u64(from).u64(to).u64(size).u64(0);
  }

  JitdumpBuilder& line(std::uint64_t code, std::uint64_t address, std::uint32_t line,
                       std::string_view file) {
    record(2, 16 + 16 + file.size() + 1);
    return u64(code).u64(1).u64(address).u32(line).u32(0).text(file);
  }

  JitdumpBuilder& text(std::string_view value) {
    bytes_.append(value).push_back('\0');
    return *this;
  }
  JitdumpBuilder& u32(std::uint64_t value) { return number(value, 4); }
  JitdumpBuilder& u64(std::uint64_t value) { return number(value, 8); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void record(std::uint32_t kind, std::size_t body) { u32(kind).u32(16 + body).u64(0); }
  JitdumpBuilder& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes_.push_back(static_cast<char>(value >> 8 * (big_endian_ ? size - 1 - i : i)));
    return *this;
  }

  bool big_endian_;
  std::string bytes_;
};

class Jit : public Workshop {
 protected:
  [[nodiscard]] std::shared_ptr<const SymbolTable> open(const std::string& name) const {
    return SymbolStore(sealed()).open({.path = at(name)});
  }
};

TEST_F(Jit, APerfMapNamesItsCode) {
  write("perf-42.map",
        "7f0000001000 40 LazyCompile:*sort app.js:12\n"
        "0x7f0000001040 0x10 Stub\n"
        "nonsense\n\n7f00 1\nffffffffffffffff 10 wraps\n");
  const auto table = open("perf-42.map");
  EXPECT_TRUE(table->is_absolute());
  EXPECT_EQ(name_at(*table, 0x7f000000103f), "LazyCompile:*sort app.js:12");
  EXPECT_EQ(name_at(*table, 0x7f0000001040), "Stub");
  EXPECT_EQ(name_at(*table, 0x7f0000001050), "-");
  EXPECT_EQ(table->symbol_count(), 2u);
}

TEST_F(Jit, ANameThatNeverEndsIsCut) {
  write("perf-42.map", "1000 40 " + std::string(1 << 20, 'n') + "\n2000 10 after\n");
  const auto table = open("perf-42.map");
  EXPECT_EQ(name_at(*table, 0x1000), std::string(SymbolArray::Builder::kLongestName, 'n'));
  EXPECT_EQ(name_at(*table, 0x2000), "after");
}

TEST_F(Jit, NewCodeTakesThePlaceOfOld) {
  write("perf-42.map", "1000 100 old\n1080 10 newer\n2000 10 a\n2000 20 b\n");
  const auto table = open("perf-42.map");
  EXPECT_EQ(name_at(*table, 0x1085), "newer");
  EXPECT_EQ(name_at(*table, 0x1010), "-") << "what is left of the old code is dead";
  EXPECT_EQ(name_at(*table, 0x2015), "b");
}

TEST_F(Jit, AProcessIsAskedByItsNumber) {
  write("root/tmp/perf-4711.map", "1000 10 made_here\n");
  SymbolOptions options = sealed();
  options.root = SystemRoot(at("root"));
  SymbolStore store(options);
  EXPECT_EQ(name_at(*store.open_jit(4711, ""), 0x1008), "made_here");
  EXPECT_EQ(store.open_jit(4712, "")->why(), "no such file");
}

TEST_F(Jit, ADumpIsAskedBeforeTheMapUnlessItIsEmpty) {
  write("root/tmp/perf-4711.map", "1000 10 of_the_map\n");
  JitdumpBuilder dump(false);
  write("root/tmp/jit-1.dump", dump.bytes());
  dump.load(0x1000, 0x20, "of_the_dump");
  write("root/tmp/jit-4711.dump", dump.bytes());
  SymbolOptions options = sealed();
  options.root = SystemRoot(at("root"));
  SymbolStore store(options);
  EXPECT_EQ(name_at(*store.open_jit(4711, "/tmp/jit-4711.dump"), 0x1008), "of_the_dump");
  EXPECT_EQ(name_at(*store.open_jit(4711, "/tmp/jit-1.dump"), 0x1008), "of_the_map");
  EXPECT_EQ(name_at(*store.open_jit(4711, "/tmp/gone/jit-2.dump"), 0x1008), "of_the_map");
}

TEST_F(Jit, AMapOfAnotherUserIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write("perf-42.map", "1000 10 lie\n");
  ASSERT_EQ(::chown(at("perf-42.map").c_str(), 12345, 12345), 0);
  const auto table = open("perf-42.map");
  EXPECT_EQ(table->symbol_count(), 0u);
  EXPECT_NE(table->why().find("another user"), std::string::npos);
}

class Jitdump : public Jit, public testing::WithParamInterface<bool> {};

TEST_P(Jitdump, LoadsMovesAndLinesAreRead) {
  JitdumpBuilder dump(GetParam());
  dump.line(0x1000, 0x1008, 12, "app.js").load(0x1000, 0x20, "first");
  dump.load(0x2000, 0x10, "second").move(0x2000, 0x3000, 0x10);
  write("jit-42.dump", dump.bytes());
  const auto table = open("jit-42.dump");
  EXPECT_EQ(name_at(*table, 0x1010), "first");
  EXPECT_EQ(name_at(*table, 0x2000), "-");
  EXPECT_EQ(name_at(*table, 0x3008), "second");
  EXPECT_EQ(table->line(0x1010), (SourceLine{"app.js", 12}));
  EXPECT_FALSE(table->line(0x1004)) << "before the first row";
  EXPECT_FALSE(table->line(0x3008)) << "behind the code that has rows";
}

INSTANTIATE_TEST_SUITE_P(ByteOrders, Jitdump, testing::Bool());

TEST_F(Jit, ACutDumpIsReadUpToTheCut) {
  JitdumpBuilder dump(false);
  dump.load(0x1000, 0x20, "first").load(0x2000, 0x20, "second");
  for (std::size_t size = 0; size < dump.bytes().size(); ++size) {
    write("jit-42.dump", dump.bytes().substr(0, size));
    const auto table = open("jit-42.dump");
    EXPECT_EQ(table->find(0x2000), nullptr) << size;
    EXPECT_FALSE(table->symbol_count() == 0 && table->why().empty()) << size;
  }
}

}  // namespace
}  // namespace loft::symbols
