// Functions of ELF files: which name an address gets, and through which mapping.
#include <algorithm>

#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

// Prints where its function `target` is and how it is mapped: "ip start offset path".
constexpr const char* kWhereAmI = R"(
#include <cstdio>
#include <cstring>
#include <cstdint>
extern "C" __attribute__((noinline)) int target(int x) { asm volatile(""); return x + 1; }
int main() {
  const auto ip = reinterpret_cast<std::uintptr_t>(&target) + 1;
  FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long start, end, offset;
    char access[8];
    if (std::sscanf(line, "%lx-%lx %7s %lx", &start, &end, access, &offset) == 4 && ip >= start && ip < end)
      std::printf("%lx %lx %lx", static_cast<unsigned long>(ip), start, offset);
  }
  return target(-1);
}
)";

class Mapped : public Workshop, public testing::WithParamInterface<const char*> {};

TEST_P(Mapped, AnInstructionPointerLeadsToItsFunction) {
  const std::string flags = GetParam();
  if (flags.find("-fuse-ld=") != std::string::npos &&
      !has_tool("ld." + flags.substr(flags.find("-fuse-ld=") + 9)))
    GTEST_SKIP() << "this linker is not installed";
  compile(kWhereAmI, flags, "program");
  const std::string output = run("./program");
  const auto words = split(output, ' ');
  ASSERT_EQ(words.size(), 3u) << output;
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("program")});
  const std::uint64_t address =
      table->address_of(*parse_hex(words[0]), *parse_hex(words[1]), *parse_hex(words[2]));
  EXPECT_EQ(name_at(*table, address), "target");
  EXPECT_EQ(address, address_by_nm("program", "target") + 1);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Mapped,
                         testing::Values("-O1 -pie", "-O1 -no-pie", "-O1 -static",
                                         "-O1 -pie -Wl,-z,noseparate-code",
                                         "-O1 -pie -fuse-ld=gold", "-O1 -pie -fuse-ld=lld",
                                         "-O1 -no-pie -fuse-ld=lld"));

class ElfSymbols : public Workshop {};

TEST_F(ElfSymbols, EveryFunctionThatNmKnowsIsFound) {
  // The program of the tests itself is as good as any.
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  SymbolStore store(sealed());
  const auto table = store.open({.path = program});
  const auto functions = functions_by_nm(program);
  ASSERT_GT(functions.size(), 1000u);
  for (const auto& [name, address] : functions) {
    const Symbol* symbol = table->find(address);
    ASSERT_NE(symbol, nullptr) << name;
    EXPECT_EQ(symbol->start, address) << name;
  }
}

TEST_F(ElfSymbols, TheBestKnownOfSeveralNamesWins) {
  write("names.s", R"(
    .text
    .type alias_local, @function
    .type alias_weak, @function
    .type alias_global, @function
    .globl alias_global, __alias_global
    .weak alias_weak
    .type __alias_global, @function
alias_local:
alias_weak:
__alias_global:
alias_global:
    ret
    .size alias_local, 1
    .size alias_weak, 1
    .size __alias_global, 1
    .size alias_global, 1
    .globl function_and_label
function_and_label:
    .type real_function, @function
real_function:
    nop
inner_label:
    ret
    .size real_function, 2
)");
  run("as names.s -o names.o && ld -shared --build-id names.o -o names.so");
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("names.so")});
  const std::uint64_t start = address_by_nm("names.so", "alias_global");
  EXPECT_EQ(name_at(*table, start), "alias_global");
  EXPECT_EQ(name_at(*table, start + 1), "real_function");
  EXPECT_EQ(name_at(*table, start + 2), "real_function") << "a label inside is no function";
}

TEST_F(ElfSymbols, TheNewestVersionOfANameIsShownWithoutIt) {
  write("versions.s", R"(
    .text
    .globl f_old, f_new
    .type f_old, @function
    .type f_new, @function
    .symver f_old, f@V1
    .symver f_new, f@@V2
f_old:
f_new:
    ret
    .size f_old, 1
    .size f_new, 1
)");
  write("versions.map", "V1 { local: *; };\nV2 { } V1;\n");
  run("as versions.s -o versions.o && "
      "ld -shared --version-script=versions.map versions.o -o versions.so");
  const auto table = SymbolStore(sealed()).open({.path = at("versions.so")});
  EXPECT_EQ(name_at(*table, address_by_nm("versions.so", "f@@V2")), "f");
}

TEST_F(ElfSymbols, AFunctionWithoutSizeReachesToTheNextOne) {
  write("sizes.s", R"(
    .text
    .type first, @function
first:
    nop
    nop
    nop
    .type second, @function
second:
    nop
    ret
)");
  run("as sizes.s -o sizes.o && ld -shared sizes.o -o sizes.so");
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("sizes.so")});
  const std::uint64_t first = address_by_nm("sizes.so", "first");
  EXPECT_EQ(name_at(*table, first + 2), "first");
  EXPECT_EQ(name_at(*table, first + 3), "second");
  EXPECT_EQ(name_at(*table, first + 4), "second");
  EXPECT_EQ(name_at(*table, first + 5), "-") << "the section ends there";
  EXPECT_EQ(name_at(*table, first - 1), "-");
}

