// Unwinding, against this process's own backtrace and against readelf's reading of the tables.
#include "symbols/unwinder.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>

#include "symbols/dwarf_expression.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/unwind_table.hpp"
#include "symbols/workshop.hpp"

namespace loft::symbols {
namespace {

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)

// What a sample would have carried, taken by a signal handler of our own.
struct Captured {
  UserRegisters registers;
  const std::byte* stack_end = nullptr;
  std::vector<std::byte> stack;
  std::vector<void*> backtrace;
  UserRegisters in_handler;
  std::vector<std::byte> handler_stack;
};
Captured captured;

UserRegisters registers_of(const ucontext_t& context) {
  // The order of DWARF: rax rdx rcx rbx rsi rdi rbp rsp r8-r15 rip.
  constexpr std::array kOrder = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  UserRegisters registers;
  for (std::size_t i = 0; i < kOrder.size(); ++i)
    registers.value[i] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  registers.known = (1u << kOrder.size()) - 1;
  registers.ip = registers.value[16];
  return registers;
}

std::vector<std::byte> stack_from(const UserRegisters& registers) {
  const auto* sp = reinterpret_cast<const std::byte*>(registers.value[7]);
  return {sp, std::min(sp + 16384, captured.stack_end)};
}

void capture(int, siginfo_t*, void* opaque) {
  captured.registers = registers_of(*static_cast<const ucontext_t*>(opaque));
  captured.stack = stack_from(captured.registers);
  captured.backtrace.resize(200);
  captured.backtrace.resize(static_cast<std::size_t>(
      ::backtrace(captured.backtrace.data(), static_cast<int>(captured.backtrace.size()))));
  ucontext_t here;
  ::getcontext(&here);
  captured.in_handler = registers_of(here);
  captured.handler_stack = stack_from(captured.in_handler);
}

__attribute__((noinline)) int deepest(int x) {
  ::raise(SIGUSR1);
  return x + 1;
}
__attribute__((noinline)) int recurse(int depth) {
  // An array of a size that is not known makes a frame that needs its frame pointer.
  auto* room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(depth) + 8));
  room[0] = static_cast<char>(depth);
  return depth == 0 ? deepest(depth) : recurse(depth - 1) + room[0];
}

void capture_at_depth(int depth) {
  pthread_attr_t attributes;
  ASSERT_EQ(::pthread_getattr_np(::pthread_self(), &attributes), 0);
  void* stack = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &stack, &size);
  ::pthread_attr_destroy(&attributes);
  captured.stack_end = static_cast<const std::byte*>(stack) + size;
  struct sigaction action {};
  action.sa_sigaction = &capture;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  recurse(depth);
}

class OwnAddressSpace {
 public:
  OwnAddressSpace() {
    const std::string maps = *read_file("/proc/self/maps");
    for (const std::string_view line : split(maps, '\n')) {
      unsigned long start = 0;
      unsigned long end = 0;
      unsigned long offset = 0;
      char access[8] = {};
      int path = 0;
      if (std::sscanf(std::string(line).c_str(), "%lx-%lx %7s %lx %*s %*s %n", &start, &end, access,
                      &offset, &path) < 4 ||
          access[2] != 'x')
        continue;
      mapped_.push_back(
          {store_.open({.path = std::string(line.substr(static_cast<std::size_t>(path)))}), start,
           end, offset});
    }
  }

  const MappedFile* at(std::uint64_t address) const {
    for (const MappedFile& file : mapped_)
      if (address >= file.start && address < file.end) return &file;
    return nullptr;
  }

 private:
  SymbolStore store_;
  std::vector<MappedFile> mapped_;
};

TEST(Unwinder, FindsTheChainThatTheProcessItselfSees) {
  capture_at_depth(12);
  const OwnAddressSpace space;
  Unwinder unwinder;
  std::vector<UnwoundFrame> chain;
  const UserState state{Architecture::x86_64, captured.registers, captured.stack};
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time from kept rows
    const auto end = unwinder.unwind(
        state, [&](std::uint64_t address) { return space.at(address); }, chain);
    EXPECT_EQ(end, Unwinder::End::complete);
    // Theirs starts in the handler and passes the signal's frame; ours starts where it struck.
    const auto start = std::find(captured.backtrace.begin(), captured.backtrace.end(),
                                 reinterpret_cast<void*>(captured.registers.ip));
    ASSERT_NE(start, captured.backtrace.end());
    std::vector<std::uint64_t> theirs;
    for (auto frame = start; frame != captured.backtrace.end(); ++frame)
      theirs.push_back(reinterpret_cast<std::uint64_t>(*frame));
    std::vector<std::uint64_t> ours;
    for (const UnwoundFrame& frame : chain) ours.push_back(frame.ip);
    EXPECT_EQ(ours, theirs);
    EXPECT_GT(chain.size(), 15u);
  }
}

