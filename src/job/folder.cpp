#include "job/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::job {
namespace {

constexpr std::string_view kEnding = ".data";
constexpr std::string_view kNode = "node";
constexpr std::uint32_t kMostRuns = 100000;
constexpr mode_t kForOwnerOnly = 0600;  // it shows what a program did

std::optional<std::uint32_t> number_in(std::string_view digits) {
  constexpr std::size_t kMostDigits = 8;
  const bool is_decimal = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_decimal || digits.size() > kMostDigits) return std::nullopt;
  const auto value = parse_u64(digits);
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

// "17.data", "17.2.data", "node.data"
std::optional<FileName> parse_name(std::string_view name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  FileName file;
  if (is_window_name(name)) return file;
  const std::size_t dot = name.find('.');
  file.rank = number_in(name.substr(0, dot));
  if (!file.rank && name.substr(0, dot) != kNode) return std::nullopt;
  if (dot == std::string_view::npos) return file;
  const auto run = number_in(name.substr(dot + 1));
  if (!run || *run < 2) return std::nullopt;
  file.run = *run;
  return file;
}

// What stands beside the summaries of windows.
bool is_of_window(std::string_view name) {
  return name.ends_with(".pb.gz") && is_window_name(name.substr(0, name.find('.')));
}
bool is_metrics(std::string_view name) { return name.ends_with(".prom"); }

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Result<std::string> claim_name(const std::string& folder, const std::string& node,
                               const std::string& name) {
  const std::string inner = join_path(folder, folder_of_node(node));
  std::error_code error;
  std::filesystem::create_directories(inner, error);
  if (error && !is_directory(inner))
    return failure_of_errno(error.value(), "make the folder '" + inner + "'");
  for (std::uint32_t run = 1; run <= kMostRuns; ++run) {
    const std::string which = run == 1 ? std::string() : fmt::format(".{}", run);
    const std::string path = join_path(inner, name + which + std::string(kEnding));
    const Fd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kForOwnerOnly));
    if (file.is_open()) return path;
    if (errno != EEXIST) return failure_of_errno(errno, "create '" + path + "'");
  }
  return failure(ErrorKind::limit, "create a file in '" + inner + "'",
                 "it has too many runs of " + name + " already", "name another folder with --job");
}

}  // namespace

std::string folder_of_node(const std::string& node) {
  std::string name = printable(node);
  for (char& letter : name)
    if (letter == '/' || letter == '\\') letter = '_';
  if (name.empty() || name.front() == '.') name.insert(name.begin(), '_');
  return name;
}

bool is_window_name(std::string_view name) {
  constexpr std::string_view kForm = "ddddddddTddddddZ";
  if (name.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_digit = name[i] >= '0' && name[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : name[i] != kForm[i]) return false;
  }
  return true;
}

Result<std::string> claim_file(const std::string& folder, const Rank& rank) {
  return claim_name(folder, rank.node, std::to_string(rank.number));
}

Result<std::string> claim_node_file(const std::string& folder, const std::string& node) {
  return claim_name(folder, node, std::string(kNode));
}

std::string file_of_rank(const std::string& path, const Rank& rank) {
  struct stat status {};
  const bool is_special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (rank.size <= 1 || path.empty() || path == "-" || is_special) return path;
  const std::size_t start = path.rfind('/') + 1;  // 0 where there is none
  const std::size_t dot = path.find('.', start + 1);
  const std::size_t at = dot == std::string::npos ? path.size() : dot;
  return fmt::format("{}.{}{}", path.substr(0, at), rank.number, path.substr(at));
}

Result<FolderContents> rank_files(const std::string& folder) {
  FolderContents contents;
  LOFT_TRY(const auto nodes, list_directory(folder));
  for (const std::string& node : nodes) {
    const std::string inner = join_path(folder, node);
    if (is_metrics(node)) continue;
    if (!is_directory(inner)) {
      contents.foreign.push_back(inner);
      continue;
    }
    LOFT_TRY(const auto names, list_directory(inner));
    for (const std::string& name : names) {
      if (is_of_window(name)) continue;
      auto file = parse_name(name);
      const std::string path = join_path(inner, name);
      if (!file || is_directory(path)) {
        contents.foreign.push_back(path);
        continue;
      }
      file->path = path;
      file->node = node;
      contents.files.push_back(*std::move(file));
    }
  }
  return contents;
}

bool is_job_folder(const std::string& path) {
  if (!is_directory(path)) return false;
  const auto contents = rank_files(path);
  return contents && !contents->files.empty();
}

}  // namespace loft::job