TEST_F(ElfSymbols, CodeBehindAFunctionInsideAnotherBelongsToTheOuterOne) {
  write("nested.s", R"(
    .text
    .type outer, @function
    .type inner, @function
outer:
    nop
inner:
    nop
    .size inner, 1
    ret
    .size outer, 3
)");
  run("as nested.s -o nested.o && ld -shared nested.o -o nested.so");
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("nested.so")});
  const std::uint64_t outer = address_by_nm("nested.so", "outer");
  EXPECT_EQ(name_at(*table, outer), "outer");
  EXPECT_EQ(name_at(*table, outer + 1), "inner");
  EXPECT_EQ(name_at(*table, outer + 2), "outer");
}

class Plt : public Workshop, public testing::WithParamInterface<const char*> {};

TEST_P(Plt, EntriesAreNamedAsTheDisassemblerNamesThem) {
  const std::string flags = GetParam();
  compile(
      "#include <cstdio>\n#include <cstdlib>\nint main(int c, char** v) { std::puts(v[0]); "
      "return std::atoi(v[c - 1]); }",
      flags, "program");
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("program")});
  const std::string listing = run("objdump -d program");
  std::size_t entries = 0;
  for (const std::string_view line : split(listing, '\n')) {
    const std::size_t name = line.find('<');
    if (!line.ends_with("@plt>:") || name == std::string_view::npos) continue;
    const auto address = parse_hex(trim(line.substr(0, name)));
    ASSERT_TRUE(address) << line;
    EXPECT_EQ(name_at(*table, *address), line.substr(name + 1, line.size() - name - 3));
    ++entries;
  }
  EXPECT_GE(entries, 2u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Plt,
                         testing::Values("-O1", "-O1 -no-pie", "-O1 -fcf-protection -Wl,-z,ibtplt",
                                         "-O1 -Wl,-z,now"));

TEST_F(ElfSymbols, IndirectFunctionsHaveTheirName) {
  compile(
      "extern \"C\" { static int one() { return 1; } static int (*pick())() { return one; }\n"
      "__attribute__((ifunc(\"pick\"))) int chosen(); }\nint main() { return chosen(); }",
      "-O1", "program");
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("program")});
  const std::string symbols = run("nm program");
  EXPECT_NE(symbols.find(" i chosen"), std::string::npos) << symbols;
  const std::uint64_t address = *parse_hex(symbols.substr(symbols.find(" i chosen") - 16, 16));
  EXPECT_NE(name_at(*table, address), "-");
}

TEST_F(ElfSymbols, NamesAreDemangledAsAsked) {
  compile("namespace deep { int function(int x, char) { return x; } }\nint main() {}", "-O1",
          "program");
  const std::uint64_t address = address_by_nm("program", "_ZN4deep8functionEic");
  const auto name_in = [&](NameStyle style) {
    SymbolOptions options = sealed();
    options.names = style;
    return name_at(*SymbolStore(options).open({.path = at("program")}), address);
  };
  EXPECT_EQ(name_in(NameStyle::plain), "deep::function");
  EXPECT_EQ(name_in(NameStyle::parameters), "deep::function(int, char)");
  EXPECT_EQ(name_in(NameStyle::mangled), "_ZN4deep8functionEic");
}

TEST_F(ElfSymbols, AForeignArchitectureIsReadToo) {
  if (!has_tool("aarch64-linux-gnu-gcc")) GTEST_SKIP() << "no compiler for arm64 here";
  write("other.c",
        "int called(int x) { return x * 3; }\nint main(int c, char** v) { return "
        "called(c) + puts(v[0]); }");
  run("aarch64-linux-gnu-gcc -w -O1 -fno-inline other.c -o other");
  SymbolStore store(sealed());
  const auto table = store.open({.path = at("other")});
  const std::string listing = run("aarch64-linux-gnu-objdump -d other");
  std::size_t compared = 0;
  for (const std::string_view line : split(listing, '\n')) {
    const std::size_t name = line.find('<');
    if (!line.ends_with(">:") || name == std::string_view::npos) continue;
    const std::string_view wanted = line.substr(name + 1, line.size() - name - 3);
    if (!wanted.ends_with("@plt") && wanted != "called" && wanted != "main") continue;
    EXPECT_EQ(name_at(*table, *parse_hex(trim(line.substr(0, name)))), wanted);
    ++compared;
  }
  EXPECT_GE(compared, 4u);
}

}  // namespace
}  // namespace loft::symbols
