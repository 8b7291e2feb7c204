// Real programs, natively and under the engine: the list is programs.txt.
#include <filesystem>

#include "base/text.hpp"
#include "under_engine.hpp"

namespace loft::engine {
namespace {

struct Program {
  std::string name;
  std::string needs;
  std::string script;
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.script; }

std::vector<Program> read_programs() {
  std::vector<Program> programs;
  const auto text = read_file(LOFT_SOURCE_DIR "/tests/engine/run/programs.txt").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', first + 1);
    programs.push_back({std::string(line.substr(0, first)),
                        std::string(line.substr(first + 1, second - first - 1)),
                        std::string(line.substr(second + 1))});
  }
  return programs;
}

bool is_here(const std::string& program) {
  if (program.front() == '/') return file_exists(program);
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "/bin:/usr/bin", ':'))
    if (file_exists(join_path(folder, program))) return true;
  return false;
}

// An empty folder to run in; its name is the same length each time, and so is the program's stack.
class Folder {
 public:
  Folder() : before_(std::filesystem::current_path()) {
    if (::mkdtemp(path_) != nullptr) std::filesystem::current_path(path_);
  }
  ~Folder() {
    std::filesystem::current_path(before_);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::filesystem::path before_;
  char path_[32] = "/tmp/loft-engine-dir-XXXXXX";
};

class Programs : public testing::TestWithParam<Program> {};

TEST_P(Programs, BehaveAsNatively) {
  if (!is_here(GetParam().needs)) GTEST_SKIP() << GetParam().needs << " is not installed";
  const std::vector<std::string> command{"/bin/bash", "-c", GetParam().script};
  const Outcome expected = [&] {
    const Folder folder;
    return natively(command);
  }();
  const Folder folder;
  EXPECT_EQ(under_engine(command).outcome, expected);
}

INSTANTIATE_TEST_SUITE_P(Real, Programs, testing::ValuesIn(read_programs()),
                         [](const auto& which) { return which.param.name; });

TEST(ProgramList, HasSixtyAndMore) { EXPECT_GE(read_programs().size(), 60u); }

}  // namespace
}  // namespace loft::engine
