#include "engine/run.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::engine {
namespace {

bool is_executable_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// As execvp finds it. A name with a slash is taken as it is.
Result<std::string> find_program(const std::string& name) {
  const auto not_found = [&](const char* why) {
    return failure(ErrorKind::no_such_command, "run '" + name + "'", why,
                   "check the name, or give its path");
  };
  if (name.find('/') != std::string::npos) {
    if (is_executable_file(name)) return name;
    if (!file_exists(name)) return not_found("no such program");
    return failure(ErrorKind::cannot_execute, "run '" + name + "'",
                   "EACCES, it is not an executable file for this user", "chmod +x it");
  }
  const char* path = std::getenv("PATH");
  for (const auto folder : split(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    const std::string candidate = join_path(folder.empty() ? "." : folder, name);
    if (is_executable_file(candidate)) return candidate;
  }
  return not_found("no such program in PATH");
}

// Programs like low descriptors; this one keeps out of their way.
Result<Fd> raise_descriptor(int low) {
  rlimit limit{};
  int wanted = 1000;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024)
    wanted = static_cast<int>(limit.rlim_cur / 2);
  Fd high(::fcntl(low, F_DUPFD, wanted));
  if (!high.is_open()) return failure_of_errno(errno, "pass the counters to the program");
  return high;
}

// While it lives, variables that a dynamic loader obeys are called differently, so that they meet
// the program's loader and not the engine's. The child takes the environment as it is at the fork.
class HiddenVariables {
 public:
  HiddenVariables() {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable;
      if (!text.starts_with("LD_") && !text.starts_with("GLIBC_TUNABLES=")) continue;
      const std::size_t equals = text.find('=');
      hidden_.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    for (const auto& [name, value] : hidden_) {
      ::setenv((kHiddenVariable + name).c_str(), value.c_str(), 1);
      ::unsetenv(name.c_str());
    }
  }
  ~HiddenVariables() {
    for (const auto& [name, value] : hidden_) {
      ::unsetenv((kHiddenVariable + name).c_str());
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  HiddenVariables(const HiddenVariables&) = delete;
  HiddenVariables& operator=(const HiddenVariables&) = delete;

 private:
  std::vector<std::pair<std::string, std::string>> hidden_;
};

// What neither is a program nor names its interpreter is for the shell, as for execvp.
bool is_for_shell(const std::string& program) {
  std::array<char, 4> start{};
  const Fd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = ::read(file.get(), start.data(), start.size());
  const std::string_view text(start.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return file.is_open() && !text.starts_with("#!") &&
         !text.starts_with(
             "\x7f"
             "ELF");
}

// Where the program is, and where libloft is when another program uses it.
std::vector<std::filesystem::path> own_folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path());
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &library) == 0) return folders;
  const auto file = std::filesystem::canonical(library.dli_fname, error);
  if (!error) folders.push_back(file.parent_path());
  return folders;
}

}  // namespace

Result<std::string> find_engine() {
  if (const char* given = std::getenv("LOFT_ENGINE"); given != nullptr && *given != '\0') {
    if (is_executable_file(given)) return std::string(given);
    return failure(ErrorKind::not_found, "use the engine '" + std::string(given) + "'",
                   "it is not an executable file", "correct or unset LOFT_ENGINE");
  }
  for (const auto& folder : own_folders())
    for (const char* place : {"loft-engine", "../loft-engine", "../libexec/loft/loft-engine",
                              "../../loft-engine", "../../libexec/loft/loft-engine"}) {
      const std::string candidate = (folder / place).lexically_normal().string();
      if (is_executable_file(candidate)) return candidate;
    }
  return failure(ErrorKind::not_found, "find loft-engine, which runs programs for the virtual PMU",
                 "it is neither beside loft nor in libexec/loft",
                 "install loft as a whole, or set LOFT_ENGINE to its path");
}

Result<Run> Run::prepare(const std::vector<std::string>& command, StandardStreams streams) {
  if (command.empty() || command[0].empty())
    return failure(ErrorKind::invalid_input, "run a program", "no command was given",
                   "write it after --, as in: loft stat --source virtual -- ./app");
  LOFT_TRY(const auto engine, find_engine());
  LOFT_TRY(const auto program, find_program(command[0]));
  LOFT_TRY(auto shared, Shared::create());
  LOFT_TRY(const auto descriptor, raise_descriptor(shared.descriptor()));
  LOFT_TRY(const auto polls, raise_descriptor(shared.polls()));
  const bool is_text = is_for_shell(program);
  const std::string file = is_text ? "/bin/sh" : program;
  std::vector<std::string> words{engine, fmt::format("{}:{}", descriptor.get(), polls.get()), file,
                                 file};
  if (is_text) words.insert(words.end(), {file, program});
  words.insert(words.end(), command.begin() + (is_text ? 1 : 0), command.end());
  if (::fcntl(shared.descriptor(), F_SETFD, FD_CLOEXEC) != 0)
    return failure_of_errno(errno, "keep the counters to the engine");
  const HiddenVariables hidden;
  LOFT_TRY(auto child, ChildProcess::prepare(words, streams));
  return Run(std::move(shared), std::move(child), command[0]);
}

Result<ProcessEnd> Run::wait() {
  LOFT_TRY(const auto end, child_.wait());
  LOFT_CHECK(check());
  return end;
}

Failure Run::refusal(std::string hint) const {
  const auto lines = shared_.messages();
  return failure(ErrorKind::unsupported, "count all of '" + name_ + "' with the virtual PMU",
                 lines.empty() ? "the engine gave up" : lines.back(), std::move(hint));
}

Result<void> Run::check_started() const {
  const bool has_ended = child_.pid() < 0;
  if (!has_ended || !shared_.slots().empty()) return {};
  if (shared_.refused() != 0) return refusal("nothing of it ran");
  return failure(ErrorKind::unsupported, "count '" + name_ + "' with the virtual PMU",
                 "the engine ended before it ran the program",
                 "it may lack a shared library: 'ldd' on loft-engine shows which");
}

Result<void> Run::check() const {
  LOFT_CHECK(check_started());
  if (shared_.refused() == 0) return {};
  return refusal("that process was ended there, with status 125");
}

}  // namespace loft::engine
