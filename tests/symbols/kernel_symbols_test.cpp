// The kernel's names, at the addresses of the recording.
#include "symbols/kernel_symbols.hpp"
#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

constexpr const char* kKallsyms =
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000100 t helper\n"
    "ffffffff81000100 T __do_work\n"
    "ffffffff81000100 T do_work\n"
    "ffffffff81000200 D some_data\n"
    "ffffffff81000300 T schedule\n"
    "0000000000000000 A per_cpu_start\n"
    "ffffffffc0001000 t init_module\t[nf_tables]\n"
    "ffffffffc0001080 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0100000 t other\t[other_module]\n";

class Kernel : public Workshop {
 protected:
  [[nodiscard]] SymbolOptions machine(const std::string& kallsyms,
                                      const std::string& release) const {
    write("root/proc/kallsyms", kallsyms);
    write("root/proc/sys/kernel/osrelease", release + "\n");
    SymbolOptions options = sealed();
    options.root = SystemRoot(at("root"));
    options.kernel_release = "6.1.0-test";
    return options;
  }

  static Binary kernel(std::uint64_t text = 0xffffffff81000000) {
    return {.path = "[kernel.kallsyms]_text", .is_kernel = true, .kernel_text = text};
  }
};

TEST_F(Kernel, TheRecordingsOwnKallsymsComesFirst) {
  SymbolOptions options =
      machine("ffffffff81000000 T _text\nffffffff81000100 T wrong\n", "6.1.0-test");
  options.kallsyms = kKallsyms;
  const auto table = SymbolStore(options).open(kernel());
  EXPECT_TRUE(table->is_absolute());
  const std::uint64_t ip = 0xffffffff81000110;
  EXPECT_EQ(table->address_of(ip, 0xffffffff81000000, 0xffffffff81000000), ip);
  EXPECT_EQ(name_at(*table, ip), "do_work");
  EXPECT_EQ(name_at(*table, 0xffffffff81000210), "-") << "data ends a function";
  EXPECT_EQ(name_at(*table, 0xffffffff81000300), "schedule");
  EXPECT_EQ(name_at(*table, 0xffffffff81fff000), "-") << "no name reaches over megabytes";
  EXPECT_EQ(name_at(*table, 0xffffffffc0001090), "nft_do_chain");
}

TEST_F(Kernel, ModulesAreAskedByTheirName) {
  SymbolOptions options = sealed();
  options.kallsyms = kKallsyms;
  SymbolStore store(options);
  for (const char* path : {"[nf_tables]", "/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz"}) {
    const auto table = store.open({.path = path, .is_kernel = true});
    EXPECT_EQ(name_at(*table, 0xffffffffc0001084), "nft_do_chain") << path;
    EXPECT_EQ(name_at(*table, 0xffffffff81000110), "-") << path;
  }
}

TEST_F(Kernel, ModulesMayBePackedFiles) {
  run("mkdir -p root/lib/modules");
  compile(
      "extern \"C\" int one(int x) { return x + 1; }\n"
      "extern \"C\" int two(int x) { return x * 3; }\n",
      "-O1 -c", "root/lib/modules/m.ko");
  const std::uint64_t base = 0xffffffffc0001000;
  const std::uint64_t two = base + address_by_nm("root/lib/modules/m.ko", "two");
  SymbolOptions options = machine(kKallsyms, "6.9.9-other");
  SymbolStore store(options);
  for (const auto& [tool, ending] :
       {std::pair("xz", ".xz"), std::pair("zstd -q", ".zst"), std::pair("gzip", ".gz")}) {
    if (!has_tool(std::string(tool).substr(0, std::string_view(tool).find(' ')))) continue;
    const std::string path = std::string("/lib/modules/m.ko") + ending;
    run(std::string(tool) + " -c root/lib/modules/m.ko > root" + path);
    const auto table = store.open({.path = path, .is_kernel = true});
    EXPECT_EQ(name_at(*table, table->address_of(two, base, 0)), "two") << path << table->why();
  }
}

