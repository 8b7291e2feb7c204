// Where names come from when the binary was stripped, moved, replaced or lost.
#include <dlfcn.h>

#include "symbols/elf_file.hpp"
#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

class SymbolFiles : public Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    std::filesystem::copy_file(LOFT_SAMPLE_HIDDEN, at("full"));
    hidden_ = address_by_nm("full", "hidden");
    shown_ = address_by_nm("full", "shown");
    build_id_ = (*ElfFile::open(at("full")))->build_id();
  }

  [[nodiscard]] std::shared_ptr<const SymbolTable> open(const Binary& binary) const {
    return SymbolStore(sealed()).open(binary);
  }

  [[nodiscard]] std::string split_id() const {
    return build_id_.substr(0, 2) + "/" + build_id_.substr(2);
  }

  std::uint64_t hidden_ = 0;
  std::uint64_t shown_ = 0;
  std::string build_id_;
};

TEST_F(SymbolFiles, BuildIdIsTheOneThatReadelfPrints) {
  const std::string notes = run("readelf -n full");
  EXPECT_EQ(build_id_.size(), 40u);
  EXPECT_NE(notes.find("Build ID: " + build_id_), std::string::npos) << notes;
}

TEST_F(SymbolFiles, AStrippedFileStillHasItsExportedNames) {
  run("strip full -o bare");
  const auto table = open({.path = at("bare")});
  EXPECT_EQ(name_at(*table, shown_), "shown");
  EXPECT_EQ(name_at(*table, hidden_), "-");
  EXPECT_FALSE(table->line(shown_));
}

TEST_F(SymbolFiles, DebugLinkLeadsToNamesAndLines) {
  run("objcopy --only-keep-debug full bare.debug && strip full -o bare && "
      "objcopy --add-gnu-debuglink=bare.debug bare");
  const auto table = open({.path = at("bare")});
  EXPECT_EQ(name_at(*table, hidden_), "hidden");
  ASSERT_TRUE(table->line(hidden_));
  EXPECT_EQ(table->why(), "");
  run("mkdir .debug && mv bare.debug .debug/");
  EXPECT_EQ(name_at(*open({.path = at("bare")}), hidden_), "hidden");
}

TEST_F(SymbolFiles, DebugLinkWithAWrongChecksumIsRefused) {
  compile("int main() {}", "-O1 -g -Wl,--build-id=none", "noid");
  run("objcopy --only-keep-debug noid noid.debug && strip noid -o bare && "
      "objcopy --add-gnu-debuglink=noid.debug bare");
  const std::uint64_t main_at = address_by_nm("noid", "main");
  EXPECT_EQ(name_at(*open({.path = at("bare")}), main_at), "main");
  run("printf x >> noid.debug");
  EXPECT_EQ(name_at(*open({.path = at("bare")}), main_at), "-");
}

TEST_F(SymbolFiles, DebugLinkOfAnotherBuildIsRefused) {
  run("strip full -o bare && objcopy --only-keep-debug full other.debug && "
      "objcopy --add-gnu-debuglink=other.debug bare");
  compile("extern \"C\" int hidden(int x) { return x; }\nint main() {}",
          "-O1 -g -Wl,--build-id=sha1", "different");
  run("objcopy --only-keep-debug different other.debug");
  EXPECT_EQ(name_at(*open({.path = at("bare")}), hidden_), "-");
}

TEST_F(SymbolFiles, DebugDirectoryIsSearchedByBuildId) {
  run("mkdir -p debug/.build-id/" + build_id_.substr(0, 2) + " && objcopy --only-keep-debug full " +
      "debug/.build-id/" + split_id() + ".debug && strip full -o bare");
  const auto table = open({.path = at("bare")});
  EXPECT_EQ(name_at(*table, hidden_), "hidden");
  EXPECT_TRUE(table->line(hidden_));
}

