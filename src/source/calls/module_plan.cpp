#ifdef LOFT_HAS_ENGINE

#include "source/calls/module_plan.hpp"

#include <algorithm>
#include <optional>

#include <probes/calls/wire.h>
#include "symbols/demangle.hpp"

namespace loft::source::calls {
namespace {

constexpr std::string_view kHint = "use --source virtual";

std::string shown(std::string_view name) {
  std::string readable = symbols::demangle(name);
  return readable.empty() ? std::string(name) : readable;
}

// Code that the kernel, the unwinder or the loader knows byte by byte, or that is no function.
bool must_stay(std::string_view name) {
  return name == "__restore_rt" || name == "__restore" || name == "_dl_debug_state" ||
         name == "_start" || name == "__rt_sigreturn";
}

// Go's runtime moves stacks and begins functions anew when it has, so that calls would be counted
// twice, and finds its way by the addresses of its own code.
bool is_go(const CodeFile& file) { return file.elf().section(".gopclntab") != nullptr; }

// What a function does that the agent must know of; 0 for all others.
std::uint32_t leave_of(std::string_view name) {
  constexpr std::pair<std::string_view, loft_calls_leave> kKnown[] = {
      {"setcontext", kLoftSetsContext},
      {"swapcontext", kLoftSwapsContext},
      {"__cxa_begin_catch", kLoftCatches},
      {"__rust_panic_cleanup", kLoftCatches},
      {"longjmp", kLoftJumps},
      {"siglongjmp", kLoftJumps},
      {"__longjmp_chk", kLoftJumps},
      {"arch_prctl", kLoftSetsSegment},
      {"syscall", kLoftCallsSystem}};
  for (const auto& [known, what] : kKnown)
    if (known == name) return what;
  return 0;
}

// Whether it may have such functions.
bool is_runtime_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libc.") || name.starts_with("libstdc++.") ||
         name.starts_with("libc++abi.");
}

bool sets_segment(const std::string& path) {
  const auto elf = symbols::ElfFile::open(path);
  return elf && !find_segment_writes(**elf).empty();
}

class ModulePlanner {
 public:
  ModulePlanner(const CodeFile& file, const std::string& path, const sample::CallRequest& request,
                bool only_counts, std::vector<sample::WatchedFunction>& functions)
      : file_(file),
        path_(path),
        request_(request),
        only_counts_(only_counts),
        is_chosen_(sample::is_chosen_binary(request, path)),
        functions_(functions) {}

  void run(ModulePlan& into) {
    for (const CodeFunction& function : file_.functions()) add(function);
    if (!only_counts_) {
      const std::size_t chosen = plans_.size();
      for (std::size_t i = 0; i < chosen; ++i)
        if (plans_[i].hook == Hook::Kind::call) add_facts(i);
    }
    add_segment_writes(into);
    into.watched = watched_;
    into.functions = std::move(plans_);
  }

 private:
  void add(const CodeFunction& function) {
    const auto names = file_.names_of(function);
    std::uint32_t leave = 0;
    for (const std::string_view name : names) leave = std::max(leave, leave_of(name));
    // One of these that is watched itself ends what an exception has left when it begins.
    const bool is_needed = leave != 0 && (!only_counts_ || is_about_segment(leave));
    const bool is_taken = (is_needed && leave != kLoftCatches) || sets_segment(function);
    bool is_watched = false;
    for (const std::string_view name : names) {
      if (!is_chosen_ || is_watched) break;
      if (name.find(".cold") != std::string_view::npos) continue;  // a part of another
      const std::string readable = shown(name);
      if (!sample::matches_any(request_.patterns, readable)) continue;
      add_chosen(function, name, readable, is_taken);
      is_watched = true;
    }
    if (leave != 0 && (is_taken || (is_needed && !is_watched))) add_leave(function, leave);
  }

  [[nodiscard]] bool sets_segment(const CodeFunction& function) const {
    return std::ranges::any_of(file_.segment_writes(), [&](std::uint64_t address) {
      return address >= function.start && address < function.end();
    });
  }

  // A function that sets gs is about to take it from the agent: loft must know before.
  void add_segment_writes(ModulePlan& into) {
    for (const std::uint64_t address : file_.segment_writes()) {
      const CodeFunction* function = file_.function_around(address);
      const std::size_t before = plans_.size();
      if (function != nullptr) add_leave(*function, kLoftWritesSegment);
      if (plans_.size() == before)
        into.why_not = "code in '" + path_ + "' sets the gs register, and cannot be patched";
    }
  }

  static bool is_about_segment(std::uint32_t leave) {
    return leave == kLoftSetsSegment || leave == kLoftCallsSystem;
  }

