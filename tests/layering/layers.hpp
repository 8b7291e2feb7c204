// The architecture as data: src/LAYERS, and what each folder includes of the others.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace loft::layering {

struct Layer {
  std::string folder;             // "source/file"
  std::set<std::string> allowed;  // "base", "source"
};

inline std::vector<Layer> parse_layers(const std::string& text) {
  std::vector<Layer> layers;
  for (const std::string_view line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    Layer& layer = layers.emplace_back();
    layer.folder = line.substr(0, colon);
    std::istringstream words{std::string(line.substr(colon + 1))};
    for (std::string word; words >> word;) layer.allowed.insert(word);
  }
  return layers;
}

inline std::string module_of(const std::string& folder) {
  return folder.substr(0, folder.find('/'));
}

// The entry that gives a file of `folder` the right to include `path`: a folder of its own module,
// or another module as a whole. Empty for a file beside it, which needs none. A path without a
// folder is its own entry, which no line has.
inline std::string entry_for(const std::string& folder, const std::string& path) {
  const std::string target = std::filesystem::path(path).parent_path().string();
  if (target == folder) return {};
  if (target.empty()) return path;
  return module_of(target) == module_of(folder) ? target : module_of(target);
}

// The paths of `#include "..."` in a source.
inline std::vector<std::string> quoted_includes(const std::string& source) {
  std::vector<std::string> paths;
  for (const std::string_view line : split(source, '\n')) {
    const std::string_view text = trim(line);
    if (!text.starts_with("#include \"")) continue;
    paths.emplace_back(text.substr(10, text.find('"', 10) - 10));
  }
  return paths;
}

struct SourceFile {
  std::string folder;
  std::string name;
  std::vector<std::string> includes;
};

// One complaint for each include without a right to it, for each right that nobody uses, for each
// folder without a line and each line without a folder.
inline std::vector<std::string> complaints(const std::vector<Layer>& layers,
                                           const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  std::map<std::string, std::set<std::string>> used;
  for (const SourceFile& file : files) {
    const auto layer = std::find_if(layers.begin(), layers.end(),
                                    [&](const Layer& each) { return each.folder == file.folder; });
    auto& entries = used[file.folder];
    for (const std::string& path : file.includes) {
      const std::string entry = entry_for(file.folder, path);
      if (!entry.empty()) entries.insert(entry);
      if (layer != layers.end() && !entry.empty() && !layer->allowed.contains(entry))
        found.push_back(file.folder + "/" + file.name + " may not include \"" + path + "\"");
    }
    if (layer == layers.end()) found.push_back(file.folder + " has no line: " + file.name);
  }
  for (const Layer& layer : layers) {
    if (!used.contains(layer.folder)) found.push_back(layer.folder + " does not exist");
    for (const std::string& entry : layer.allowed)
      if (!used[layer.folder].contains(entry))
        found.push_back(layer.folder + " may include " + entry + " but does not");
  }
  return found;
}

// Lines that name something above them.
inline std::vector<std::string> out_of_order(const std::vector<Layer>& layers) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const Layer& layer : layers) {
    for (const std::string& below : layer.allowed) {
      const bool stands_below =
          seen.contains(below) || std::any_of(seen.begin(), seen.end(), [&](const auto& each) {
            return module_of(each) == below && module_of(layer.folder) != below;
          });
      if (!stands_below) found.push_back(layer.folder + " stands before " + below);
    }
    seen.insert(layer.folder);
  }
  return found;
}

}  // namespace loft::layering
