#include "cli/raster.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/child_process.hpp"
#include "base/file.hpp"
#include "base/nameless_file.hpp"

namespace loft::cli {
namespace {

Result<Fd> file_with(std::string_view content) {
  LOFT_TRY(Fd fd, memory_file("drawing"));
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0) return failure_of_errno(errno, "keep the drawing");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return failure_of_errno(errno, "keep the drawing");
  return fd;
}

}  // namespace

Result<std::string> rasterized(std::string_view svg) {
  const char* kHint = "install rsvg-convert (Debian: librsvg2-bin), or write an .svg file";
  LOFT_TRY(const Fd input, file_with(svg));
  LOFT_TRY(const Fd output, file_with({}));
  LOFT_TRY(auto converter, ChildProcess::prepare({"rsvg-convert", "--zoom=2", "--format=png"},
                                                 {.in = input.get(), .out = output.get()}));
  if (auto started = converter.start(); !started)
    return failure(ErrorKind::not_found, "make a PNG", started.error().why, kHint);
  LOFT_TRY(const ProcessEnd end, converter.wait());
  if (end.shell_status() != 0)
    return failure(ErrorKind::io, "make a PNG",
                   fmt::format("rsvg-convert ended with status {}", end.shell_status()), kHint);
  return read_file(fmt::format("/proc/self/fd/{}", output.get()));
}

}  // namespace loft::cli
