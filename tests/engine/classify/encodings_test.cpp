// encodings.txt says what each of its instructions counts as; classify() must agree in everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/file.hpp"
#include "engine/classify/decoded.hpp"
#include "engine/classify/events.hpp"

namespace loft::engine {
namespace {

struct Line {
  std::vector<std::uint8_t> bytes;
  std::string text;
  std::string insn_class;
  std::multimap<std::string, std::string> said;

  [[nodiscard]] std::string get(const std::string& key, const std::string& otherwise) const {
    const auto found = said.find(key);
    return found == said.end() ? otherwise : found->second;
  }
};

Line parse_line(std::string_view text) {
  const auto parts = split(text, '|');
  Line line;
  line.bytes = from_hex(trim(parts.at(0)));
  line.text = trim(parts.at(1));
  for (const std::string_view word : split(trim(parts.at(2)), ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      line.insn_class = word;
    else
      line.said.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return line;
}

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  const auto text = read_file(LOFT_SOURCE_DIR "/tests/engine/classify/encodings.txt");
  if (!text) return lines;
  for (const std::string_view line : split(*text, '\n'))
    if (!line.empty() && line[0] != '#') lines.push_back(parse_line(line));
  return lines;
}

template <class E>
std::string name(const Kind& kind, Attribute attribute) {
  return std::string(name_of(static_cast<E>(kind.get(attribute))));
}

std::string accesses(int count, int bytes) {
  if (count == 0) return "";
  return std::to_string(count) + "x" + std::to_string(bytes / count);
}

std::string measure_name(std::size_t measure) {
  static const char* const kNames[kMeasures] = {"instruction", "load",  "load_byte", "store",
                                                "store_byte",  "flop",  "taken",     "not_taken",
                                                "iteration",   "int_op"};
  return kNames[measure];
}

std::string unit_text(const InstructionFacts& facts, std::size_t slot) {
  const UnitSource& source = facts.sources[slot];
  std::string text(name_of(source.unit));
  text += std::string(",") + ZydisRegisterGetString(source.reg) + "," +
          std::to_string(source.lanes) + "," + std::to_string(source.lane_bytes);
  char separator = ':';
  for (std::size_t m = 0; m < kMeasures; ++m) {
    const int each = facts.kind.units[slot].each.value[m];
    if (each == 0) continue;
    text += separator + measure_name(m) + "*" + std::to_string(each);
    separator = ',';
  }
  return text;
}

std::string flag_letters(std::uint32_t flags) {
  std::string letters;
  for (const auto& [bit, letter] : {std::pair{ZYDIS_CPUFLAG_CF, 'C'},
                                    {ZYDIS_CPUFLAG_PF, 'P'},
                                    {ZYDIS_CPUFLAG_AF, 'A'},
                                    {ZYDIS_CPUFLAG_ZF, 'Z'},
                                    {ZYDIS_CPUFLAG_SF, 'S'},
                                    {ZYDIS_CPUFLAG_OF, 'O'}})
    if ((flags & bit) != 0) letters += letter;
  return letters;
}

std::string register_names(std::uint16_t set) {
  std::string names;
  for (int number = 0; number < 16; ++number) {
    if ((set & general_bit(number)) == 0) continue;
    if (!names.empty()) names += ',';
    names += ZydisRegisterGetString(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + number));
  }
  return names;
}

// The same order as register_names().
std::string sorted_registers(const std::string& names) {
  std::uint16_t set = 0;
  for (const std::string_view wanted : split(names, ','))
    for (int number = 0; number < 16; ++number)
      if (register_names(general_bit(number)) == wanted) set |= general_bit(number);
  return register_names(set);
}

void check_counts(const Line& line, const Kind& kind) {
  const Measures& fixed = kind.fixed;
  EXPECT_EQ(name<InsnClass>(kind, Attribute::insn_class), line.insn_class);
  EXPECT_EQ(name<Width>(kind, Attribute::width), line.get("w", "none"));
  EXPECT_EQ(name<Precision>(kind, Attribute::precision), line.get("p", "none"));
  EXPECT_EQ(name<FpOp>(kind, Attribute::fp_op), line.get("op", "none"));
  EXPECT_EQ(name<BranchKind>(kind, Attribute::branch), line.get("br", "none"));
  if (line.said.contains("s")) {
    EXPECT_EQ(name<OperandSize>(kind, Attribute::operand_size), line.get("s", ""));
  }
  EXPECT_EQ(fixed[Measure::instructions], 1);
  EXPECT_EQ(accesses(fixed[Measure::loads], fixed[Measure::load_bytes]), line.get("ld", ""));
  EXPECT_EQ(accesses(fixed[Measure::stores], fixed[Measure::store_bytes]), line.get("st", ""));
  EXPECT_EQ(std::to_string(fixed[Measure::flops]), line.get("flops", "0"));
  EXPECT_EQ(std::to_string(fixed[Measure::iterations]), line.get("it", "0"));
  EXPECT_EQ(std::to_string(fixed[Measure::taken]), line.get("tk", "0"));
}

void check_units(const Line& line, const InstructionFacts& facts) {
  std::vector<std::string> wanted, found;
  for (auto [it, end] = line.said.equal_range("u"); it != end; ++it) wanted.push_back(it->second);
  for (std::size_t slot = 0; slot < facts.unit_count; ++slot)
    found.push_back(unit_text(facts, slot));
  EXPECT_EQ(found, wanted);
}

void check_state(const Line& line, const InstructionFacts& facts) {
  const bool flags_said = line.said.contains("R") || line.said.contains("W") ||
                          line.said.contains("U") || line.said.contains("M");
  if (flags_said) {
    EXPECT_EQ(flag_letters(facts.flags.read), line.get("R", "")) << "flags read";
    EXPECT_EQ(flag_letters(facts.flags.written), line.get("W", "")) << "flags written";
    EXPECT_EQ(flag_letters(facts.flags.undefined), line.get("U", "")) << "flags undefined";
    EXPECT_EQ(flag_letters(facts.flags.maybe), line.get("M", "")) << "flags maybe written";
  }
  const RegisterFacts& use = facts.registers;
  if (line.said.contains("gr")) {
    EXPECT_EQ(register_names(use.read.general), sorted_registers(line.get("gr", "")));
  }
  if (line.said.contains("gw")) {
    EXPECT_EQ(register_names(use.written.general), sorted_registers(line.get("gw", "")));
  }
  EXPECT_EQ(use.overwritten & ~use.written.general, 0);
}

TEST(Encodings, CountAsTheManualsSay) {
  const auto lines = all_lines();
  ASSERT_GT(lines.size(), 400u);
  for (const Line& line : lines) {
    SCOPED_TRACE(line.text + "  " + to_hex(line.bytes));
    const auto decoded = decode(line.bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->facts.length, line.bytes.size());
    check_counts(line, decoded->facts.kind);
    check_units(line, decoded->facts);
    check_state(line, decoded->facts);
  }
}

}  // namespace
}  // namespace loft::engine
