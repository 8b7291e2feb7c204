#ifdef LOFT_HAS_ENGINE

#include "source/calls/image.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include <probes/calls/wire.h>
#include "base/file.hpp"
#include "base/text.hpp"
#include "source/calls/room.hpp"
#include "symbols/elf_symbols.hpp"

namespace loft::source::calls {
namespace {

constexpr std::uint32_t kMostFunctions = 1u << 18;

// An entry of the auxiliary vector; 0 where there is none.
std::uint64_t auxiliary(pid_t pid, std::uint64_t kind) {
  const auto text = read_file(fmt::format("/proc/{}/auxv", pid));
  if (!text) return 0;
  ByteReader in(std::as_bytes(std::span(*text)), kHostOrder);
  while (in.remaining() >= 16) {
    const std::uint64_t key = in.u64();
    const std::uint64_t value = in.u64();
    if (key == kind) return value;
  }
  return 0;
}

// What is in memory must be what the file has: the plan was made from that.
bool is_unchanged(const std::vector<Patch>& patches, Bytes code, std::uint64_t start) {
  return std::all_of(patches.begin(), patches.end(), [&](const Patch& patch) {
    const std::uint64_t at = patch.address - start;
    return at < code.size() && code.size() - at >= kPatchSize &&
           std::equal(patch.original.begin(), patch.original.end(),
                      code.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

bool is_unchanged(const std::vector<Patch>& patches, const Memory& memory) {
  return std::all_of(patches.begin(), patches.end(), [&](const Patch& patch) {
    std::array<std::byte, kPatchSize> bytes{};
    return memory.read(patch.address, bytes) && bytes == patch.original;
  });
}

// How many filters on its system calls a process has.
std::uint64_t filters_of(pid_t pid) {
  const auto status = read_file(fmt::format("/proc/{}/status", pid));
  if (!status) return 0;
  constexpr std::string_view kCount = "Seccomp_filters:\t";  // since Linux 5.9
  const std::size_t at = status->find(kCount);
  if (at == std::string::npos) return status->find("Seccomp:\t0") == std::string::npos ? 1 : 0;
  const std::size_t digits = at + kCount.size();
  return parse_u64(status->substr(digits, status->find('\n', digits) - digits)).value_or(0);
}

}  // namespace

Result<void> check_64bit(const user_regs_struct& registers, pid_t pid) {
  if (is_64bit(registers)) return {};
  return failure(ErrorKind::unsupported, "watch calls natively",
                 fmt::format("process {} runs code of 32 bits", pid));
}

Result<Image> Image::of(pid_t pid, PlanStore& plans, const ArenaOptions& options) {
  LOFT_TRY(Memory memory, Memory::open(pid));
  Image image(pid, plans, options, std::move(memory));
  LOFT_TRY(image.syscall_, find_syscall_instruction(pid, image.memory_));
  return image;
}

Result<Image> Image::forked(pid_t child) const {
  LOFT_TRY(Memory memory, Memory::open(child));
  Image image(child, *plans_, options_, std::move(memory));
  image.syscall_ = syscall_;
  image.loader_ = loader_;
  image.arena_ = arena_;
  image.functions_ = functions_;
  image.known_ = known_;
  image.areas_ = areas_;
  image.placed_ = placed_;
  image.moves_ = moves_;
  image.is_restored_ = is_restored_;
  return image;
}

Result<void> Image::hook_loader(const Tracee& thread) {
  if (is_filtered()) return {};  // watch_modules() tells
  const std::uint64_t base = auxiliary(pid_, AT_BASE);
  if (base == 0) return {};
  LOFT_TRY(mappings_, mappings_of(pid_));
  const auto mapping = std::find_if(mappings_.begin(), mappings_.end(),
                                    [&](const MemoryRange& m) { return m.start == base; });
  if (mapping == mappings_.end() || !mapping->path.starts_with('/')) return {};
  LOFT_TRY(const auto file, plans_->file(mapping->path));
  const auto hook = symbols::address_of_symbol(file->elf(), "_dl_debug_state");
  const CodeFunction* function = hook ? file->function_at(*hook) : nullptr;
  PatchPlan plan;
  plan.why_not = "it does not tell debuggers of them";
  if (function != nullptr) plan = plan_function(*file, *function, Watch::calls);
  if (!plan.why_not.empty()) {
    notes_.push_back("libraries that are loaded later are not watched: of '" + mapping->path +
                     "', " + plan.why_not);
    return {};
  }
  const std::uint64_t size = TrampolineArea::space_for_agent() + TrampolineArea::space_for(plan);
  LOFT_TRY(const auto address,
           make_area(thread, base + function->start, base + function->end(), size));
  TrampolineArea area(address);
  LOFT_TRY(const auto patches, area.add(*file, plan, base, {.kind = Hook::Kind::loader}));
  std::vector<std::byte> code(static_cast<std::size_t>(function->size) + kPatchSize);
  LOFT_CHECK(memory_.read(base + function->start, code));
  if (!is_unchanged(patches, code, base + function->start)) return {};
  LOFT_CHECK(memory_.write(address, area.code()));
  const std::size_t first = placed_.size();
  for (const Patch& patch : patches) placed_.push_back({patch, sample::kNoFunction});
  loader_ = LoaderHook{area.loader_trap(), 0};
  if (const auto debug = symbols::address_of_symbol(file->elf(), "_r_debug"))
    loader_->state = base + *debug + 24;  // behind version, list and address of the hook
  return write_patches(first);
}

bool Image::is_loader_consistent() const {
  if (!loader_ || loader_->state == 0) return true;
  const auto state = memory_.word(loader_->state);
  return !state || static_cast<std::uint32_t>(*state) == 0;
}

std::vector<Image::Module> Image::new_modules() {
  std::vector<Module> found;
  for (const MemoryRange& mapping : mappings_) {
    if (!mapping.is_code || !mapping.path.starts_with('/')) continue;
    if (!known_.emplace(mapping.path, mapping.start).second) continue;
    const auto plan = plans_->of(mapping.path);
    if (!plan) {
      notes_.push_back(to_string(plan.error()));
      continue;
    }
    if (*plan == nullptr) continue;
    const auto address = (*plan)->file->elf().address_of_offset(mapping.offset);
    if (!address) continue;
    found.push_back({*plan, mapping.start - *address, mapping.start, mapping.end});
  }
  return found;
}

Result<void> Image::make_arena(const Tracee& thread, std::uint32_t functions) {
  ArenaOptions options = options_;
  options.functions = std::min(2 * functions + 1024, kMostFunctions);
  LOFT_TRY(arena_, Arena::create(thread, syscall_, pid_, options));
  add_mapping(arena_->address(), arena_->size());
  return {};
}

// A filter on system calls may end the program when it makes one for loft. Filters that loft has
// as well, such as those of a container, let through what loft makes.
bool Image::is_filtered() const { return filters_of(pid_) > filters_of(::getpid()); }

Result<void> Image::watch_modules(const Tracee& thread) {
  if (is_filtered()) {
    notes_.push_back("what a program loads once it filters its system calls is not watched");
    return {};
  }
  if (mappings_.empty()) {
    LOFT_TRY(mappings_, mappings_of(pid_));
  }
  const auto modules = new_modules();
  std::uint32_t watched = 0;
  for (const Module& module : modules) {
    watched += module.plan->watched;
    if (module.plan->why_not.empty()) continue;
    const auto refused = failure(ErrorKind::unsupported, "watch calls natively",
                                 module.plan->why_not, "use --source virtual");
    if (arena_ != nullptr) return refused;
    notes_.push_back(to_string(refused.value()));
    return restore();  // the loader's hook is all that there is
  }
  if (arena_ == nullptr && watched == 0) {
    mappings_.clear();
    return {};
  }
  if (arena_ == nullptr) LOFT_CHECK(make_arena(thread, watched));
  for (const Module& module : modules)
    if (const auto done = watch(thread, module); !done) notes_.push_back(to_string(done.error()));
  mappings_.clear();
  return {};
}

// Nothing where there is no room for the sums of another function.
std::optional<Hook> Image::hook_of(const FunctionPlan& plan) {
  Hook hook{plan.hook, 0, plan.leave};
  if (plan.function == sample::kNoFunction) return hook;
  const auto slot = static_cast<std::uint32_t>(functions_->size());
  if (slot >= arena_->capacity()) return std::nullopt;
  functions_->push_back(plan.function);
  hook.sums = Arena::offset_of_sums(slot) | plan.facts;
  return hook;
}

// What loft has had mapped itself since the mappings were read.
void Image::add_mapping(std::uint64_t start, std::uint64_t size) {
  const auto behind = std::ranges::upper_bound(mappings_, start, {}, &MemoryRange::start);
  mappings_.insert(behind, {start, start + size, 0, false, {}});
}

// Memory for code, within reach of [first, last).
Result<std::uint64_t> Image::make_area(const Tracee& thread, std::uint64_t first,
                                       std::uint64_t last, std::uint64_t size) {
  size = (size + 4095) & ~std::uint64_t{4095};
  const auto room = find_room(mappings_, first, last, size);
  if (!room)
    return failure(ErrorKind::limit, "watch calls", "there is no room near the program's code");
  constexpr std::uint64_t kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  LOFT_TRY(const auto address,
           thread.system_call(syscall_, SYS_mmap,
                              {*room, size, PROT_READ | PROT_EXEC, kHow, ~std::uint64_t{0}, 0}));
  areas_.push_back({address, size});
  add_mapping(address, size);
  return address;
}

Result<void> Image::watch(const Tracee& thread, const Module& module) {
  std::uint64_t size = TrampolineArea::space_for_agent();
  for (const FunctionPlan& plan : module.plan->functions)
    size += TrampolineArea::space_for(plan.patch);
  LOFT_TRY(const auto address, make_area(thread, module.first, module.last, size));
  // Few patches are looked at one by one: the program may be held meanwhile.
  constexpr std::size_t kFew = 32;
  const bool has_few = module.plan->functions.size() <= kFew;
  std::vector<std::byte> code;
  if (!has_few) {
    code.resize(static_cast<std::size_t>(module.last - module.first));
    LOFT_CHECK(memory_.read(module.first, code));
  }
  const auto is_as_in_file = [&](const std::vector<Patch>& patches) {
    return has_few ? is_unchanged(patches, memory_) : is_unchanged(patches, code, module.first);
  };
  TrampolineArea area(address);
  const std::size_t first = placed_.size();
  std::size_t skipped = 0;
  for (const FunctionPlan& plan : module.plan->functions) {
    const auto hook = hook_of(plan);
    const auto patches = hook ? area.add(*module.plan->file, plan.patch, module.bias, *hook)
                              : failure(ErrorKind::limit, "watch", "too many functions");
    if (!patches || !is_as_in_file(*patches)) {
      ++skipped;
      continue;
    }
    for (const Patch& patch : *patches) placed_.push_back({patch, plan.function});
  }
  if (skipped != 0)
    notes_.push_back(
        fmt::format("not watched, for lack of room or since it was changed in memory: {} of the "
                    "functions of '{}'",
                    skipped, module.plan->file->elf().path()));
  LOFT_CHECK(memory_.write(address, area.code()));
  moves_.insert(moves_.end(), area.moves().begin(), area.moves().end());
  std::sort(moves_.begin(), moves_.end(),
            [](const Move& a, const Move& b) { return a.from < b.from; });
  return write_patches(first);
}

// Patches that are near each other are written together: each write costs a system call, and the
// program is held meanwhile.
Result<void> Image::write(std::vector<Edit> edits) const {
  std::sort(edits.begin(), edits.end(),
            [](const Edit& a, const Edit& b) { return a.address < b.address; });
  constexpr std::uint64_t kMostBytes = 4096;
  std::vector<std::byte> bytes;
  for (std::size_t first = 0; first < edits.size();) {
    const std::uint64_t start = edits[first].address;
    std::size_t last = first + 1;
    while (last < edits.size() && edits[last].address + kPatchSize - start <= kMostBytes) ++last;
    bytes.resize(static_cast<std::size_t>(edits[last - 1].address + kPatchSize - start));
    LOFT_CHECK(memory_.read(start, bytes));
    for (; first < last; ++first)
      std::copy(edits[first].bytes.begin(), edits[first].bytes.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(edits[first].address - start));
    LOFT_CHECK(memory_.write(start, bytes));
  }
  return {};
}

Result<void> Image::write_patches(std::size_t first) const {
  std::vector<Edit> edits;
  for (std::size_t i = first; i < placed_.size(); ++i)
    edits.push_back({placed_[i].patch.address, placed_[i].patch.bytes});
  return write(std::move(edits));
}

Result<void> Image::leave_alone(std::uint32_t function) {
  std::vector<Edit> edits;
  for (const Placed& placed : placed_)
    if (placed.function == function) edits.push_back({placed.patch.address, placed.patch.original});
  std::erase_if(placed_, [&](const Placed& placed) { return placed.function == function; });
  return write(std::move(edits));
}

Result<void> Image::restore() {
  std::vector<Edit> edits;
  for (const Placed& placed : placed_)
    edits.push_back({placed.patch.address, placed.patch.original});
  placed_.clear();
  loader_.reset();
  is_restored_ = true;
  return write(std::move(edits));
}

Result<void> Image::unmap(const Tracee& thread) {
  for (const Area& area : areas_)
    LOFT_CHECK(thread.system_call(syscall_, SYS_munmap, {area.start, area.size, 0, 0, 0, 0}));
  areas_.clear();
  if (arena_ != nullptr)
    LOFT_CHECK(
        thread.system_call(syscall_, SYS_munmap, {arena_->address(), arena_->size(), 0, 0, 0, 0}));
  return {};
}

bool Image::is_own_code(std::uint64_t address) const {
  return std::any_of(areas_.begin(), areas_.end(), [&](const Area& area) {
    return address >= area.start && address - area.start < area.size;
  });
}

std::optional<std::uint64_t> Image::moved(std::uint64_t address) const {
  const auto found =
      std::lower_bound(moves_.begin(), moves_.end(), address,
                       [](const Move& move, std::uint64_t a) { return move.from < a; });
  if (found == moves_.end() || found->from != address) return std::nullopt;
  return found->to;
}

}  // namespace loft::source::calls

#endif
