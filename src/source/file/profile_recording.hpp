// A recording, added up: the road from samples to a profile in one call.
//
//   LOFT_TRY(const auto recording, Recording::open(path));
//   LOFT_TRY(const auto profiled, profile_recording(*recording, options, symbol_search, workers));
//   sample::make_report(recording->summary(), profiled.result, *profiled.locations, history, {});
#pragma once

#include <memory>

#include "sample/profile.hpp"
#include "source/file/recording.hpp"

namespace loft::source {

struct ProfiledRecording {
  std::unique_ptr<symbols::SymbolStore> store;
  std::unique_ptr<sample::Locations> locations;
  sample::ProfileResult result;
};

struct SymbolSearch {
  std::vector<std::string> paths;  // further folders with binaries
  std::string kallsyms;            // a file to use instead of the recording's own
};

// The symbol tables of a recording: its own kallsyms and kernel release are made use of.
[[nodiscard]] Result<std::unique_ptr<symbols::SymbolStore>> open_symbols(
    const Recording& recording, const SymbolSearch& search);

[[nodiscard]] Result<ProfiledRecording> profile_recording(const Recording& recording,
                                                          const sample::ProfileOptions& options,
                                                          const SymbolSearch& search,
                                                          unsigned workers,
                                                          Progress* progress = nullptr);

}  // namespace loft::source
