// A bounded run of the fuzz target: real files and mutations of them, from a fixed seed.
#include <gtest/gtest.h>

#include <random>

#include "base/file.hpp"
#include "metric/fuzz_target.hpp"

namespace loft::metric {
namespace {

constexpr int kMutations = 60;
constexpr std::size_t kLargest = 3000;

std::vector<std::string> seeds() {
  std::vector<std::string> inputs{
      "#define A 5\nm, x|A*|y|+\nn, m|m|/\n",
      "SHORT x\nEVENTSET\nPMC0 E\nMETRICS\nA [MB/s] 1.E-06*PMC0/time\nLONG\n",
      "[{\"MetricName\":\"a\",\"MetricExpr\":\"b if c else d\",\"ScaleUnit\":\"100%\"}]",
      "<user_events><define name=\"a\" value=\"1\"/><event name=\"b\">a|c|+</event></user_events>",
      "CPU,x\nPRESET,P,DERIVED_POSTFIX,N0|N1|+|,A,B\nEVENT,E,DERIVED_INFIX,N0*2,A\n",
      "1,,cycles,100,50.0,,\n2,,instructions,100,50.0,,\n",
      "program,a,b\nx,1,2\ny,,4\n",
      "TABLE,Group 1 Raw,X,1\nEvent,Counter,HWThread 0\nE,PMC0,5\n"};
  for (const char* name : {"common", "lcpi", "roofline"})
    if (auto text = read_file(std::string(LOFT_SOURCE_DIR "/share/metrics/") + name + ".metrics"))
      inputs.push_back(text->substr(0, kLargest));
  return inputs;
}

void mutate(std::string& input, std::mt19937_64& random) {
  static constexpr std::string_view kTelling = "|,+-*/%^()[]{}<>=\"'#\\:&;.0e9 \n\t\x01\xff";
  for (auto changes = 1 + random() % 6; changes > 0 && !input.empty(); --changes) {
    const std::size_t at = random() % input.size();
    switch (random() % 4) {
      case 0:
        input[at] = kTelling[random() % kTelling.size()];
        break;
      case 1:
        input.insert(at, 1, kTelling[random() % kTelling.size()]);
        break;
      case 2:
        input.erase(at, 1 + random() % 8);
        break;
      default:
        input.insert(at, input.substr(random() % input.size(), random() % 40));
    }
  }
}

TEST(MetricFuzz, NothingCrashesOnMutatedFiles) {
  std::mt19937_64 random(3);
  for (const std::string& seed : seeds()) {
    fuzz_metrics(seed);
    for (int i = 0; i < kMutations; ++i) {
      std::string input = seed;
      mutate(input, random);
      fuzz_metrics(input);
    }
  }
}

}  // namespace
}  // namespace loft::metric
