// src/LAYERS is the architecture: a folder that includes more than it may, or less, fails here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "layering/layers.hpp"

namespace loft::layering {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<SourceFile> sources_below(const std::string& root) {
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp" && extension != ".h") continue;
    const auto text = read_file(entry.path().string());
    EXPECT_TRUE(text);
    const auto relative = entry.path().lexically_relative(root);
    files.push_back({relative.parent_path().string(), relative.filename().string(),
                     quoted_includes(text.value_or(""))});
  }
  return files;
}

// The public headers are one layer, whatever folders they are in.
std::vector<SourceFile> all_sources() {
  auto files = sources_below(LOFT_SOURCE_DIR "/src");
  for (SourceFile& header : sources_below(LOFT_SOURCE_DIR "/include")) {
    header.folder = module_of(header.folder);
    std::erase_if(header.includes, [](const auto& path) { return path.starts_with("loft/"); });
    files.push_back(std::move(header));
  }
  return files;
}

TEST(Layering, RefusesAnIncludeOfAHigherModule) {
  const auto layers = parse_layers("base:\nevent: base\n");
  EXPECT_THAT(complaints(layers, {{"base", "fd.hpp", {"event/name.hpp"}},
                                  {"event", "name.hpp", {"base/fd.hpp"}}}),
              ElementsAre("base/fd.hpp may not include \"event/name.hpp\""));
}

TEST(Layering, RefusesAnIncludeThatNamesNoModule) {
  EXPECT_THAT(complaints(parse_layers("base:\n"), {{"base", "file.cpp", {"fd.hpp"}}}),
              ElementsAre(HasSubstr("may not include \"fd.hpp\"")));
}

TEST(Layering, RefusesAnIncludeOfAFolderOfTheOwnModule) {
  const auto layers = parse_layers("source:\nsource/file: source\nsource/live:\n");
  EXPECT_THAT(complaints(layers, {{"source", "run.hpp", {}},
                                  {"source/file", "a.cpp", {"source/run.hpp", "source/file/b.hpp"}},
                                  {"source/live", "c.cpp", {"source/file/b.hpp"}}}),
              ElementsAre("source/live/c.cpp may not include \"source/file/b.hpp\""));
}

TEST(Layering, AModuleIncludesAllFoldersOfAnotherThatItMayInclude) {
  const auto layers = parse_layers("source/file:\ncli: source\n");
  EXPECT_THAT(complaints(layers, {{"source/file", "a.hpp", {}},
                                  {"cli", "report.cpp", {"source/file/a.hpp"}}}),
              IsEmpty());
}

TEST(Layering, RefusesARightThatNobodyUses) {
  EXPECT_THAT(complaints(parse_layers("base:\nevent: base\n"),
                         {{"base", "fd.hpp", {}}, {"event", "name.hpp", {}}}),
              ElementsAre("event may include base but does not"));
}

TEST(Layering, RefusesAFolderWithoutLineAndALineWithoutFolder) {
  EXPECT_THAT(complaints(parse_layers("base:\n"), {{"new", "file.cpp", {}}}),
              ElementsAre("new has no line: file.cpp", "base does not exist"));
}

TEST(Layering, RefusesALineThatNamesWhatIsAboveIt) {
  EXPECT_THAT(out_of_order(parse_layers("event: base\nbase:\n")),
              ElementsAre("event stands before base"));
  EXPECT_THAT(out_of_order(parse_layers("source/file: source\nsource:\n")),
              ElementsAre("source/file stands before source"));
  EXPECT_THAT(
      out_of_order(parse_layers("engine/classify:\nengine: engine/classify\ncli: engine\n")),
      IsEmpty());
}

TEST(Layering, EveryFolderIncludesExactlyWhatItsLineSays) {
  const auto text = read_file(LOFT_SOURCE_DIR "/src/LAYERS");
  ASSERT_TRUE(text);
  const auto layers = parse_layers(*text);
  const auto files = all_sources();
  EXPECT_GT(files.size(), 300u);
  EXPECT_THAT(complaints(layers, files), IsEmpty());
  EXPECT_THAT(out_of_order(layers), IsEmpty());
}

// metric/ and model/ must build anywhere: formulas do not need Linux.
TEST(Layering, MetricAndModelIncludeNoLinuxHeader) {
  for (const char* module : {"/src/metric", "/src/model"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(LOFT_SOURCE_DIR) + module)) {
      if (!entry.is_regular_file()) continue;
      const auto source = read_file(entry.path().string());
      ASSERT_TRUE(source);
      for (const char* header : {"#include <linux/", "#include <sys/", "#include <unistd.h>"})
        EXPECT_EQ(source->find(header), std::string::npos) << entry.path() << " has " << header;
    }
  }
}

}  // namespace
}  // namespace loft::layering