TEST_F(Kernel, APackedModuleThatIsCutGivesNoNames) {
  if (!has_tool("xz")) GTEST_SKIP() << "xz is not installed";
  run("mkdir -p root/lib/modules");
  compile("int one(int x) { return x + 1; }\n", "-O1 -c", "m.ko");
  run("xz -c m.ko | head -c 300 > root/lib/modules/m.ko.xz");
  SymbolStore store(machine(kKallsyms, "6.9.9-other"));
  const auto table = store.open({.path = "/lib/modules/m.ko.xz", .is_kernel = true});
  EXPECT_EQ(table->symbol_count(), 0u);
  EXPECT_NE(table->why(), "");
}

TEST_F(Kernel, TheRunningKernelHelpsWhenItIsTheRecordedOne) {
  const auto table = SymbolStore(machine(kKallsyms, "6.1.0-test")).open(kernel());
  EXPECT_EQ(name_at(*table, 0xffffffff81000110), "do_work");
  EXPECT_EQ(table->why(), "");
}

TEST_F(Kernel, AKernelThatWasMovedAtBootIsMovedBack) {
  const auto table = SymbolStore(machine(kKallsyms, "6.1.0-test")).open(kernel(0xffffffffa1000000));
  EXPECT_EQ(name_at(*table, 0xffffffffa1000110), "do_work");
  EXPECT_EQ(name_at(*table, 0xffffffff81000110), "-");
}

TEST_F(Kernel, ModulesOfAnotherBootAreNotNamed) {
  SymbolStore store(machine(kKallsyms, "6.1.0-test"));
  const auto same =
      store.open({.path = "[nf_tables]", .is_kernel = true, .kernel_text = 0xffffffff81000000});
  EXPECT_EQ(name_at(*same, 0xffffffffc0001084), "nft_do_chain");
  const auto moved =
      store.open({.path = "[nf_tables]", .is_kernel = true, .kernel_text = 0xffffffffa1000000});
  EXPECT_EQ(moved->symbol_count(), 0u);
}

TEST_F(Kernel, AnotherKernelGivesNoNames) {
  const auto table = SymbolStore(machine(kKallsyms, "6.9.9-other")).open(kernel());
  EXPECT_EQ(table->symbol_count(), 0u);
  EXPECT_EQ(table->why(), "the recorded kernel is not the running one");
}

TEST_F(Kernel, BuildIdDecidesWhenThereIsOne) {
  SymbolOptions options = machine(kKallsyms, "6.9.9-other");
  // name size 4, content size 4, type 3, "GNU", 0xdeadbeef
  write("root/sys/kernel/notes",
        std::string("\x04\0\0\0\x04\0\0\0\x03\0\0\0GNU\0\xde\xad\xbe\xef", 20));
  SymbolStore store(options);
  Binary binary = kernel();
  binary.build_id = "deadbeef";
  EXPECT_EQ(name_at(*store.open(binary), 0xffffffff81000110), "do_work");
  binary.build_id = "deadbeee";
  EXPECT_EQ(store.open(binary)->symbol_count(), 0u);
}

TEST_F(Kernel, HiddenAddressesAreSaidToBeHidden) {
  const auto table =
      SymbolStore(machine("0000000000000000 T _text\n0000000000000000 T schedule\n", "6.1.0-test"))
          .open(kernel());
  EXPECT_EQ(table->symbol_count(), 0u);
  EXPECT_NE(table->why().find("kptr_restrict"), std::string::npos) << table->why();
}

TEST_F(Kernel, PerfsCopyOfKallsymsIsUsed) {
  write("cache/.build-id/de/adbeef/kallsyms", kKallsyms);
  Binary binary = kernel(0xffffffff91000000);
  binary.build_id = "deadbeef";
  EXPECT_EQ(name_at(*SymbolStore(sealed()).open(binary), 0xffffffff91000110), "do_work");
}

TEST_F(Kernel, BrokenLinesArePassedOver) {
  const auto text = std::make_shared<const std::string>(
      "garbage\n\n zz\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
      "ffffffff81000010 T good\nffffffffffffffffffff T long\nffffffff81000020 T");
  SymbolArray::Builder builder;
  EXPECT_EQ(add_kallsyms(text, "", builder), 1u);
}

}  // namespace
}  // namespace loft::symbols
