#include "cli/recording_file.hpp"

#include <filesystem>

#include "base/mapping.hpp"

namespace loft::cli {

bool is_recording(const std::string& path) {
  constexpr std::size_t kMagic = 8;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto mapping = Mapping::of_file(path);
  if (!mapping || mapping->bytes().size() < kMagic) return false;
  const auto* text = reinterpret_cast<const char*>(mapping->bytes().data());
  return std::string_view(text, kMagic) == "PERFILE2" ||
         std::string_view(text, kMagic) == "2ELIFREP";
}

}  // namespace loft::cli