TEST(Unwinder, BehindASignalTheAddressIsTheInterruptedInstruction) {
  capture_at_depth(3);
  const OwnAddressSpace space;
  Unwinder unwinder;
  std::vector<UnwoundFrame> chain;
  unwinder.unwind(
      {Architecture::x86_64, captured.in_handler, captured.handler_stack},
      [&](std::uint64_t address) { return space.at(address); }, chain);
  const auto struck = std::find_if(chain.begin(), chain.end(), [](const UnwoundFrame& frame) {
    return frame.ip == captured.registers.ip;
  });
  ASSERT_NE(struck, chain.end());
  EXPECT_TRUE(struck->is_exact);
  EXPECT_EQ(struck->lookup_address(), captured.registers.ip);
  ASSERT_NE(struck, chain.begin());
  EXPECT_TRUE(chain.front().is_exact);
  EXPECT_FALSE(std::next(struck)->is_exact);
}

TEST(Unwinder, ACopyThatIsTooShortGivesTheFramesItHolds) {
  capture_at_depth(12);
  const OwnAddressSpace space;
  const auto mapping_at = [&](std::uint64_t address) { return space.at(address); };
  Unwinder unwinder;
  std::vector<UnwoundFrame> whole;
  unwinder.unwind({Architecture::x86_64, captured.registers, captured.stack}, mapping_at, whole);
  std::size_t most = 0;
  for (std::size_t size = 0; size < captured.stack.size(); size += 8) {
    std::vector<UnwoundFrame> chain;
    const UserState state{Architecture::x86_64, captured.registers,
                          std::span(captured.stack).first(size)};
    unwinder.unwind(state, mapping_at, chain);
    ASSERT_LE(chain.size(), whole.size());
    EXPECT_TRUE(std::equal(chain.begin(), chain.end(), whole.begin())) << size;
    EXPECT_GE(chain.size(), most) << "more bytes, fewer frames";
    most = chain.size();
  }
  EXPECT_EQ(most, whole.size());
}

TEST(Unwinder, AnyStackEndsTheWalk) {
  const OwnAddressSpace space;
  const auto mapping_at = [&](std::uint64_t address) { return space.at(address); };
  Unwinder unwinder;
  UserState state{Architecture::x86_64, {}, {}};
  state.registers.known = (1u << 17) - 1;
  state.registers.ip = reinterpret_cast<std::uint64_t>(&recurse) + 20;
  std::vector<std::byte> stack(4096);
  std::uint64_t seed = 1;
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t i = 0; i + 8 <= stack.size(); i += 8) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      // Half of the words are near the stack or in our own code.
      std::uint64_t word = seed;
      if (seed >> 63)
        word = 0x7000 + (seed >> 40) % stack.size();
      else if (seed >> 62 & 1)
        word = state.registers.ip + (seed >> 40) % 64;
      std::memcpy(stack.data() + i, &word, sizeof word);
    }
    state.registers.value[7] = 0x7000;
    state.registers.value[6] = 0x7000 + (seed >> 40) % stack.size();
    state.stack = stack;
    std::vector<UnwoundFrame> chain;
    unwinder.unwind(state, mapping_at, chain);
    ASSERT_LE(chain.size(), 256u);
    ASSERT_GE(chain.size(), 1u);
  }
}

#endif

class PythonFrames : public Workshop {};

