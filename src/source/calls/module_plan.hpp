// What is to be patched in one binary: the functions that were asked for, and the returns of those
// that they end in a jump to.
//
//   PlanStore plans(request, false, run.functions);
//   LOFT_TRY(const ModulePlan* plan, plans.of("/usr/bin/app"));
//
// Plans are kept: a binary that several processes run is read once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sample/call_request.hpp"
#include "sample/calls.hpp"
#include "source/calls/code_file.hpp"
#include "source/calls/patch_plan.hpp"
#include "source/calls/trampolines.hpp"

namespace loft::source::calls {

struct FunctionPlan {
  PatchPlan patch;
  Hook::Kind hook = Hook::Kind::call;
  std::uint32_t function = sample::kNoFunction;  // index of those that were asked for
  std::uint32_t facts = 0;                       // as in wire.h
  std::uint32_t leave = 0;                       // what it does, as loft_calls_leave
};

struct ModulePlan {
  std::shared_ptr<const CodeFile> file;
  std::vector<FunctionPlan> functions;
  std::uint32_t watched = 0;  // of them, those with sums
  std::string why_not;        // not empty: no process that has it may be watched
};

class PlanStore {
 public:
  // Adds what is asked for to `functions`, also what cannot be watched.
  PlanStore(const sample::CallRequest& request, bool only_counts,
            std::vector<sample::WatchedFunction>& functions)
      : request_(request), only_counts_(only_counts), functions_(functions) {}

  // A binary, read once.
  [[nodiscard]] Result<std::shared_ptr<const CodeFile>> file(const std::string& path);
  // Null where nothing of the binary is asked for, and nothing in it must be known.
  [[nodiscard]] Result<const ModulePlan*> of(const std::string& path);

  // All binaries that it was asked about.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  const sample::CallRequest& request_;
  bool only_counts_;
  std::vector<sample::WatchedFunction>& functions_;
  std::map<std::string, std::shared_ptr<const CodeFile>> files_;
  std::map<std::string, std::unique_ptr<const ModulePlan>> plans_;
};

}  // namespace loft::source::calls
