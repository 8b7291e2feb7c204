// Finds binaries and their debug files, and keeps the table of each.
//
//   SymbolStore store({.kallsyms = text_of_the_recording});
//   const auto table = store.open({.path = "/usr/bin/app", .build_id = "3fa9..."});
//
// A file whose build id is not the recorded one was replaced since: it gives no names, because they
// would be wrong ones, and the table says so. No other program is ever started, nothing is fetched.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/places.hpp"
#include "loft/perf_data/metadata.hpp"
#include "symbols/demangle.hpp"
#include "symbols/symbol_table.hpp"

namespace loft::symbols {

struct SymbolOptions {
  SystemRoot root;                        // binaries, debug files, /proc and /tmp are below this
  std::vector<std::string> search_paths;  // further folders with binaries, tried first
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
  std::string build_id_cache;  // perf's; empty: $PERF_BUILDID_DIR or ~/.debug
  std::string kallsyms;        // the text of the recording's kallsyms, where it is at hand
  // Functions that the recording brings along, for binaries that are not found.
  std::vector<perf_data::RecordedBinary> recorded;
  std::string kernel_release;  // of the recording; lets a kernel without build id be recognized
  bool debug_info = true;      // lines and inlined frames
  NameStyle names = NameStyle::plain;
};

// Whether a mapping of this name shows memory instead of a file: what runs there was made by the
// process itself.
[[nodiscard]] bool is_memory(std::string_view path);

// What stands for such code where nobody named it: its addresses differ from run to run, and there
// are as many as there are instructions.
inline constexpr std::string_view kNamelessCode = "[code without a name]";

// ".../jit-PID.dump": a JIT maps its file of notes so that whoever records learns of it.
[[nodiscard]] bool is_jit_dump(std::string_view path);

class RecordedSymbols;

class SymbolStore {
 public:
  explicit SymbolStore(SymbolOptions options = {});
  ~SymbolStore();

  // The table of a binary. Read once and kept; safe to call from several threads; never fails: a
  // table can be empty, and its why() tells the reason. These paths are special:
  //   [kernel.kallsyms]..., [guest.kernel...]   the kernel      [name]            a kernel module
  //   [vdso]                                    the vdso        .../jit-PID.dump  a jitdump
  //   .../perf-PID.map                          a JIT's map
  [[nodiscard]] std::shared_ptr<const SymbolTable> open(const Binary& binary);

  // Code that a process made, mapped as `path` (//anon, [heap], /memfd:...): what the recording
  // knows of it, its jitdump, where it has one with names in it, else its /tmp/perf-PID.map.
  [[nodiscard]] std::shared_ptr<const SymbolTable> open_jit(pid_t pid, const std::string& dump,
                                                            const std::string& path = {});

 private:
  struct Slot {
    std::once_flag once;
    std::shared_ptr<const SymbolTable> table;
  };

  template <class Read>
  [[nodiscard]] std::shared_ptr<const SymbolTable> read_once(const std::string& key,
                                                             const Read& read);

  SymbolOptions options_;
  std::shared_ptr<const RecordedSymbols> recorded_;
  std::shared_ptr<const std::string> kallsyms_;  // of the recording; null when it has none
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Slot>> slots_;
};

}  // namespace loft::symbols
