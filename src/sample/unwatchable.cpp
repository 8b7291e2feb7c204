#include "sample/unwatchable.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "symbols/symbol_store.hpp"

namespace loft::sample {
namespace {

constexpr std::uint64_t kMostCode = 8u << 20;  // bytes of a binary that are looked through
constexpr std::size_t kMostNames = 1000;

std::vector<std::string> unmatched_patterns(const CallRun& run, const CallRequest& request) {
  std::vector<std::string> unmatched;
  for (const std::string& pattern : request.patterns)
    if (std::ranges::none_of(run.functions, [&](const WatchedFunction& function) {
          return matches_any({pattern}, function.name);
        }))
      unmatched.push_back(pattern);
  return unmatched;
}

// Names of functions that an address of the code lies in without being called there.
std::set<std::string> inlined_names(const symbols::SymbolTable& table,
                                    const std::vector<std::string>& patterns) {
  std::set<std::string> seen;
  std::set<std::string> names;
  std::uint64_t left = kMostCode;
  for (const symbols::Symbol* symbol : table.functions()) {
    if (symbol->size > left) break;
    left -= symbol->size;
    for (std::uint64_t at = symbol->start; at - symbol->start < symbol->size; ++at)
      for (const symbols::InlinedFrame& frame : table.inlined(at))
        if (const auto [name, is_new] = seen.emplace(frame.function);
            is_new && matches_any(patterns, *name))
          names.insert(*name);
  }
  return names;
}

void add(CallRun& run, std::string name, std::string dso, std::string why, std::string hint) {
  run.functions.push_back({std::move(name), std::move(dso), 0, std::move(why), std::move(hint)});
  run.statistics.emplace_back().of.resize(run.quantities.size());
}

void add_inlined(CallRun& run, const CallRequest& request,
                 const std::vector<std::string>& binaries) {
  const std::vector<std::string> patterns = unmatched_patterns(run, request);
  if (patterns.empty()) return;
  symbols::SymbolStore store;
  for (const std::string& binary : binaries) {
    if (!is_chosen_binary(request, binary)) continue;
    for (const std::string& name : inlined_names(*store.open({.path = binary}), patterns))
      add(run, name, binary, "the compiler put it into all its callers (inlined)",
          "mark it __attribute__((noinline)), or compile with -fno-inline");
  }
}

void add_made(CallRun& run, const CallRequest& request) {
  std::set<pid_t> processes;
  for (const CallThread& thread : run.threads) processes.insert(thread.process);
  symbols::SymbolStore store;
  std::set<std::string> names;
  for (const pid_t pid : processes) {
    const std::string path = fmt::format("/tmp/perf-{}.map", pid);
    if (::access(path.c_str(), R_OK) != 0 || !is_chosen_binary(request, path)) continue;
    for (const symbols::Symbol* symbol : store.open({.path = path})->functions()) {
      const std::string name(symbol->name);
      if (names.size() == kMostNames) return;
      if (!matches_any(request.patterns, name) || !names.insert(name).second) continue;
      add(run, name, path, "a JIT made its code while the program ran",
          "sample it: loft record -F 999 -g");
    }
  }
}

}  // namespace

void add_unwatchable(CallRun& run, const CallRequest& request,
                     const std::vector<std::string>& binaries) {
  add_inlined(run, request, binaries);
  add_made(run, request);
}

}  // namespace loft::sample
