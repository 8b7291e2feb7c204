// Lines of source files, for roof/annotate.hpp.
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "roof/annotate.hpp"
#include "roof/source_files.hpp"
#include "source/virtual/lines.hpp"

namespace loft::roof {

std::string SourceFiles::line(const std::string& file, unsigned number) {
  const std::vector<std::string>& lines = lines_of(file);
  return number >= 1 && number <= lines.size() ? lines[number - 1] : std::string();
}

// A name in debug information may be anything: only plain files are read.
const std::vector<std::string>& SourceFiles::lines_of(const std::string& file) {
  constexpr std::size_t kMostBytes = 16u << 20;
  const auto [entry, is_new] = files_.try_emplace(file);
  std::error_code ignored;
  if (!is_new || !std::filesystem::is_regular_file(file, ignored)) return entry->second;
  if (const auto text = read_file(file, kMostBytes))
    for (const auto line : split(*text, '\n')) entry->second.emplace_back(line);
  return entry->second;
}

class SourcesAtHand::Files {
 public:
  SourceFiles lines;
  source::virtual_pmu::LineFinder finder;
};

SourcesAtHand::SourcesAtHand() : files_(std::make_unique<Files>()) {}
SourcesAtHand::~SourcesAtHand() = default;

model::SourcePlace SourcesAtHand::at(const std::string& binary, std::uint64_t address) {
  const auto found = files_->finder.find(binary, address);
  model::SourcePlace place;
  place.file = found.file;
  place.line = found.line;
  if (found.line > 0) place.text = files_->lines.line(found.file, found.line);
  place.inlined = files_->finder.inlined(binary, address);
  return place;
}

}  // namespace loft::roof
