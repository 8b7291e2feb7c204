// PAPI's interface as programs see it, under the engine and natively.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "papi/events.hpp"

struct layout_entry {
  const char* name;
  long value;
};
extern "C" const layout_entry layout_ours[];
#ifdef LOFT_HAS_PAPI_HEADER
extern "C" const layout_entry layout_theirs[];
#endif

namespace loft::papi {
namespace {

using testing::HasSubstr;

struct Ran {
  std::string output;
  int status = -1;
};

Ran run(const std::string& command) {
  Ran ran;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    ran.output.append(buffer.data(), got);
  ran.status = ::pclose(pipe);
  return ran;
}

const std::string kRun = std::string(LOFT_PROGRAM) + " run --papi -- ";

TEST(Papi, CountsExactlyAndRefusesWhatItCannotDo) {
  const Ran ran = run(kRun + LOFT_PAPI_PROGRAM);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("0 failures"));
}

// A folder of its own for a test, removed with it.
class Folder {
 public:
  Folder() { ::mkdtemp(path_.data()); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(const char* name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "papi-XXXXXX";
};

TEST(Papi, CountsEventsThatUsersDefine) {
  const Folder folder;
  std::ofstream(folder / "events") << "#define FP_lat 5\n#define Other_lat 2\n\n"
                                      "Work_cat, PAPI_FP_OPS|FP_lat*|PAPI_TOT_INS|Other_lat*|+\n"
                                      "Work_share, PAPI_FP_OPS|PAPI_TOT_INS|/\n"
                                      "Miss_cat, PAPI_L2_DCM|FP_lat*\n";
  const Ran ran = run(kRun + LOFT_PAPI_PROGRAM + " events " + (folder / "events"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("0 failures"));
}

#ifdef LOFT_OWN_COUNTS
// A file as in Figure 1 of the paper, of events that need no model.
TEST(Papi, GivesUserEventsTheValuesThatLibloftAndStatGive) {
  const Folder folder;
  const std::string file = folder / "events";
  std::ofstream(file) << "----- Example events file -----\n#define FP_lat 5\n#define Add_lat 3\n\n"
                         "Fp_cat, PAPI_FP_OPS|FP_lat*|PAPI_FAD_INS|Add_lat*|+\n"
                         "Fp_share, PAPI_FP_OPS|FP_lat*|PAPI_FAD_INS|Add_lat*|/\n";
  const std::string expected = "8000 1.6666666666666667\n";
  EXPECT_EQ(run(kRun + LOFT_PAPI_PROGRAM + " values " + file).output, expected);
  const std::string stat = std::string(LOFT_PROGRAM) + " stat --source virtual ";
  EXPECT_THAT(run(stat + "-e flops -- " + LOFT_OWN_COUNTS + " values " + file).output,
              HasSubstr(expected));
  const Ran counted = run(stat + "-m " + file + " -e Fp_cat,Fp_share --format json -- " +
                          LOFT_OWN_COUNTS + " work");
  EXPECT_THAT(counted.output, testing::ContainsRegex("\"name\": \"Fp_cat\",\n *\"value\": 8000"));
  EXPECT_THAT(counted.output, HasSubstr("\"value\": 1.6666666666666667"));
}
#endif

TEST(Papi, RefusesDamagedEventFiles) {
  const Folder folder;
  for (const char* text :
       {"Broken, PAPI_FP_OPS|+\n", "Twice, PAPI_FP_OPS\nTwice, PAPI_TOT_INS\n", "Self, Self|2*\n",
        "\x7f"
        "ELF\x02\x01",
        "#define X\nA, PAPI_FP_OPS|X*\n"}) {
    std::ofstream(folder / "events") << text;
    const Ran ran = run("PAPI_USER_EVENTS_FILE=" + (folder / "events") + " " + kRun +
                        LOFT_PAPI_PROGRAM + " refused " + (folder / "events"));
    EXPECT_EQ(ran.status, 0) << text << ran.output;
    // What is defined by itself is found out when it is asked for.
    const bool is_circle = std::string_view(text).starts_with("Self");
    EXPECT_THAT(ran.output, HasSubstr(is_circle ? "loaded: 0" : "loaded: -1")) << text;
  }
}

TEST(Papi, WritesWhatTheHighLevelInterfaceCounted) {
  const Folder folder;
  const Ran ran = run("PAPI_EVENTS=PAPI_FP_OPS PAPI_OUTPUT_DIRECTORY=" + folder.path() + " " +
                      kRun + LOFT_PAPI_PROGRAM + " regions");
  EXPECT_EQ(ran.status, 0) << ran.output;
  std::stringstream text;
  text << std::ifstream(folder / "papi_hl_output/rank_000000.json").rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(R"("name":"inner","parent_region_id":"0")"));
  EXPECT_THAT(text.str(), HasSubstr(R"("PAPI_FP_OPS":{"region_value":"100","read_1":"100"})"));
  if (run("command -v papi_hl_output_writer").status != 0) GTEST_SKIP() << "no papi-tools";
  const Ran shown = run("cd " + folder.path() +
                        " && papi_hl_output_writer --notation=derived --type=summary --source " +
                        (folder / "papi_hl_output"));
  EXPECT_EQ(shown.status, 0) << shown.output;
  EXPECT_THAT(shown.output, HasSubstr("inner"));
}

TEST(Papi, CountsNothingNatively) {
  const Ran ran = run(std::string(LOFT_PAPI_PROGRAM) + " natively");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST(Papi, HasPresetsOfWhichTheEngineCountsMany) {
  Catalogue& all = catalogue();
  ASSERT_EQ(all.presets().size(), 108u);
  const Event* instructions = all.find("PAPI_TOT_INS");
  ASSERT_NE(instructions, nullptr);
  EXPECT_EQ(instructions->terms.size(), 1u);
  EXPECT_EQ(instructions->code, 0x80000032u);
  EXPECT_THAT(instructions->why_missing, HasSubstr("loft run --papi"));
  EXPECT_EQ(all.find("loft::flops"), all.find("flops"));
  EXPECT_EQ(all.at(0x4FFFFFFF), nullptr);
  EXPECT_EQ(all.at(0), nullptr);
}

TEST(PapiInterface, HasTheLayoutOfPapisOwnHeader) {
#ifdef LOFT_HAS_PAPI_HEADER
  std::size_t count = 0;
  for (; layout_ours[count].name != nullptr; ++count) {
    ASSERT_STREQ(layout_ours[count].name, layout_theirs[count].name);
    EXPECT_EQ(layout_ours[count].value, layout_theirs[count].value) << layout_ours[count].name;
  }
  EXPECT_GT(count, 80u);
#else
  GTEST_SKIP() << "libpapi-dev is not installed";
#endif
}

TEST(PapiInterface, ExportsEveryFunctionOfPapisOwnHeader) {
  std::ifstream header("/usr/include/papi.h");
  if (!header) GTEST_SKIP() << "libpapi-dev is not installed";
  std::stringstream text;
  text << header.rdbuf();
  const std::string lines = text.str();
  const std::regex prototype(R"(\n[^\n#*]*[ *](PAPI_[a-z_]+)\s*\([^\n]*[;,])");
  std::size_t count = 0;
  for (const char* file : {LOFT_LIBPAPI, LOFT_LIBPAPI_71}) {
    void* library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    for (std::sregex_iterator at(lines.begin(), lines.end(), prototype), end; at != end; ++at) {
      ++count;
      EXPECT_NE(::dlsym(library, (*at)[1].str().c_str()), nullptr) << (*at)[1];
    }
    ::dlclose(library);
  }
  EXPECT_GT(count, 150u);
}

TEST(PapiInterface, ExportsEveryNameOfTheSystemsLibrary) {
  const Ran theirs =
      run("nm -D --defined-only $(ldconfig -p | sed -n 's/.*libpapi.so.7.0 .*=> //p')");
  if (theirs.status != 0) GTEST_SKIP() << "libpapi 7.0 or nm is not installed";
  void* library = ::dlopen(LOFT_LIBPAPI, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  std::istringstream lines(theirs.output);
  std::size_t count = 0;
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    if (kind != "T") continue;
    ++count;
    EXPECT_NE(::dlsym(library, name.c_str()), nullptr) << name;
  }
  EXPECT_GT(count, 300u);
  ::dlclose(library);
}

TEST(PapiTools, OfTheSystemRunUnchanged) {
  if (run("command -v papi_avail").status != 0) GTEST_SKIP() << "papi-tools are not installed";
  const std::pair<const char*, const char*> tools[] = {
      {"papi_version", "PAPI Version: 7.0."},
      {"papi_component_avail", "loft's virtual PMU"},
      // Its own loop of 20 million rounds with two operations each: to the last one.
      {"papi_command_line PAPI_FP_OPS", "PAPI_FP_OPS : \t40000000"},
      {"papi_command_line PAPI_TOT_CYC", "Failed adding: PAPI_TOT_CYC"},
      {"papi_command_line PAPI_L2_DCM", "Failed adding: PAPI_L2_DCM"},
      {"papi_event_chooser PRESET PAPI_FP_OPS", "PAPI_TOT_INS"},
      {"papi_decode", "a model computes it at the end of a run"},
      {"papi_error_codes", "Error code   -7: No such event, or it cannot be counted here"},
      {"papi_mem_info", "L1 Data Cache"},
      {"papi_xml_event_info -p", "PAPI_FP_OPS"},
      {"papi_hardware_avail", "Sysdetect component not enabled"}};
  for (const auto& [tool, expected] : tools) {
    const Ran ran = run(kRun + tool);
    EXPECT_TRUE(WIFEXITED(ran.status) && WEXITSTATUS(ran.status) < 2) << tool << ran.status;
    EXPECT_THAT(ran.output, HasSubstr(expected)) << tool;
  }
}

TEST(PapiTools, OfTheSystemShowWhatCanBeCounted) {
  if (run("command -v papi_avail").status != 0) GTEST_SKIP() << "papi-tools are not installed";
  const Ran ran = run(kRun + "papi_avail -a");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("PAPI_FP_OPS"));
  EXPECT_THAT(ran.output, testing::Not(HasSubstr("PAPI_TOT_CYC")));
  const Ran estimated = run("LOFT_PAPI_CYCLES=time " + kRun + "papi_avail -e PAPI_TOT_CYC");
  EXPECT_THAT(estimated.output, HasSubstr("modelled"));
}

}  // namespace
}  // namespace loft::papi