TEST_F(SymbolFiles, ADebugFileAloneGivesNamesAndSaysSo) {
  run("mkdir -p debug/.build-id/" + build_id_.substr(0, 2) + " && objcopy --only-keep-debug full " +
      "debug/.build-id/" + split_id() + ".debug");
  const auto table = open({.path = "/nowhere/full", .build_id = build_id_});
  EXPECT_EQ(name_at(*table, table->address_of_offset(hidden_)), "hidden");
  EXPECT_NE(table->why().find("no such file"), std::string::npos) << table->why();
}

// A server is a folder here. The library learns of its cache when it is used for the first time.
TEST_F(SymbolFiles, ServersOfDebuginfodAreAskedWhereTheUserNamesThem) {
  void* library = ::dlopen("libdebuginfod.so.1", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "libdebuginfod is not installed";
  ::dlclose(library);
  run("mkdir -p server/buildid/" + build_id_ +
      " fetched && objcopy --only-keep-debug full server/buildid/" + build_id_ +
      "/debuginfo && cp full server/buildid/" + build_id_ + "/executable && strip full -o bare");
  EXPECT_EQ(name_at(*open({.path = at("bare")}), hidden_), "-") << "nobody named a server";
  ::setenv("DEBUGINFOD_CACHE_PATH", at("fetched").c_str(), 1);
  ::setenv("DEBUGINFOD_URLS", ("file://" + at("server")).c_str(), 1);
  const auto bare = open({.path = at("bare")});
  const auto lost = open({.path = "/nowhere/full", .build_id = build_id_});
  const auto other = open({.path = "/nowhere/full", .build_id = std::string(40, 'b')});
  ::unsetenv("DEBUGINFOD_URLS");
  ::unsetenv("DEBUGINFOD_CACHE_PATH");
  EXPECT_EQ(name_at(*bare, hidden_), "hidden");
  EXPECT_TRUE(bare->line(hidden_));
  EXPECT_EQ(name_at(*lost, hidden_), "hidden");
  EXPECT_NE(other->why().find("no such file"), std::string::npos) << other->why();
}

TEST_F(SymbolFiles, MiniDebugInfoNamesLocalFunctions) {
  if (!has_tool("xz")) GTEST_SKIP() << "xz is not installed";
  run("objcopy --strip-debug full mini && objcopy -S --remove-section .comment "
      "--keep-symbol=hidden mini mini2 && strip full -o bare && xz mini2 && "
      "objcopy --add-section .gnu_debugdata=mini2.xz bare");
  const auto table = open({.path = at("bare")});
  EXPECT_EQ(name_at(*table, hidden_), "hidden");
  EXPECT_EQ(name_at(*table, shown_), "shown");
}

TEST_F(SymbolFiles, AReplacedFileGivesNoNames) {
  const std::string other(40, 'a');
  const auto table = open({.path = at("full"), .build_id = other});
  EXPECT_EQ(name_at(*table, hidden_), "-");
  EXPECT_NE(table->why().find("build id differs"), std::string::npos) << table->why();
  EXPECT_NE(table->why().find(build_id_), std::string::npos) << table->why();
}

TEST_F(SymbolFiles, AFileThatLostItsBuildIdIsNotTrusted) {
  compile("int main() {}", "-Wl,--build-id=none", "noid");
  const auto table = open({.path = at("noid"), .build_id = build_id_});
  EXPECT_EQ(table->symbol_count(), 0u);
  EXPECT_NE(table->why().find("no build id"), std::string::npos) << table->why();
}

TEST_F(SymbolFiles, ABuildIdPaddedWithZerosIsTheSame) {
  EXPECT_TRUE(same_build_id("abcdef12", "abcdef1200000000"));
  EXPECT_FALSE(same_build_id("abcdef12", "abcdef1200000001"));
  EXPECT_FALSE(same_build_id("", ""));
  const auto table = open({.path = at("full"), .build_id = build_id_ + "00000000"});
  EXPECT_EQ(name_at(*table, hidden_), "hidden");
}

TEST_F(SymbolFiles, ALostFileShowsAddressAndBuildId) {
  const auto table = open({.path = "/nowhere/app", .build_id = build_id_});
  EXPECT_EQ(table->why(), "no such file");
  EXPECT_EQ(table->find(0x1234), nullptr);
  EXPECT_EQ(table->describe(table->address_of(0x7f0000001234, 0x7f0000000000, 0x2000)),
            "app+0x3234 [" + build_id_.substr(0, 16) + "]");
}

TEST_F(SymbolFiles, PerfsCacheIsUsedWhenTheFileIsGone) {
  run("mkdir -p cache/.build-id/" + split_id() + " && cp full cache/.build-id/" + split_id() +
      "/elf");
  const auto table = open({.path = "/nowhere/full", .build_id = build_id_});
  EXPECT_EQ(name_at(*table, hidden_), "hidden");
  EXPECT_EQ(table->why(), "");
}

TEST_F(SymbolFiles, SearchPathsAndRootMoveTheSearch) {
  run("mkdir -p elsewhere root/usr/bin && cp full elsewhere/app && cp full root/usr/bin/app2");
  SymbolOptions options = sealed();
  options.search_paths = {at("elsewhere")};
  options.root = SystemRoot(at("root"));
  SymbolStore store(options);
  EXPECT_EQ(name_at(*store.open({.path = "/opt/app"}), hidden_), "hidden");
  EXPECT_EQ(name_at(*store.open({.path = "/usr/bin/app2"}), hidden_), "hidden");
}

TEST_F(SymbolFiles, ADeletedFileNeedsAProof) {
  EXPECT_EQ(open({.path = at("full") + " (deleted)"})->symbol_count(), 0u);
  EXPECT_EQ(name_at(*open({.path = at("full") + " (deleted)", .build_id = build_id_}), hidden_),
            "hidden");
}

TEST_F(SymbolFiles, WhatIsNoFileIsRefusedWithoutWaiting) {
  run("mkfifo pipe");
  EXPECT_EQ(open({.path = at("pipe")})->why(), "no such file");
  EXPECT_EQ(open({.path = folder_})->symbol_count(), 0u);
  EXPECT_EQ(open({.path = "[heap]"})->why(), "memory without a file");
  write("text", "hello");
  EXPECT_EQ(open({.path = at("text")})->why(), "it is not an ELF file");
  EXPECT_EQ(open({.path = "/x", .build_id = "../../../../etc"})->symbol_count(), 0u);
}

TEST_F(SymbolFiles, OneTablePerBinary) {
  SymbolStore store(sealed());
  const auto first = store.open({.path = at("full")});
  EXPECT_EQ(store.open({.path = at("full")}), first);
  EXPECT_NE(store.open({.path = at("full"), .build_id = build_id_}), first);
  EXPECT_EQ(first->find(hidden_), first->find(hidden_ + 1)) << "one Symbol per function";
}

TEST_F(SymbolFiles, TheVdsoOfThisProcessIsNamed) {
  const std::string maps = *read_file("/proc/self/maps");
  if (maps.find("[vdso]") == std::string::npos) GTEST_SKIP() << "no vdso here";
  SymbolOptions options = sealed();
  options.kernel_release = *read_line("/proc/sys/kernel/osrelease");
  const auto table = SymbolStore(options).open({.path = "[vdso]"});
  EXPECT_GT(table->symbol_count(), 0u) << table->why();
  ASSERT_FALSE(table->build_id().empty());
  EXPECT_GT(open({.path = "[vdso]", .build_id = table->build_id()})->symbol_count(), 0u);
  const auto foreign = open({.path = "[vdso]", .build_id = std::string(40, 'b')});
  EXPECT_EQ(foreign->symbol_count(), 0u);
  EXPECT_EQ(foreign->describe(0x9d0), "[vdso]+0x9d0 [bbbbbbbbbbbbbbbb]");
}

}  // namespace
}  // namespace loft::symbols
