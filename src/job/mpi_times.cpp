#include "job/mpi_times.hpp"

#include <fmt/format.h>
#include <probes/mpi/wire.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/clock.hpp"
#include "base/nameless_file.hpp"

namespace loft::job {
namespace {

constexpr const char* kPreload = "LD_PRELOAD";

// Beside the program, or where it is installed.
std::optional<std::string> find_library() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  for (const char* place : {"libloft_mpi.so", "../libexec/loft/libloft_mpi.so"}) {
    const std::string path = (program.parent_path() / place).lexically_normal().string();
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MpiTimes> MpiTimes::start() {
  const auto library = find_library();
  auto file = memory_file("loft-mpi-times");
  if (!library || !file || ::ftruncate(file->get(), sizeof(loft_mpi_times)) != 0)
    return std::nullopt;
  auto page = Mapping::shared(*file, sizeof(loft_mpi_times), Mapping::Access::read_write);
  if (!page) return std::nullopt;
  const std::uint64_t magic = LOFT_MPI_MAGIC;
  std::memcpy(page->writable_bytes().data() + offsetof(loft_mpi_times, magic), &magic,
              sizeof magic);
  MpiTimes times;
  if (const char* before = std::getenv(kPreload)) times.preloaded_before_ = before;
  const std::string all =
      times.preloaded_before_ ? *library + ":" + *times.preloaded_before_ : *library;
  ::setenv(kPreload, all.c_str(), 1);
  const std::string path = fmt::format("/proc/{}/fd/{}", ::getpid(), file->get());
  ::setenv(LOFT_MPI_VARIABLE, path.c_str(), 1);
  times.file_ = *std::move(file);
  times.page_ = *std::move(page);
  return times;
}

MpiTimes::~MpiTimes() {
  if (!file_.is_open()) return;
  ::unsetenv(LOFT_MPI_VARIABLE);
  if (preloaded_before_)
    ::setenv(kPreload, preloaded_before_->c_str(), 1);
  else
    ::unsetenv(kPreload);
}

std::optional<MpiTime> MpiTimes::read() const {
  loft_mpi_times times;
  std::memcpy(&times, page_.bytes().data(), sizeof times);
  if (times.calls == 0 && times.begin == 0) return std::nullopt;
  MpiTime read{times.main_ns, times.calls};
  // A rank that was killed was in its last call, and between the two, until then.
  const auto moment = static_cast<std::uint64_t>(now().count());
  if (times.main_since != 0 && times.main_since < moment) read.ns += moment - times.main_since;
  const std::uint64_t end = times.end == 0 ? moment : times.end;
  if (times.begin != 0 && times.begin < end) read.span_ns = end - times.begin;
  return read;
}

}  // namespace loft::job
