#include "cli/counts_at_hand.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "metric/run_counts.hpp"
#include "source/file/count_recording.hpp"

namespace loft::cli {

Result<metric::CountsFile> read_counts_of(const std::string& path, Terminal& terminal) {
  LOFT_TRY(const bool recording, source::is_recording(path));
  if (!recording) {
    LOFT_TRY(const auto text, read_file(path, std::size_t{1} << 30));
    return metric::read_counts(path, text);
  }
  LOFT_TRY(const auto opened, source::Recording::open(path));
  const sample::RunCounts run = source::count_recording(*opened);
  for (const std::string& note : run.notes) terminal.note("note: " + printable(note) + "\n");
  metric::CountsFile file;
  file.format = "recording";
  file.total = metric::counts_of(run);
  file.windows = metric::windows_of(run);
  return file;
}

}  // namespace loft::cli