// An interpreter that keeps a frame pointer calls inner(), which outer() called.
TEST_F(PythonFrames, AreWalkedThroughByTheirTrampolines) {
  write("perf-42.map", "1000 b py::inner:x.py\n1010 b py::outer:x.py\n1020 c py::other:x.py\n");
  const MappedFile mapped{SymbolStore(sealed()).open({.path = at("perf-42.map")}), 0x1000, 0x2000,
                          0};
  const auto mapping_at = [&](std::uint64_t address) {
    return address >= mapped.start && address < mapped.end ? &mapped : nullptr;
  };
  const auto frames_of = [&](std::uint64_t second_return) {
    constexpr std::uint64_t kBottom = 0x7000;
    const std::uint64_t words[] = {0, 0x1006, 0, second_return, 0, 0x1100};
    UserState state{Architecture::x86_64, {}, std::as_bytes(std::span(words))};
    state.registers.known = (1u << 17) - 1;
    state.registers.ip = 0x1800;
    state.registers.value[6] = state.registers.value[7] = kBottom;
    std::vector<UnwoundFrame> chain;
    Unwinder().unwind(state, mapping_at, chain);
    std::vector<std::uint64_t> addresses;
    for (const UnwoundFrame& frame : chain) addresses.push_back(frame.ip);
    return addresses;
  };
  using Addresses = std::vector<std::uint64_t>;
  EXPECT_EQ(frames_of(0x1016), (Addresses{0x1800, 0x1006, 0x1016, 0x1100}));
  EXPECT_EQ(frames_of(0x1018), (Addresses{0x1800, 0x1006, 0x1018})) << "no call ends there";
  EXPECT_EQ(frames_of(0x1026), (Addresses{0x1800, 0x1006, 0x1026})) << "a trampoline of others";
}

TEST(Unwinder, PerfsOrderOfRegistersIsUnderstood) {
  // AX, BX, SP and IP of x86-64.
  const std::array<std::uint64_t, 4> values = {11, 22, 33, 44};
  const auto x86 = from_perf_registers(Architecture::x86_64, 0b1'1000'0011, values);
  ASSERT_TRUE(x86);
  EXPECT_EQ(x86->value[0], 11u);
  EXPECT_EQ(x86->value[3], 22u);
  EXPECT_EQ(x86->value[7], 33u);
  EXPECT_EQ(x86->ip, 44u);
  EXPECT_FALSE(x86->has(6));
  EXPECT_FALSE(from_perf_registers(Architecture::x86_64, 0b11, values)) << "no stack pointer";
  EXPECT_FALSE(
      from_perf_registers(Architecture::x86_64, 0b1'1000'0011, std::span(values).first(2)));
  // x0, lr, sp, pc of arm64.
  const auto arm64 = from_perf_registers(Architecture::arm64, 0x1'c000'0001, values);
  ASSERT_TRUE(arm64);
  EXPECT_EQ(arm64->value[30], 22u);
  EXPECT_EQ(arm64->value[31], 33u);
  EXPECT_EQ(arm64->ip, 44u);
}

TEST(DwarfExpression, ComputesWhatThePltNeeds) {
  // rsp + 8 + (rip % 16 >= 11 ? 8 : 0), as the linker writes it for every PLT entry.
  const std::array<unsigned char, 11> code = {0x77, 8,    0x80, 0,    0x3f, 0x1a,
                                              0x3b, 0x2a, 0x33, 0x24, 0x22};
  std::uint64_t ip = 0x1005;
  const ExpressionContext context{
      [&](std::uint64_t number) -> std::optional<std::uint64_t> {
        return number == 7 ? 0x7000 : number == 16 ? std::optional(ip) : std::nullopt;
      },
      [](std::uint64_t, std::size_t) { return std::nullopt; }};
  const auto value = [&] {
    return evaluate(std::as_bytes(std::span(code)), ByteOrder::little, std::nullopt, context);
  };
  EXPECT_EQ(value(), 0x7008u);
  ip = 0x100b;
  EXPECT_EQ(value(), 0x7010u);
}

TEST(DwarfExpression, EndsWhateverItIsGiven) {
  const ExpressionContext context{
      [](std::uint64_t) { return std::optional<std::uint64_t>(1); },
      [](std::uint64_t, std::size_t) { return std::optional<std::uint64_t>(2); }};
  const std::array<unsigned char, 3> loop = {0x2f, 0xfd, 0xff};  // a jump to itself
  EXPECT_EQ(evaluate(std::as_bytes(std::span(loop)), ByteOrder::little, 0, context), std::nullopt);
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const std::array<unsigned char, 1> code = {static_cast<unsigned char>(opcode)};
    (void)evaluate(std::as_bytes(std::span(code)), ByteOrder::little, std::nullopt, context);
  }
}

// Each row of `readelf --debug-dump=frames-interp`: address, CFA ("rsp+8", "exp"), then rules.
class UnwindTables : public Workshop, public testing::WithParamInterface<const char*> {};