  void add_leave(const CodeFunction& function, std::uint32_t leave) {
    FunctionPlan plan;
    plan.patch = plan_function(file_, function, Watch::calls);
    plan.hook = Hook::Kind::change;
    plan.leave = leave;
    if (plan.patch.why_not.empty()) plans_.push_back(std::move(plan));
  }

  void add_chosen(const CodeFunction& function, std::string_view name, const std::string& readable,
                  bool is_taken) {
    FunctionPlan plan;
    if (is_taken) {
      plan.patch.why_not = "loft itself must know when it is called";
    } else if (is_go(file_)) {
      plan.patch.why_not = "Go's runtime moves its stack";
    } else if (must_stay(name)) {
      plan.patch.why_not = "others know its code byte by byte";
    } else {
      plan.patch = plan_function(file_, function, only_counts_ ? Watch::calls : Watch::times);
    }
    plan.hook = only_counts_ ? Hook::Kind::count : Hook::Kind::call;
    plan.function = static_cast<std::uint32_t>(functions_.size());
    functions_.push_back({readable, path_, function.start, plan.patch.why_not,
                          plan.patch.why_not.empty() ? std::string() : std::string(kHint)});
    if (!plan.patch.why_not.empty()) return;
    ++watched_;
    index_of_[function.start] = plans_.size();
    plans_.push_back(std::move(plan));
  }

  void add_facts(std::size_t index) {
    FunctionPlan& plan = plans_[index];
    if (plan.patch.loops_to_start) plan.facts |= LOFT_CALLS_LOOPS;
    if (plan.patch.tail_calls.empty() && !plan.patch.has_unknown_jumps) return;
    plan.facts |= LOFT_CALLS_HAS_TAIL_CALLS;
    if (ends_unseen(index)) plans_[index].facts |= LOFT_CALLS_LATE_END;
  }

  // Whether it may end in a jump to something whose return nobody sees.
  bool ends_unseen(std::size_t index) {
    const auto known = is_unseen_.find(index);
    if (known != is_unseen_.end()) return known->second;
    is_unseen_[index] = false;  // a cycle of jumps leads to nothing new
    bool result = plans_[index].patch.has_unknown_jumps;
    const std::vector<std::uint64_t> targets = plans_[index].patch.tail_calls;
    for (const std::uint64_t target : targets) {
      if (result) break;
      const auto next = index_of_returns(target);
      result = !next || ends_unseen(*next);
    }
    return is_unseen_[index] = result;
  }

  // Sees to it that the returns of a function are seen, which need not be one that was asked for.
  std::optional<std::size_t> index_of_returns(std::uint64_t start) {
    const auto known = index_of_.find(start);
    if (known != index_of_.end()) return known->second;
    if (is_unseen_at_.contains(start)) return std::nullopt;
    const CodeFunction* function = file_.function_at(start);
    FunctionPlan plan;
    if (function != nullptr) plan.patch = plan_function(file_, *function, Watch::returns_only);
    if (function == nullptr || !plan.patch.why_not.empty()) {
      is_unseen_at_[start] = true;
      return std::nullopt;
    }
    plan.hook = Hook::Kind::returns;
    index_of_[start] = plans_.size();
    plans_.push_back(std::move(plan));
    return plans_.size() - 1;
  }

  const CodeFile& file_;
  const std::string& path_;
  const sample::CallRequest& request_;
  bool only_counts_;
  bool is_chosen_;
  std::vector<sample::WatchedFunction>& functions_;
  std::vector<FunctionPlan> plans_;
  std::uint32_t watched_ = 0;
  std::map<std::uint64_t, std::size_t> index_of_;  // by address
  std::map<std::size_t, bool> is_unseen_;
  std::map<std::uint64_t, bool> is_unseen_at_;
};

}  // namespace

Result<std::shared_ptr<const CodeFile>> PlanStore::file(const std::string& path) {
  auto known = files_.find(path);
  if (known == files_.end()) {
    LOFT_TRY(auto opened, CodeFile::open(path));
    known = files_.emplace(path, std::move(opened)).first;
  }
  return known->second;
}

std::vector<std::string> PlanStore::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, plan] : plans_) paths.push_back(path);
  return paths;
}

Result<const ModulePlan*> PlanStore::of(const std::string& path) {
  auto known = plans_.find(path);
  if (known == plans_.end()) {
    auto plan = std::make_unique<ModulePlan>();
    if (sample::is_chosen_binary(request_, path) || is_runtime_library(path) ||
        sets_segment(path)) {
      LOFT_TRY(plan->file, file(path));
      ModulePlanner(*plan->file, path, request_, only_counts_, functions_).run(*plan);
    }
    known = plans_.emplace(path, std::move(plan)).first;
  }
  const ModulePlan& plan = *known->second;
  return plan.functions.empty() && plan.why_not.empty() ? nullptr : &plan;
}

}  // namespace loft::source::calls

#endif
