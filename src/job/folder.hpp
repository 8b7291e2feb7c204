// The folder of a job: DIR/NODE/RANK.data for each rank. A second run of a rank into the same
// folder is RANK.2.data, a third RANK.3.data: nothing is ever overwritten.
//
//   LOFT_TRY(const std::string path, claim_file("results", rank));      // results/node7/3.data
//   LOFT_CHECK(write_rank_file(path, summary));
//   LOFT_TRY(const auto files, rank_files("results"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "job/rank.hpp"

namespace loft::job {

// Creates the file, empty, and the folders it is in. The file is this rank's from then on.
[[nodiscard]] Result<std::string> claim_file(const std::string& folder, const Rank& rank);
// The file of a recorder of the whole node: DIR/NODE/node.data, then node.2.data.
[[nodiscard]] Result<std::string> claim_node_file(const std::string& folder,
                                                  const std::string& node);

// A node's name as that of its folder: it comes from the environment, and must not lead elsewhere.
[[nodiscard]] std::string folder_of_node(const std::string& node);

// "20240229T235959Z": a window of a whole node, which began then (job/window.hpp).
[[nodiscard]] bool is_window_name(std::string_view name);

// "perf.data" of rank 3 is "perf.3.data", so that ranks in one folder do not take each other's
// place. Devices, pipes, standard output and the files of an only rank stay as they are.
[[nodiscard]] std::string file_of_rank(const std::string& path, const Rank& rank);

struct FileName {
  std::string path;
  std::string node;
  std::optional<std::uint32_t> rank;  // nothing: of all ranks of the node, or a window of it
  std::uint32_t run = 1;              // the how many-th of this rank, or of the node
};

struct FolderContents {
  std::vector<FileName> files;
  std::vector<std::string> foreign;  // what is no file of a rank, by its path
};
[[nodiscard]] Result<FolderContents> rank_files(const std::string& folder);

// Whether the path is a folder that has the file of a rank.
[[nodiscard]] bool is_job_folder(const std::string& path);

}  // namespace loft::job
