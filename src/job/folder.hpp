// The folder of a job: DIR/NODE/RANK.data for each rank. A second run of a rank into the same
// folder is RANK.2.data, a third RANK.3.data: nothing is ever overwritten.
//
//   LOFT_TRY(const std::string path, claim_file("results", rank));      // results/node7/3.data
//   LOFT_CHECK(write_rank_file(path, summary));
//   LOFT_TRY(const auto files, rank_files("results"));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "job/rank.hpp"

namespace loft::job {

// Creates the file, empty, and the folders it is in. The file is this rank's from then on.
[[nodiscard]] Result<std::string> claim_file(const std::string& folder, const Rank& rank);

// "perf.data" of rank 3 is "perf.3.data", so that ranks in one folder do not take each other's
// place. Devices, pipes, standard output and the files of an only rank stay as they are.
[[nodiscard]] std::string file_of_rank(const std::string& path, const Rank& rank);

struct FileName {
  std::string path;
  std::string node;
  std::uint32_t rank = 0;
  std::uint32_t run = 1;  // the how many-th of this rank
};

struct FolderContents {
  std::vector<FileName> files;
  std::vector<std::string> foreign;  // what is no file of a rank, by its path
};
[[nodiscard]] Result<FolderContents> rank_files(const std::string& folder);

// Whether the path is a folder that has the file of a rank.
[[nodiscard]] bool is_job_folder(const std::string& path);

}  // namespace loft::job
