#include "source/virtual/libraries.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/mapping.hpp"
#include "base/text.hpp"

namespace loft::source::virtual_pmu {
namespace {

constexpr const char* kVariable = "LD_PRELOAD";
const std::vector<std::string> kPapi = {"papi/libpapi.so.7.0", "papi/libpapi.so.7.1"};
const std::vector<std::string> kLikwid = {"likwid/libloft-likwid.so"};

// Beside the program, where it was built; or where it was installed.
std::vector<std::string> installed(const std::vector<std::string>& files) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> found;
  for (const char* place : {"lib/loft", "../lib/loft"}) {
    const auto folder = (program.parent_path() / place).lexically_normal();
    for (const std::string& file : files)
      if (found.size() < files.size() && std::filesystem::exists(folder / file, error))
        found.push_back((folder / file).string());
  }
  return found;
}

// As execvp finds it; empty when it does not.
std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::error_code error;
  for (const auto folder : split(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    const auto candidate = std::filesystem::path(folder) / program;
    if (std::filesystem::is_regular_file(candidate, error)) return candidate.string();
  }
  return {};
}

}  // namespace

Result<Preload> Preload::papi() {
  const auto found = installed(kPapi);
  if (found.empty())
    return failure(ErrorKind::not_found, "find loft's libpapi",
                   "it is not in lib/loft/papi beside loft or its bin folder",
                   "install loft as a whole");
  return Preload(found);
}

namespace {

// A program that names a library has its name among its strings; one that only mentions it loads a
// library that it does not use.
std::vector<std::string> asked_for(
    const std::string& program,
    const std::vector<std::pair<std::string_view, std::vector<std::string>>>& names) {
  std::vector<std::string> libraries;
  const auto file = Mapping::of_file(path_of(program));
  if (!file) return libraries;
  const auto bytes = file->bytes();
  for (const auto& [name, files] : names)
    if (::memmem(bytes.data(), bytes.size(), name.data(), name.size()) != nullptr)
      for (auto& found : installed(files)) libraries.push_back(std::move(found));
  return libraries;
}

constexpr std::string_view kPapiName = "libpapi.so.7.";
constexpr std::string_view kLikwidName = "liblikwid.so.";

}  // namespace

Preload Preload::for_program(const std::string& program, bool counts_regions) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> names{{kPapiName, kPapi}};
  if (counts_regions) names.emplace_back(kLikwidName, kLikwid);
  return Preload(asked_for(program, names));
}

Preload Preload::markers(const std::string& program) {
  return Preload(asked_for(program, {{kLikwidName, kLikwid}}));
}

Preload::Preload(const std::vector<std::string>& libraries) : is_set_(!libraries.empty()) {
  if (!is_set_) return;
  if (const char* others = std::getenv(kVariable); others != nullptr) before_ = others;
  std::string list = join(libraries, ":");
  if (before_ && !before_->empty()) list += ":" + *before_;
  ::setenv(kVariable, list.c_str(), 1);
}

Preload::Preload(Preload&& other) noexcept
    : is_set_(std::exchange(other.is_set_, false)), before_(std::move(other.before_)) {}

Preload::~Preload() {
  if (!is_set_) return;
  if (before_)
    ::setenv(kVariable, before_->c_str(), 1);
  else
    ::unsetenv(kVariable);
}

}  // namespace loft::source::virtual_pmu
