// A program in the memory of a process, between two execs: what of it is patched, and where.
//
//   LOFT_TRY(auto image, Image::of(pid, plans, options));
//   LOFT_CHECK(image.watch_modules(thread));     // and again whenever it has loaded a library
//   ...
//   LOFT_CHECK(image.restore());                 // every byte as it was; all threads stand still
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "source/calls/arena.hpp"
#include "source/calls/module_plan.hpp"
#include "source/calls/tracee.hpp"
#include "source/calls/trampolines.hpp"
#include "source/memory_ranges.hpp"

namespace loft::source::calls {

// Where the dynamic loader says that it has loaded something, and what.
struct LoaderHook {
  std::uint64_t trap = 0;   // where a thread stands then
  std::uint64_t state = 0;  // of a number that is 0 when all libraries are in place; 0: unknown
};

// An error that says so where a thread runs other code.
[[nodiscard]] Result<void> check_64bit(const user_regs_struct& registers, pid_t pid);

class Image {
 public:
  // Nothing of it needs to stand still yet.
  [[nodiscard]] static Result<Image> of(pid_t pid, PlanStore& plans, const ArenaOptions& options);

  // Of a process that was forked from this one's: it has the same patches.
  [[nodiscard]] Result<Image> forked(pid_t child) const;

  // Patches what has been loaded since the last time.
  [[nodiscard]] Result<void> watch_modules(const Tracee& thread);
  // Takes the patches of one function away; it is an index of those asked for.
  [[nodiscard]] Result<void> leave_alone(std::uint32_t function);
  [[nodiscard]] Result<void> restore();
  [[nodiscard]] bool is_restored() const { return is_restored_; }
  // Unmaps what was added. No thread runs there.
  [[nodiscard]] Result<void> unmap(const Tracee& thread);

  // Stops at each change of the libraries. Nothing for a static program. What is mapped is read
  // here and known to watch_modules() that follows, unless the program has run since.
  [[nodiscard]] Result<void> hook_loader(const Tracee& thread);
  void forget_mappings() { mappings_.clear(); }
  [[nodiscard]] const std::optional<LoaderHook>& loader() const { return loader_; }
  [[nodiscard]] bool is_loader_consistent() const;

  [[nodiscard]] Arena* arena() const { return arena_.get(); }
  [[nodiscard]] const std::shared_ptr<Arena>& shared_arena() const { return arena_; }
  // Of the arena's functions: which that is of those asked for.
  [[nodiscard]] const std::vector<std::uint32_t>& functions() const { return *functions_; }

  // Whether code of loft's is at that address.
  [[nodiscard]] bool is_own_code(std::uint64_t address) const;
  // Where the instruction is that a patch covers; nothing where none does.
  [[nodiscard]] std::optional<std::uint64_t> moved(std::uint64_t address) const;
  [[nodiscard]] const Memory& memory() const { return memory_; }
  // Whether a system call that it makes for loft may end it.
  [[nodiscard]] bool is_filtered() const;
  [[nodiscard]] std::uint64_t syscall_instruction() const { return syscall_; }
  // What went wrong on the way without being an end of it.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Placed {
    Patch patch;
    std::uint32_t function = sample::kNoFunction;
  };
  struct Module {
    const ModulePlan* plan = nullptr;
    std::uint64_t bias = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  struct Area {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
  };

  Image(pid_t pid, PlanStore& plans, const ArenaOptions& options, Memory memory)
      : pid_(pid), plans_(&plans), options_(options), memory_(std::move(memory)) {}
  [[nodiscard]] std::vector<Module> new_modules();
  void add_mapping(std::uint64_t start, std::uint64_t size);
  [[nodiscard]] Result<void> make_arena(const Tracee& thread, std::uint32_t functions);
  [[nodiscard]] Result<void> watch(const Tracee& thread, const Module& module);
  [[nodiscard]] Result<std::uint64_t> make_area(const Tracee& thread, std::uint64_t first,
                                                std::uint64_t last, std::uint64_t size);
  [[nodiscard]] std::optional<Hook> hook_of(const FunctionPlan& plan);
  struct Edit {
    std::uint64_t address = 0;
    std::array<std::byte, kPatchSize> bytes{};
  };
  [[nodiscard]] Result<void> write(std::vector<Edit> edits) const;
  [[nodiscard]] Result<void> write_patches(std::size_t first) const;

  pid_t pid_;
  PlanStore* plans_;
  ArenaOptions options_;
  Memory memory_;
  std::uint64_t syscall_ = 0;
  std::optional<LoaderHook> loader_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<std::vector<std::uint32_t>> functions_ =
      std::make_shared<std::vector<std::uint32_t>>();
  std::set<std::pair<std::string, std::uint64_t>> known_;  // binaries and where they begin
  std::vector<MemoryRange> mappings_;                      // while the program stands still
  std::vector<Area> areas_;
  std::vector<Placed> placed_;
  std::vector<Move> moves_;  // by `from` once all are there
  std::vector<std::string> notes_;
  bool is_restored_ = false;
};

}  // namespace loft::source::calls
