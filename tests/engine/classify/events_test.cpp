// The events and the sums that must hold between them, over whatever the decoder accepts.
#include "engine/classify/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.hpp"
#include "engine/classify/decoded.hpp"
#include "engine/classify/isa.hpp"
#include "engine/classify/random_code.hpp"

namespace loft::engine {
namespace {

std::uint64_t count(const EventVector& vector, const std::string& name) {
  const auto event = find_event(name);
  EXPECT_TRUE(event) << name;
  return event ? vector[*event] : 0;
}

template <class E>
std::vector<std::string> names_from(E first) {
  std::vector<std::string> names;
  for (auto i = static_cast<int>(first); i < static_cast<int>(E::count_); ++i)
    names.emplace_back(name_of(static_cast<E>(i)));
  return names;
}

std::uint64_t sum(const EventVector& vector, const std::string& before,
                  const std::vector<std::string>& names, const std::string& after = "") {
  std::uint64_t total = 0;
  for (const std::string& name : names) total += count(vector, before + name + after);
  return total;
}

std::vector<std::string> mnemonic_names() {
  std::vector<std::string> names;
  for (int i = 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i)
    names.emplace_back(ZydisMnemonicGetString(static_cast<ZydisMnemonic>(i)));
  return names;
}

// What must hold of any sum over instructions.
void expect_identities(const EventVector& v) {
  const std::uint64_t instructions = count(v, "instructions");
  EXPECT_EQ(instructions, sum(v, "class_", names_from(InsnClass::int_arith)));
  EXPECT_EQ(instructions, sum(v, "op_", mnemonic_names()));
  EXPECT_EQ(instructions, sum(v, "width_", names_from(Width::none)));
  auto sets = isa_names();
  sets.erase(sets.begin());
  EXPECT_EQ(instructions, sum(v, "isa_", sets));
  for (const std::string what : {"loads", "stores", "load_bytes", "store_bytes"}) {
    EXPECT_EQ(count(v, what), sum(v, what + "_", names_from(AccessSize::bytes1))) << what;
    EXPECT_EQ(count(v, what), sum(v, what + "_", names_from(AddressForm::stack))) << what;
  }
  for (const auto& [size, bytes] : {std::pair{"1", 1u},
                                    {"2", 2u},
                                    {"4", 4u},
                                    {"8", 8u},
                                    {"10", 10u},
                                    {"16", 16u},
                                    {"32", 32u},
                                    {"64", 64u}}) {
    EXPECT_EQ(count(v, std::string("load_bytes_") + size),
              bytes * count(v, std::string("loads_") + size));
    EXPECT_EQ(count(v, std::string("store_bytes_") + size),
              bytes * count(v, std::string("stores_") + size));
  }
  EXPECT_EQ(count(v, "flops"), sum(v, "flops_", {"hp", "bf16", "sp", "dp"}));
  EXPECT_EQ(count(v, "flops"), sum(v, "flops_", names_from(FpOp::add)));
  EXPECT_EQ(count(v, "flops"), sum(v, "flops_", {"scalar", "128", "256", "512", "tile"}));
  for (const std::string p : {"hp", "sp", "dp"}) {
    EXPECT_EQ(count(v, "flops_" + p), sum(v, "flops_", {"scalar", "128", "256", "512"}, "_" + p));
  }
  // Vectors count by 64 bits.
  std::uint64_t on_integers =
      sum(v, "class_int_", {"arith", "mul", "div", "logic", "shift", "bit", "compare"});
  for (const auto& [width, numbers] : {std::pair{"_128", 2u}, {"_256", 4u}, {"_512", 8u}})
    on_integers +=
        numbers * sum(v, "class_simd_", {"arith", "mul", "compare", "logic", "shift"}, width);
  EXPECT_EQ(count(v, "int_ops"), on_integers);
  EXPECT_EQ(count(v, "branches"), sum(v, "branches_", names_from(BranchKind::conditional)));
  EXPECT_EQ(count(v, "branches"), count(v, "branches_taken") + count(v, "branches_not_taken"));
  EXPECT_EQ(count(v, "calls"), sum(v, "class_", {"call", "indirect_call"}));
  EXPECT_EQ(count(v, "branches_conditional"),
            count(v, "branches_conditional_taken") + count(v, "branches_conditional_not_taken"));
  EXPECT_EQ(count(v, "x87"),
            sum(v, "class_x87_", {"arith", "transcendental", "compare", "move", "control"}));
  std::uint64_t arithmetic = 0;
  for (const std::string p : {"hp", "sp", "dp"})
    arithmetic += sum(v, "fp_", {"scalar", "128", "256", "512"}, "_" + p);
  arithmetic += sum(v, "fp_", {"128", "256", "512", "tile"}, "_bf16");
  EXPECT_EQ(arithmetic, sum(v, "fp_", names_from(FpOp::add)));
}

TEST(Events, HaveUniqueNamesAndDescriptions) {
  std::set<std::string> names;
  for (const EventInfo& event : event_table()) {
    EXPECT_TRUE(names.insert(event.name).second) << event.name << " twice";
    EXPECT_FALSE(event.description.empty()) << event.name;
    EXPECT_EQ(event.description.find('\n'), std::string::npos) << event.name;
    EXPECT_EQ(event.name.find("none_"), std::string::npos) << event.name;
  }
  EXPECT_GT(names.size(), 500u);
}

TEST(Events, IncludeThePromisedNames) {
  for (const char* name :
       {"instructions",   "loads",     "stores",    "load_bytes",   "store_bytes",  "branches",
        "branches_taken", "calls",     "returns",   "fp_scalar_sp", "fp_scalar_dp", "fp_128_sp",
        "fp_128_dp",      "fp_256_sp", "fp_256_dp", "fp_512_sp",    "fp_512_dp",    "flops_sp",
        "flops_dp",       "flops",     "x87",       "syscalls",     "int_ops"}) {
    const auto event = find_event(std::string("virtual::") + name);
    ASSERT_TRUE(event) << name;
  }
}

TEST(Events, UnknownNameIsNotFound) { EXPECT_FALSE(find_event("bananas")); }

TEST(Events, AddUpOverRandomInstructions) {
  RandomCode code(20261115);
  std::mt19937 random(7);
  KindTable kinds;
  EventVector total;
  std::uint64_t instructions = 0;
  for (int i = 0; i < 250'000; ++i) {
    const auto decoded = decode(code.next());
    if (!decoded) continue;
    ++instructions;
    const std::size_t known = kinds.size();
    const KindId id = kinds.intern(decoded->facts.kind);
    if (id < known) continue;  // one of each kind is enough for sums
    const std::uint64_t executions = 1 + random() % 1000;
    Units units{};
    for (std::size_t u = 0; u < decoded->facts.unit_count; ++u) units[u] = random() % executions;
    accumulate(total, decoded->facts, executions, units);
  }
  EXPECT_GT(instructions, 80'000u);
  EXPECT_GT(kinds.size(), 3'000u);
  expect_identities(total);
}

// No event is dead by a slip in the generation of the table. What is rare in random code stands in
// encodings.txt.
TEST(Events, EveryOneCountsSomeInstruction) {
  KindTable kinds;
  EventVector total;
  const auto consider = [&](std::span<const std::uint8_t> bytes) {
    const auto decoded = decode(bytes);
    if (!decoded) return;
    const std::size_t known = kinds.size();
    if (kinds.intern(decoded->facts.kind) < known) return;
    accumulate(total, decoded->facts, 2, {1, 1});
  };
  const auto text = read_file(LOFT_SOURCE_DIR "/tests/engine/classify/encodings.txt");
  ASSERT_TRUE(text);
  for (const std::string_view line : split(*text, '\n'))
    if (!line.empty() && line[0] != '#') consider(from_hex(trim(split(line, '|')[0])));
  RandomCode code(5);
  for (int i = 0; i < 300'000; ++i) consider(code.next());
  std::vector<std::string> never;
  for (EventIndex i = 0; i < event_table().size(); ++i) {
    const EventInfo& event = event_table()[i];
    const bool single = event.name.starts_with("op_") || event.name.starts_with("isa_");
    if (!single && total[i] == 0) never.push_back(event.name);
  }
  EXPECT_EQ(join(never, " "), "");
}

TEST(KindTable, GivesOneNumberToEqualKinds) {
  KindTable kinds;
  const auto add = decode(from_hex("01c8"));
  const auto other_add = decode(from_hex("01d3"));
  const auto load = decode(from_hex("8b00"));
  ASSERT_TRUE(add && other_add && load);
  const KindId id = kinds.intern(add->facts.kind);
  EXPECT_EQ(kinds.intern(other_add->facts.kind), id);
  EXPECT_NE(kinds.intern(load->facts.kind), id);
  EXPECT_EQ(kinds[id], add->facts.kind);
  EXPECT_EQ(kinds.size(), 2u);
}

TEST(Events, UnitsCountWhatTheMaskLeaves) {
  const auto add = decode(from_hex("62f16c495808"));  // vaddps zmm1 {k1}, zmm2, [rax]
  ASSERT_TRUE(add);
  EventVector v;
  // Three executions with 16, 5 and no lanes active.
  accumulate(v, add->facts, 3, {21, 2});
  EXPECT_EQ(count(v, "instructions"), 3u);
  EXPECT_EQ(count(v, "flops_sp"), 21u);
  EXPECT_EQ(count(v, "load_bytes"), 84u);
  EXPECT_EQ(count(v, "loads"), 2u);
  EXPECT_EQ(count(v, "fp_512_sp"), 3u);
}

TEST(Events, TakenBranchesAreNoLongerNotTaken) {
  const auto branch = decode(from_hex("7402"));
  ASSERT_TRUE(branch);
  EventVector v;
  accumulate(v, branch->facts, 10, {7, 0});
  EXPECT_EQ(count(v, "branches_taken"), 7u);
  EXPECT_EQ(count(v, "branches_conditional_not_taken"), 3u);
}

}  // namespace
}  // namespace loft::engine
