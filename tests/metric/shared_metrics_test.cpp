// The metrics that are installed with loft, and those of other tools where these are installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/file.hpp"
#include "base/text.hpp"
#include "metric/check.hpp"
#include "metric/load.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

const std::string kShare = LOFT_SOURCE_DIR "/share/metrics";

MetricFile file_at(const std::string& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return read_metrics(path, text.value_or(std::string()));
}

void expect_clean(const Library& library, const MetricFile& file) {
  for (const Diagnostic& diagnostic : file.diagnostics) ADD_FAILURE() << to_string(diagnostic);
  const CheckResult result = check_definitions(library, file, {});
  for (const Diagnostic& diagnostic : result.diagnostics)
    if (diagnostic.severity == Severity::error) ADD_FAILURE() << to_string(diagnostic);
  std::size_t written = 0;
  for (const Definition& definition : file.definitions) {
    written += definition.expectations.size();
    if (definition.kind == DefinitionKind::alias) continue;
    EXPECT_FALSE(definition.expectations.empty()) << definition.name << " has no expect line";
    EXPECT_FALSE(definition.description.empty()) << definition.name << " has no description";
  }
  EXPECT_EQ(result.expectations, written) << file.name;
}

TEST(SharedMetrics, EveryDefinitionHoldsItsExpectations) {
  Library library;
  load_path(library, kShare, Tier::shared);
  for (const Diagnostic& diagnostic : library.diagnostics()) ADD_FAILURE() << to_string(diagnostic);
  const auto names = list_directory(kShare);
  ASSERT_TRUE(names);
  for (const std::string& name : *names)
    if (name.ends_with(".metrics")) expect_clean(library, file_at(kShare + "/" + name));
}

TEST(SharedMetrics, ThePaperPowerModelsGiveItsCoefficients) {
  for (const char* name : {"/power/core-i7.metrics", "/power/power7-p750.metrics"}) {
    const MetricFile file = file_at(kShare + name);
    Library library;
    library.add(file, Tier::command);
    expect_clean(library, file);
  }
}

TEST(SharedMetrics, TheOpteronConstantsGiveTheSixCategories) {
  Library library;
  load_path(library, kShare, Tier::shared);
  load_path(library, kShare + "/machines/opteron-8358.papi", Tier::command);
  CountSet counts;
  for (const char* name :
       {"PAPI_BR_INS", "PAPI_BR_MSP", "PAPI_L1_DCA", "PAPI_L2_DCA", "PAPI_L3_DCA", "PAPI_L3_DCM",
        "PAPI_L1_ICA", "PAPI_L2_ICA", "PAPI_L3_ICA", "PAPI_TLB_DM", "PAPI_TLB_IM", "PAPI_FP_INS",
        "PAPI_FDV_INS", "PAPI_FSQ_INS", "PAPI_TOT_INS"})
    counts.add(name, Quantity::exact(Number::of(10)));
  const auto value = [&](const std::string& name) {
    const auto program = compile(
        library, name, [&](std::string_view event) { return counts.find(event) != nullptr; });
    EXPECT_TRUE(program) << name;
    const Value result = program->evaluate(counts);
    EXPECT_TRUE(result.number) << name << ": " << result.why;
    return result.number ? result.number->as_double() : -1;
  };
  EXPECT_DOUBLE_EQ(value("Branch_cat"), 2 + 12);
  EXPECT_DOUBLE_EQ(value("Data_mem_cat"), 3 + 17 + 60 + 540);
  EXPECT_DOUBLE_EQ(value("Instr_mem_cat"), 2 + 17 + 60 + 540);
  EXPECT_DOUBLE_EQ(value("Data_TLB_cat"), 50);
  EXPECT_DOUBLE_EQ(value("Instr_TLB_cat"), 50);
  EXPECT_DOUBLE_EQ(value("FP_cat"), 4 + 2 * 38);
}

TEST(SharedMetrics, EveryLikwidGroupCompiles) {
  const std::string root = "/usr/share/likwid/perfgroups";
  if (!file_exists(root)) GTEST_SKIP() << "likwid is not installed";
  std::size_t files = 0;
  std::size_t metrics = 0;
  std::size_t bad = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".txt") continue;
    const auto text = read_file(entry.path().string());
    ASSERT_TRUE(text);
    const MetricFile file = read_metrics(entry.path().string(), *text);
    Library library;
    library.add(file, Tier::command);
    bad += file.diagnostics.size();
    for (const Diagnostic& diagnostic : file.diagnostics)
      std::fprintf(stderr, "%s\n", to_string(diagnostic).c_str());
    for (const Definition& definition : file.definitions) {
      const auto program = compile(library, definition);
      EXPECT_TRUE(program) << definition.name << ": " << to_string(program.error());
      ++metrics;
    }
    ++files;
  }
  EXPECT_GT(files, 500u);
  EXPECT_GT(metrics, 5000u);
  // Some of the published files are broken themselves (a missing parenthesis or operator).
  EXPECT_LT(bad, metrics / 200) << bad << " of " << metrics;
}

// perf knows the metrics of CPUs that are not here, and prints their formulas.
TEST(SharedMetrics, FormulasOfPerfAreUnderstood) {
  for (const char* cpu : {"GenuineIntel-6-55-4", "GenuineIntel-6-6A", "AuthenticAMD-25-1"}) {
    const std::string command =
        std::string("PERF_CPUID=") + cpu + " perf list --details metric 2>/dev/null";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                               ::pclose);
    ASSERT_NE(pipe, nullptr);
    std::string text;
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe.get()))
      text.append(buffer, got);
    if (text.find("Metrics") == std::string::npos) GTEST_SKIP() << "perf lists no metrics here";
    std::size_t formulas = 0;
    std::string_view before;
    for (const std::string_view line : split(text, '\n')) {
      const std::string_view body = trim(line);
      // Name, [description], [formula]: the second line in brackets is the formula.
      if (body.starts_with('[') && body.ends_with(']') && before.starts_with('[')) {
        const auto formula = parse_infix(body.substr(1, body.size() - 2), Dialect::perf);
        EXPECT_TRUE(formula) << body << ": " << formula.error().why;
        ++formulas;
      }
      before = body;
    }
    EXPECT_GT(formulas, 10u) << cpu;
  }
}

}  // namespace
}  // namespace loft::metric
