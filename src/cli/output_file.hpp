// A file that is too long to be held in memory: written beside its name piece by piece, and put in
// place only when it is whole. What was there before stays until then. What is no file (a pipe,
// /dev/null) is written to as it stands.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace loft::cli {

class OutputFile {
 public:
  [[nodiscard]] static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&&) = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // False after a failed write; commit() says why.
  bool write(std::string_view text);
  [[nodiscard]] Result<void> commit();

 private:
  OutputFile(Fd fd, std::string path, std::string beside)
      : fd_(std::move(fd)), path_(std::move(path)), beside_(std::move(beside)) {}

  Fd fd_;
  std::string path_;
  std::string beside_;
  int failed_with_ = 0;
};

}  // namespace loft::cli