struct ReadelfRow {
  std::uint64_t address;
  std::string cfa;
  std::vector<std::pair<std::string, std::string>> rules;
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

std::vector<ReadelfRow> parse_readelf(const std::string& output) {
  std::vector<ReadelfRow> rows;
  std::vector<std::string> header;
  bool is_function = false;
  for (const std::string_view line : split(output, '\n')) {
    const auto words = words_of(line);
    if (line.find(" FDE ") != std::string_view::npos) is_function = true;
    if (line.find(" CIE ") != std::string_view::npos) is_function = false;
    if (!words.empty() && words[0] == "LOC") header = words;
    const auto address = words.empty() ? std::nullopt : parse_hex(words[0]);
    if (!is_function || !address || words.size() != header.size() || words[0].size() != 16)
      continue;
    ReadelfRow row{*address, words[1], {}};
    for (std::size_t i = 2; i < words.size(); ++i) row.rules.emplace_back(header[i], words[i]);
    rows.push_back(row);
  }
  return rows;
}

std::string register_name(bool is_arm64, unsigned number) {
  static constexpr const char* kX86[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                         "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                         "r12", "r13", "r14", "r15", "rip"};
  if (is_arm64) return number == 31 ? "sp" : "x" + std::to_string(number);
  return number < std::size(kX86) ? kX86[number] : "?";
}

std::string cfa_as_readelf_prints(const UnwindRow& row, bool is_arm64) {
  if (row.cfa_is_expression) return "exp";
  return register_name(is_arm64, row.cfa_register) + (row.cfa_offset < 0 ? "" : "+") +
         std::to_string(row.cfa_offset);
}

std::string rule_as_readelf_prints(const UnwindRow& row, bool is_arm64, const std::string& name) {
  using Kind = RegisterRule::Kind;
  for (const RegisterRule& rule : row.rules) {
    const bool is_it = name == "ra" ? rule.number == row.return_register
                                    : register_name(is_arm64, rule.number) == name;
    if (!is_it) continue;
    if (rule.kind == Kind::saved)
      return std::string("c") + (rule.offset < 0 ? "" : "+") + std::to_string(rule.offset);
    if (rule.kind == Kind::saved_expression) return "exp";
    if (rule.kind == Kind::expression) return "vexp";
    if (rule.kind == Kind::same) return "s";
    return "u";
  }
  return "u";
}

TEST_P(UnwindTables, EveryRowIsTheOneThatReadelfPrints) {
  const std::string parameter = GetParam();
  const std::string compiler = parameter.substr(0, parameter.find(' '));
  if (compiler != "c++" && !has_tool(compiler)) GTEST_SKIP() << "no such compiler here";
  compile(
      "#include <cstdio>\nstruct S { ~S() { std::puts(\"x\"); } };\nint g(int);\n"
      "__attribute__((noinline)) int f(int n, double d) { S s; char room[n]; "
      "room[0] = static_cast<char>(d); std::puts(room); if (n > 3) throw n; return room[0] + n; }\n"
      "int main(int c, char** v) { try { return f(c, 1.5); } catch (int x) { std::puts(v[0]); "
      "return f(x / 2, 2.5); } }",
      "-w" + parameter.substr(parameter.find(' ')), "program",
      compiler == "c++" ? LOFT_CXX : compiler);
  const auto elf = ElfFile::open(at("program"));
  ASSERT_TRUE(elf);
  const UnwindTable table(**elf);
  const bool is_arm64 = (*elf)->machine() == EM_AARCH64;
  const auto rows = parse_readelf(run("readelf --debug-dump=frames-interp program"));
  ASSERT_GT(rows.size(), 10u);
  for (const ReadelfRow& theirs : rows) {
    const auto ours = table.row(theirs.address);
    ASSERT_TRUE(ours) << std::hex << theirs.address;
    EXPECT_EQ(cfa_as_readelf_prints(*ours, is_arm64), theirs.cfa) << std::hex << theirs.address;
    for (const auto& [name, rule] : theirs.rules)
      EXPECT_EQ(rule_as_readelf_prints(*ours, is_arm64, name), rule)
          << std::hex << theirs.address << " " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnwindTables,
                         testing::Values("c++ -O2", "c++ -O2 -static",
                                         "c++ -O0 -fno-omit-frame-pointer",
                                         "aarch64-linux-gnu-g++ -O2",
                                         "aarch64-linux-gnu-g++ -O2 -mbranch-protection=standard"));

}  // namespace
}  // namespace loft::symbols
