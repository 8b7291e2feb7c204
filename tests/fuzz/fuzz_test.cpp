// A bounded run of the fuzz targets without libFuzzer: the kept inputs, and mutations of them from
// a fixed seed. The open-ended search is scripts/fuzz.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "base/file.hpp"
#include "fuzz/leaks.hpp"
#include "fuzz/targets.hpp"

namespace loft::fuzz {
namespace {

constexpr int kMutationsPerInput = 300;
constexpr std::size_t kLargest = 1u << 16;

std::vector<std::string> inputs_of(std::string_view target) {
  std::vector<std::string> inputs;
  const auto folder = std::string(LOFT_SOURCE_DIR) + "/tests/fuzz/corpus/" + std::string(target);
  const auto names = list_directory(folder);
  if (!names) return inputs;
  for (const auto& name : *names)
    if (auto text = read_file(join_path(folder, name))) inputs.push_back(*std::move(text));
  return inputs;
}

// Flips, overwrites with telling values, cuts and repeats.
void mutate(std::string& input, std::mt19937_64& random) {
  static constexpr std::array<std::uint64_t, 11> kTelling = {
      0, 1, 7, 8, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, ~0ull, 1ull << 61};
  static constexpr std::string_view kSigns = "|,+-*/%^()[]{}<>=\"'#\\:&;.0e9 \n\t\x01\xff";
  if (input.empty()) input.resize(16);
  const auto changes = 1 + random() % 8;
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t at = random() % input.size();
    switch (random() % 6) {
      case 0:
        input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
        break;
      case 1:
        input[at] = static_cast<char>(random());
        break;
      case 2: {
        const std::uint64_t value = kTelling[random() % kTelling.size()];
        const std::size_t size =
            std::min<std::size_t>(std::size_t{1} << random() % 4, input.size() - at);
        std::memcpy(input.data() + at, &value, size);
        break;
      }
      case 3:
        input.resize(std::max<std::size_t>(1, at));
        break;
      case 4:
        input[at] = kSigns[random() % kSigns.size()];
        break;
      case 5:
        input.insert(at, input.substr(random() % input.size(), random() % 64));
        break;
    }
    if (input.size() > kLargest) input.resize(kLargest);
  }
}

class Fuzz : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn(kTargets),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST_P(Fuzz, KeptInputsAndTheirMutationsAreHarmless) {
  const auto inputs = inputs_of(GetParam().name);
  ASSERT_FALSE(inputs.empty()) << "no inputs are kept for this target";
  std::mt19937_64 random(20261115);
  for (const auto& kept : inputs) {
    GetParam().run(std::as_bytes(std::span(kept.data(), kept.size())));
    for (int i = 0; i < kMutationsPerInput; ++i) {
      std::string input = kept;
      mutate(input, random);
      GetParam().run(std::as_bytes(std::span(input.data(), input.size())));
    }
  }
}

}  // namespace
}  // namespace loft::fuzz
