// The quick decoder gives what the full one gives, or nothing.
#include "engine/runtime/quick_decode.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "engine/classify/decoded.hpp"
#include "engine/classify/random_code.hpp"

namespace loft::engine::runtime {
namespace {

using Bytes = std::array<std::uint8_t, 15>;
constexpr std::uint64_t kPlace = 0x555555554123;

class QuickDecode : public testing::Test {
 protected:
  static void SetUpTestSuite() { open_decoder(); }

  // What the two decoders say differently; empty when they agree or the quick one does not know.
  std::string difference(const Bytes& bytes, std::uint32_t available = 15) {
    Instruction quick;
    if (!decode_quickly(kPlace, bytes.data(), available, quick)) return {};
    ++known_;
    const Instruction full = decode_fully(kPlace, bytes.data(), available);
    std::string differences;
    const auto compare = [&](const char* what, auto ours, auto theirs) {
      if (ours == theirs) return;
      differences += std::string(what) + " " + std::to_string(static_cast<std::uint64_t>(ours)) +
                     " is " + std::to_string(static_cast<std::uint64_t>(theirs)) + ", ";
    };
    compare("length", quick.length, full.length);
    compare("flow", quick.flow, full.flow);
    compare("modrm", quick.modrm_offset, full.modrm_offset);
    compare("rip_offset", quick.rip_offset, full.rip_offset);
    compare("read", quick.flags_read, full.flags_read);
    compare("written", quick.flags_written, full.flags_written);
    compare("target", quick.target, full.target);
    compare("rip_target", quick.rip_target, full.rip_target);
    compare("pop", quick.pop_bytes, full.pop_bytes);
    compare("units", quick.unit_count, full.unit_count);
    compare("tiles", quick.changes_tiles, full.changes_tiles);
    compare("gs", quick.uses_gs, full.uses_gs);
    if (quick.knows_registers) {
      const RegisterUse use = register_use(full);
      compare("memory", quick.uses_memory, use.memory);
      if (!use.memory) {
        compare("registers read", quick.registers_read, use.read);
        compare("registers overwritten", quick.registers_overwritten, use.overwritten);
      }
    }
    if (!differences.empty()) differences = to_hex(bytes) + ": " + differences;
    return differences;
  }

  std::uint64_t known_ = 0;
};

TEST_F(QuickDecode, AgreesOnEveryOpcodeAndModrm) {
  constexpr std::uint8_t kPrefixes[] = {0, 0x66, 0xF2, 0xF3, 0x64};
  constexpr std::uint8_t kRex[] = {0, 0x40, 0x45, 0x4A};
  std::string differences;
  for (const std::uint8_t prefix : kPrefixes)
    for (const std::uint8_t rex : kRex)
      for (int map = 0; map < 2; ++map)
        for (int opcode = 0; opcode < 256; ++opcode)
          for (int modrm = 0; modrm < 256; ++modrm) {
            if (const int rm = modrm & 7; rm != 0 && rm != 4 && rm != 5) continue;  // like 0
            Bytes bytes{};
            std::size_t at = 0;
            if (prefix != 0) bytes[at++] = prefix;
            if (rex != 0) bytes[at++] = rex;
            if (map == 1) bytes[at++] = 0x0F;
            bytes[at++] = static_cast<std::uint8_t>(opcode);
            bytes[at++] = static_cast<std::uint8_t>(modrm);
            for (std::uint8_t next = 0x9C; at < bytes.size(); next += 0x35) bytes[at++] = next;
            if (differences.size() < 2000) differences += difference(bytes) + "\n";
            while (!differences.empty() && differences.back() == '\n') differences.pop_back();
          }
  EXPECT_EQ(differences, "");
  EXPECT_GT(known_, 150000u);
}

TEST_F(QuickDecode, AgreesOnRandomBytes) {
  RandomCode random(7);
  for (int i = 0; i < 100000; ++i) {
    Bytes bytes = random.next();
    const auto available = static_cast<std::uint32_t>(1 + i % 15);
    ASSERT_EQ(difference(bytes) + difference(bytes, available), "");
  }
  EXPECT_GT(known_, 10000u);
}

}  // namespace
}  // namespace loft::engine::runtime
