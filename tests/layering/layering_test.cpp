// src/LAYERS is the architecture: a module that includes more than it may fails here.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft {
namespace {

using Layers = std::map<std::string, std::set<std::string>>;

Layers parse_layers(const std::string& text) {
  Layers layers;
  for (const std::string_view line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    auto& allowed = layers[std::string(line.substr(0, colon))];
    std::istringstream words{std::string(line.substr(colon + 1))};
    for (std::string word; words >> word;) allowed.insert(word);
  }
  return layers;
}

Layers layers_of_source() {
  const auto text = read_file(LOFT_SOURCE_DIR "/src/LAYERS");
  return text ? parse_layers(*text) : Layers{};
}

// Each `#include "module/..."` of `source` that `module` has no right to.
std::vector<std::string> trespasses(const Layers& layers, const std::string& module,
                                    const std::string& source) {
  std::vector<std::string> found;
  const auto own = layers.find(module);
  for (const std::string_view line : split(source, '\n')) {
    const std::string_view text = trim(line);
    if (!text.starts_with("#include \"")) continue;
    const std::string_view path = text.substr(10, text.find('"', 10) - 10);
    const std::string target(path.substr(0, path.find('/')));
    if (target == module || target == "loft" || target == "probes") continue;
    if (own == layers.end() || !own->second.contains(target)) found.emplace_back(path);
  }
  return found;
}

TEST(Layering, RefusesAnIncludeOfAHigherModule) {
  const Layers layers = parse_layers("base:\nevent: base\n");
  EXPECT_EQ(trespasses(layers, "base", "#include \"event/name.hpp\"\n").size(), 1u);
  EXPECT_TRUE(trespasses(layers, "event", "#include \"base/fd.hpp\"\n").empty());
}

TEST(Layering, RefusesAnIncludeThatNamesNoModule) {
  const Layers layers = parse_layers("base:\n");
  EXPECT_EQ(trespasses(layers, "base", "#include \"fd.hpp\"\n").size(), 1u);
}

TEST(Layering, HasNoCycle) {
  std::set<std::string> seen;
  const auto text = read_file(LOFT_SOURCE_DIR "/src/LAYERS");
  ASSERT_TRUE(text);
  for (const std::string_view line : split(*text, '\n')) {
    if (line.starts_with('#') || line.find(':') == std::string_view::npos) continue;
    for (const auto& [module, allowed] : parse_layers(std::string(line))) {
      for (const std::string& below : allowed)
        EXPECT_TRUE(seen.contains(below)) << module << " stands before " << below;
      seen.insert(module);
    }
  }
}

TEST(Layering, NoModuleIncludesMoreThanItMay) {
  const Layers layers = layers_of_source();
  ASSERT_TRUE(layers.contains("base"));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LOFT_SOURCE_DIR "/src")) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    const auto relative = entry.path().lexically_relative(LOFT_SOURCE_DIR "/src");
    const std::string module = relative.begin()->string();
    EXPECT_TRUE(layers.contains(module)) << module << " is not in src/LAYERS";
    const auto source = read_file(entry.path().string());
    ASSERT_TRUE(source);
    for (const std::string& path : trespasses(layers, module, *source))
      ADD_FAILURE() << relative.string() << " may not include \"" << path << "\"";
    ++files;
  }
  EXPECT_GT(files, 10u);
}

// metric/ and model/ must build anywhere: formulas do not need Linux.
TEST(Layering, MetricAndModelIncludeNoLinuxHeader) {
  for (const char* module : {"/src/metric", "/src/model"}) {
    if (!file_exists(std::string(LOFT_SOURCE_DIR) + module)) continue;
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
}  // namespace loft
