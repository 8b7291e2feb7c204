// From an address in a process at a moment to a function: looked up once, then a number.
//
//   Locations locations(history, store, {});         // one for all workers
//   FrameResolver resolver(locations, history);      // one per worker
//   const auto location = resolver.user(space, ip);
//   locations.function(locations.at(location).function).name;
//
// Locations are equal when they would be shown as equal, so their number follows the number of
// functions (or source lines), never the number of samples.
#pragma once

#include <array>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "sample/task_history.hpp"
#include "symbols/symbol_store.hpp"

namespace loft::sample {

struct Function {
  static constexpr std::uint32_t kNoBinary = 0xFFFFFFFF;
  std::string name;                  // not yet safe for a terminal
  std::uint32_t binary = kNoBinary;  // index into TaskHistory::binaries()
  std::uint64_t address = 0;         // of its first instruction, within the binary
  bool is_named = false;             // false: the name is an address
};

struct Location {
  std::uint32_t function = 0;
  std::uint32_t file = 0;  // index into files(), 0 for none
  std::uint32_t line = 0;
  std::uint32_t inlined = 0;        // index of the first of its inlined functions
  std::uint32_t inlined_count = 0;  // outermost first
};

class Locations {
 public:
  struct Options {
    bool lines = false;    // tell source lines apart
    bool inlines = false;  // tell inlined functions apart
  };
  // Locations that are always there.
  static constexpr std::uint32_t kUnmappedUser = 0;
  static constexpr std::uint32_t kUnmappedKernel = 1;
  static constexpr std::uint32_t kGuest = 2;
  static constexpr std::uint32_t kHypervisor = 3;
  static constexpr std::uint32_t kNoAddress = 4;  // the sample does not say where it was taken

  Locations(const TaskHistory& history, symbols::SymbolStore& store, Options options);

  // Safe for several workers at once.
  [[nodiscard]] std::uint32_t locate(const Mapping& mapping, std::uint64_t ip);
  [[nodiscard]] const symbols::SymbolTable& table_of(std::uint32_t binary);
  [[nodiscard]] std::shared_ptr<const symbols::SymbolTable> shared_table_of(std::uint32_t binary);
  // Its name stays where it is.
  [[nodiscard]] const std::string& name_of(std::uint32_t function) const;
  // A copy: the tables of the others may grow meanwhile.
  [[nodiscard]] Location at(std::uint32_t location) const;
  [[nodiscard]] const Function& function_of(std::uint32_t location) const;
  [[nodiscard]] std::uint32_t binary_of(const Location& location) const;
  [[nodiscard]] std::uint32_t inlined_function(const Location& location, std::uint32_t index) const;

  // For when the workers are done.
  [[nodiscard]] const Function& function(std::uint32_t id) const { return functions_[id]; }
  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }
  [[nodiscard]] const std::string& file(std::uint32_t id) const { return files_[id]; }
  [[nodiscard]] std::string source_file(std::uint32_t function);

 private:
  struct Found;
  [[nodiscard]] Found look_up(const Mapping& mapping, std::uint64_t ip);
  std::uint32_t intern_function(std::uint32_t binary, std::uint64_t address, std::string_view name,
                                bool is_named);
  std::uint32_t intern_file(std::string_view path);
  std::uint32_t plain_location(std::uint32_t function);

  const TaskHistory& history_;
  symbols::SymbolStore& store_;
  Options options_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const symbols::SymbolTable>> tables_;  // by binary
  std::deque<Function> functions_;
  struct FunctionKey {
    std::uint32_t binary;
    std::uint64_t address;
    std::string_view name;  // lives in functions_
    bool operator==(const FunctionKey&) const = default;
  };
  struct FunctionKeyHash {
    std::size_t operator()(const FunctionKey& key) const {
      return (key.address ^ std::uint64_t{key.binary} << 40) * 0x9E3779B97F4A7C15u >> 5 ^
             std::hash<std::string_view>{}(key.name);
    }
  };
  std::unordered_map<FunctionKey, std::uint32_t, FunctionKeyHash> function_index_;
  std::vector<std::uint32_t> plain_locations_;  // by function: the one without line and inlines
  std::deque<Location> locations_;
  std::unordered_map<std::string, std::uint32_t> location_index_;
  std::deque<std::uint32_t> inlined_;
  std::deque<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> file_index_;
};

// A worker's memory of what it has looked up.
class FrameResolver {
 public:
  FrameResolver(Locations& locations, const TaskHistory& history)
      : locations_(locations), history_(history), recent_(std::size_t{1} << kFirstBits) {}

  [[nodiscard]] std::uint32_t user(TaskHistory::Root space, std::uint64_t ip) {
    return resolve(space, ip, Locations::kUnmappedUser);
  }
  [[nodiscard]] std::uint32_t kernel(TaskHistory::Root space, std::uint64_t ip) {
    return resolve(space, ip, Locations::kUnmappedKernel);
  }

  // Brings what resolving this address will look at into the cache.
  void prefetch(TaskHistory::Root space, std::uint64_t ip) const {
    __builtin_prefetch(&recent_[slot_of(space, ip)]);
  }

 private:
  static constexpr unsigned kFirstBits = 12;
  static constexpr unsigned kMostBits = 18;
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  struct Recent {
    std::uint64_t ip = 0;
    std::uint32_t space = kFree;
    std::uint32_t location = 0;
  };
  struct alignas(64) Bucket {
    std::array<Recent, 4> entries;  // the newest first
  };
  // What was looked up once: an open table of addresses, by offset in the file (or by address where
  // there is no file) and binary.
  struct Known {
    std::uint64_t offset = 0;
    std::uint32_t binary = kFree;
    std::uint32_t location = 0;
  };
  [[nodiscard]] Known& known_slot(std::uint64_t offset, std::uint32_t binary);
  void grow_known();

  [[nodiscard]] std::uint32_t resolve(TaskHistory::Root space, std::uint64_t ip,
                                      std::uint32_t otherwise) {
    for (const Recent& recent : recent_[slot_of(space, ip)].entries)
      if (recent.ip == ip && recent.space == space) [[likely]]
        return recent.location;
    return keep(space, ip, look_up(space, ip, otherwise));
  }
  [[nodiscard]] std::size_t slot_of(TaskHistory::Root space, std::uint64_t ip) const {
    return (ip ^ (std::uint64_t{space} << 44)) * 0x9E3779B97F4A7C15u >> shift_;
  }
  std::uint32_t keep(TaskHistory::Root space, std::uint64_t ip, std::uint32_t location);
  void grow_recent();
  std::uint32_t look_up(TaskHistory::Root space, std::uint64_t ip, std::uint32_t otherwise);

  Locations& locations_;
  const TaskHistory& history_;
  // The last answers, a cache line of them for each slot; it grows while they push others out.
  std::vector<Bucket> recent_;
  unsigned shift_ = 64 - kFirstBits;
  std::size_t pushed_out_ = 0;
  std::vector<Known> known_ = std::vector<Known>(1024);
  std::size_t known_count_ = 0;
};

}  // namespace loft::sample
