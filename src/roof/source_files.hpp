// Lines of source files, as debug information names them.
//
//   SourceFiles files;
//   files.line("/src/triad.c", 12);      // empty where the file is not there
#pragma once

#include <map>
#include <string>
#include <vector>

namespace loft::roof {

class SourceFiles {
 public:
  [[nodiscard]] std::string line(const std::string& file, unsigned number);

 private:
  const std::vector<std::string>& lines_of(const std::string& file);

  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace loft::roof
