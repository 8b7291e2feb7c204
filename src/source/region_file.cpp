#include "source/region_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "loft/region_clock.h"

namespace loft::source {
namespace {

constexpr const char* kVariable = "LOFT_REGIONS";
using Path = std::vector<std::string>;

// The program can write this memory: what it says is checked like any input.
std::string text_of(const char* name, std::size_t length) {
  return {name, std::min<std::size_t>(length, LOFT_REGION_NAME_)};
}

// Names from the outermost region; empty for what is outside, and for what is damaged.
Path path_of(const loft_region_file_& file, std::uint32_t number, std::uint32_t used) {
  Path path;
  while (number != 0 && number <= used && path.size() <= LOFT_REGION_NODES_) {
    const loft_region_node_& node = file.node[number - 1];
    if (node.length == 0 || node.parent >= number) break;
    path.push_back(text_of(node.name, node.length));
    number = node.parent;
  }
  std::ranges::reverse(path);
  return path;
}

struct Sum {
  std::uint64_t visits = 0;
  std::uint64_t ticks = 0;
  std::optional<std::uint64_t> elapsed;  // ticks in which it was open in any thread
};

// Threads share a node for each path, which belongs to none of them.
bool is_shared(const loft_region_node_& node) { return node.thread == 0; }

}  // namespace

RegionFile::RegionFile(Fd memory, loft_region_file_* shared)
    : memory_(std::move(memory)), shared_(shared) {}

Result<RegionFile> RegionFile::create() {
  Fd memory(::memfd_create("loft-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.is_open() ||
      ::ftruncate(memory.get(), static_cast<off_t>(sizeof(loft_region_file_))) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return failure_of_errno(errno, "create the memory for marked regions");
  void* shared = ::mmap(nullptr, sizeof(loft_region_file_), PROT_READ | PROT_WRITE, MAP_SHARED,
                        memory.get(), 0);
  if (shared == MAP_FAILED) return failure_of_errno(errno, "map the memory for marked regions");
  auto* file = static_cast<loft_region_file_*>(shared);
  file->magic = LOFT_REGION_MAGIC_;
  ::setenv(kVariable, fmt::format("/proc/{}/fd/{}", ::getpid(), memory.get()).c_str(), 1);
  return RegionFile(std::move(memory), file);
}

RegionFile::RegionFile(RegionFile&& other) noexcept
    : memory_(std::move(other.memory_)),
      shared_(std::exchange(other.shared_, nullptr)),
      clock_(other.clock_) {}

RegionFile& RegionFile::operator=(RegionFile&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(shared_, other.shared_);
  std::swap(clock_, other.clock_);
  return *this;
}

RegionFile::~RegionFile() {
  if (shared_ == nullptr) return;
  ::munmap(shared_, sizeof *shared_);
  ::unsetenv(kVariable);
}

std::vector<sample::RegionCounts> RegionFile::regions(const sample::RunCounts& run) const {
  const std::uint32_t used = std::min<std::uint32_t>(shared_->used, LOFT_REGION_NODES_);
  std::map<Path, Sum> all;
  std::map<std::pair<std::size_t, Path>, Sum> of_threads;
  for (std::uint32_t number = 1; number <= used; ++number) {
    const Path path = path_of(*shared_, number, used);
    const loft_region_node_& node = shared_->node[number - 1];
    if (path.empty()) continue;
    if (is_shared(node)) {
      if (node.depth == 0) all[path].elapsed = node.ticks;
      continue;
    }
    const auto add = [&](Sum& sum) {
      sum.visits += node.visits;
      sum.ticks += node.ticks;
    };
    add(all[path]);
    const auto thread =
        std::ranges::find(run.threads, static_cast<pid_t>(node.thread), &sample::ThreadCounts::tid);
    if (thread != run.threads.end())
      add(of_threads[{static_cast<std::size_t>(thread - run.threads.begin()), path}]);
  }
  for (auto& [key, sum] : of_threads) sum.elapsed = sum.ticks;
  const double rate = clock_.nanoseconds_per_tick();
  const auto missing = sample::Count::missing("natively regions have times alone");
  std::vector<sample::RegionCounts> rows;
  const auto add = [&](const Path& path, std::optional<std::size_t> thread, const Sum& sum) {
    const auto time = [&](std::uint64_t ticks) {
      return Nanoseconds(static_cast<Nanoseconds::rep>(static_cast<double>(ticks) * rate));
    };
    const std::vector<sample::Count> none(run.events.size(), missing);
    std::optional<Nanoseconds> elapsed;
    if (sum.elapsed) elapsed = time(*sum.elapsed);
    rows.push_back({path, thread, sum.visits, time(sum.ticks), elapsed, none, none});
  };
  for (const auto& [path, sum] : all) add(path, std::nullopt, sum);
  for (const auto& [key, sum] : of_threads) add(key.second, key.first, sum);
  return rows;
}

bool RegionFile::is_used() const { return shared_->used != 0; }

std::vector<sample::ThreadCounts> RegionFile::threads() const {
  std::vector<sample::ThreadCounts> threads;
  const std::uint32_t used = std::min<std::uint32_t>(shared_->used, LOFT_REGION_NODES_);
  for (std::uint32_t i = 0; i < used; ++i) {
    const loft_region_node_& node = shared_->node[i];
    if (is_shared(node)) continue;
    const auto tid = static_cast<pid_t>(node.thread);
    if (std::ranges::find(threads, tid, &sample::ThreadCounts::tid) == threads.end())
      threads.push_back({static_cast<pid_t>(node.process), tid, {}, {}});
  }
  return threads;
}

sample::RunCounts RegionFile::run() const {
  sample::RunCounts run;
  run.threads = threads();
  run.regions = regions(run);
  return run;
}

std::vector<std::string> RegionFile::notes() const {
  std::vector<std::string> notes;
  const std::uint32_t used = std::min<std::uint32_t>(shared_->used, LOFT_REGION_NODES_);
  if (!is_used())
    notes.emplace_back("the program marked no region; include/loft/region.h says how");
  if (shared_->wrong_ends != 0) {
    const auto name = [](const char(&text)[LOFT_REGION_NAME_]) {
      return std::string(text, ::strnlen(text, sizeof text));
    };
    const std::string open = name(shared_->open_name);
    notes.push_back(fmt::format("{} ends of regions were ignored: the first named '{}' when {}",
                                shared_->wrong_ends, name(shared_->wrong_name),
                                open.empty() ? "no region was open" : "'" + open + "' was open"));
  }
  const auto open = std::count_if(shared_->node, shared_->node + used,
                                  [](const auto& node) { return node.since != 0; });
  if (open != 0)
    notes.push_back(fmt::format(
        "{} regions were still open when their thread ended: their last visit has no time", open));
  if (shared_->lost != 0)
    notes.push_back(fmt::format("{} visits found no room and are part of the region around them",
                                shared_->lost));
  return notes;
}

}  // namespace loft::source
