#include "source/file/profile_recording.hpp"

#include <algorithm>

#include "base/file.hpp"

namespace loft::source {
namespace {

constexpr std::size_t kKallsymsLimit = 256u << 20;

bool wants(const sample::ProfileOptions& options, sample::Dimension dimension) {
  return std::find(options.by.begin(), options.by.end(), dimension) != options.by.end();
}

}  // namespace

Result<std::unique_ptr<symbols::SymbolStore>> open_symbols(const Recording& recording,
                                                           const SymbolSearch& search) {
  for (const auto& path : search.paths)
    if (!list_directory(path))
      return failure(ErrorKind::not_found, "look for binaries in '" + path + "'",
                     "it is no folder that can be read", "name folders behind --symbols");
  symbols::SymbolOptions options;
  options.search_paths = search.paths;
  options.kallsyms = recording.kallsyms();
  options.recorded = recording.metadata().recorded_binaries;
  options.kernel_release = recording.metadata().os_release;
  if (!search.kallsyms.empty()) {
    LOFT_TRY(options.kallsyms, read_file(search.kallsyms, kKallsymsLimit));
  }
  return std::make_unique<symbols::SymbolStore>(std::move(options));
}

Result<ProfiledRecording> profile_recording(const Recording& recording,
                                            const sample::ProfileOptions& options,
                                            const SymbolSearch& search, unsigned workers,
                                            Progress* progress) {
  ProfiledRecording profiled;
  LOFT_TRY(profiled.store, open_symbols(recording, search));
  const sample::Locations::Options detail{wants(options, sample::Dimension::line), options.inlines};
  profiled.locations =
      std::make_unique<sample::Locations>(recording.history(), *profiled.store, detail);
  sample::Profile profile(recording.history(), *profiled.locations, recording.metadata().events,
                          options);
  recording.for_each_sample(
      workers, [&](unsigned number) { return profile.worker(number); }, progress);
  profiled.result = profile.finish();
  return profiled;
}

}  // namespace loft::source
