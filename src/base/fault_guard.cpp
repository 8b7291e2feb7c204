#include "base/fault_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace loft {
namespace {

constexpr std::size_t kSlots = 4096;

// The handler reads the atomic members alone, without a lock.
struct Slot {
  std::atomic<std::uintptr_t> start{0};
  std::atomic<std::uintptr_t> end{0};  // 0: free
  std::atomic<bool> has_faulted{false};
  std::string path;
};

struct Registry {
  std::mutex mutex;
  std::array<Slot, kSlots> slots;
  std::vector<std::string> changed;  // of mappings that are gone
  struct sigaction before {};
  std::uintptr_t page = 0;
};

// Never freed: mappings may outlive every other static object.
std::atomic<Registry*> the_registry{nullptr};

void pass_on(const Registry& registry, int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = registry.before;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);  // the instruction faults again, and this time it ends the process
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Registry& registry = *the_registry.load();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Slot& slot : registry.slots) {
    const std::uintptr_t end = slot.end.load();
    if (address < slot.start.load() || address >= end) continue;
    const std::uintptr_t from = address & ~(registry.page - 1);
    // Behind a page that is gone all are gone.
    void* zeros = ::mmap(reinterpret_cast<void*>(from), end - from, PROT_READ,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) break;
    slot.has_faulted.store(true);
    return;
  }
  pass_on(registry, signal, info, context);
}

Registry& registry() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto* made = new Registry;
    made->page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    the_registry.store(made);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &made->before);
  });
  return *the_registry.load();
}

}  // namespace

FaultGuard FaultGuard::of(Bytes bytes, const std::string& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto free = std::find_if(all.slots.begin(), all.slots.end(),
                                 [](const Slot& slot) { return slot.end.load() == 0; });
  if (free == all.slots.end() || bytes.empty()) return {};
  const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
  free->path = path;
  free->has_faulted.store(false);
  free->start.store(start);
  free->end.store(start + bytes.size());
  return FaultGuard(static_cast<std::size_t>(free - all.slots.begin()));
}

FaultGuard::~FaultGuard() {
  if (slot_ == kNone) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Slot& slot = all.slots[slot_];
  slot.end.store(0);
  if (slot.has_faulted.load()) all.changed.push_back(std::move(slot.path));
}

bool FaultGuard::has_faulted() const {
  return slot_ != kNone && registry().slots[slot_].has_faulted.load();
}

std::vector<std::string> changed_files() {
  Registry* all = the_registry.load();
  if (all == nullptr) return {};
  const std::lock_guard lock(all->mutex);
  std::vector<std::string> paths = all->changed;
  for (const Slot& slot : all->slots)
    if (slot.end.load() != 0 && slot.has_faulted.load()) paths.push_back(slot.path);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

Failure file_changed(const std::string& path) {
  return failure(ErrorKind::io, "read '" + path + "'", "it changed while it was read",
                 "try again when nobody writes to it");
}

}  // namespace loft
