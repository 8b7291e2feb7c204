#include "symbols/debuginfod.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

namespace loft::symbols {
namespace {

constexpr const char* kDebuginfod = "libdebuginfod.so.1";

// What loft uses of the library's interface, which has been the same since elfutils 0.178.
struct DebuginfodClient;
using BeginClient = DebuginfodClient* (*)();
using FindFile = int (*)(DebuginfodClient*, const unsigned char* id, int length, char** path);

class Debuginfod {
 public:
  std::string fetch(const std::string& build_id, Fetched what) {
    const std::lock_guard lock(mutex_);
    if (!is_loaded_) load();
    if (client_ == nullptr) return {};
    const FindFile find = what == Fetched::debug_file ? find_debug_file_ : find_executable_;
    char* path = nullptr;
    // A length of 0: the id is text.
    const int fd =
        find(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
    if (fd >= 0) ::close(fd);
    // Every further file would wait for the same silence.
    if (fd == -ETIME || fd == -ECONNREFUSED || fd == -EHOSTUNREACH || fd == -ENETUNREACH)
      client_ = nullptr;
    std::string found = fd >= 0 && path != nullptr ? path : "";
    std::free(path);
    return found;
  }

 private:
  void load() {
    is_loaded_ = true;
    void* library = ::dlopen(kDebuginfod, RTLD_NOW | RTLD_LOCAL);  // stays until the process ends
    if (library == nullptr) return;
    const auto begin = reinterpret_cast<BeginClient>(::dlsym(library, "debuginfod_begin"));
    find_debug_file_ = reinterpret_cast<FindFile>(::dlsym(library, "debuginfod_find_debuginfo"));
    find_executable_ = reinterpret_cast<FindFile>(::dlsym(library, "debuginfod_find_executable"));
    if (begin == nullptr || find_debug_file_ == nullptr || find_executable_ == nullptr) return;
    client_ = begin();  // ends with the process, as the library does
  }

  std::mutex mutex_;
  bool is_loaded_ = false;
  DebuginfodClient* client_ = nullptr;
  FindFile find_debug_file_ = nullptr;
  FindFile find_executable_ = nullptr;
};

}  // namespace

std::string fetch_by_build_id(const std::string& build_id, Fetched what) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') return {};
  // What is no build id becomes part of no address.
  if (build_id.size() < 4 || build_id.find_first_not_of("0123456789abcdef") != std::string::npos)
    return {};
  static Debuginfod debuginfod;
  return debuginfod.fetch(build_id, what);
}

}  // namespace loft::symbols
