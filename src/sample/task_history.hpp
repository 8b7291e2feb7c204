// Who ran when, under which name, with what mapped where: everything a recording tells beside its
// samples, kept so that any moment can be asked in any order.
//
//   TaskHistory history;
//   history.add_comm({.time = 0, .pid = 7, .tid = 7, .name = "app"});   // in order of time
//   history.add_map(map);
//   const auto space = history.space_at(7, time);
//   const Mapping* mapping = history.find(space, ip);
//
// It is built by one thread, in order of time, and then read by many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sample/address_space.hpp"

namespace loft::sample {

// A file, or what stands for one: the kernel, the vdso, a BPF program, code without a file.
struct MappedBinary {
  std::string path;            // as it is shown
  std::string mapped_as = {};  // the recording's own word for it, where that differs
  std::string build_id;        // hexadecimal, or empty
  bool is_kernel = false;
  std::uint64_t kernel_text = 0;  // kernel alone: where it ran
  std::uint32_t jit_pid = 0;      // code without a file: the process that made it
  std::string jit_dump = {};      // and where that process told about it, if it did
  std::string only_symbol;        // a range that is one function, named by the kernel

  bool operator==(const MappedBinary&) const = default;
};

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t binary = 0;  // index into binaries()
};

struct MapEvent {
  std::uint64_t time = 0;
  std::uint32_t pid = 0;
  Mapping mapping;
};

struct CommEvent {
  std::uint64_t time = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::string_view name;
  bool is_exec = false;
};

struct TaskEvent {
  std::uint64_t time = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent_pid = 0;
  std::uint32_t parent_tid = 0;
};

// A process as the tables show it.
struct Process {
  std::uint32_t pid = 0;
  std::uint32_t comm = 0;  // the last name of its main thread
  std::uint64_t maps = 0;
  std::optional<std::uint64_t> fork_time;
  std::optional<std::uint64_t> exit_time;
};

class TaskHistory {
 public:
  using Root = AddressSpaces::Root;
  static constexpr std::uint32_t kNoName = 0;  // comm of a thread that never got one

  TaskHistory();

  std::uint32_t intern(MappedBinary binary);
  void add_map(const MapEvent& event);
  void add_kernel_map(std::uint64_t time, const Mapping& mapping);
  void remove_kernel_map(std::uint64_t time, std::uint64_t start, std::uint64_t end);
  void add_comm(const CommEvent& event);
  void add_fork(const TaskEvent& event);
  void add_exit(const TaskEvent& event);
  // The process maps its jitdump file, to be found by it.
  void add_jit_dump(std::uint32_t pid, const std::string& path);

  // The version of a process's address space at a moment; kEmpty when it had none.
  [[nodiscard]] Root space_at(std::uint32_t pid, std::uint64_t time) const;
  [[nodiscard]] Root kernel_space_at(std::uint64_t time) const;
  [[nodiscard]] const Mapping* find(Root space, std::uint64_t address) const {
    const auto index = spaces_.find(space, address);
    return index == AddressSpaces::kNothing ? nullptr : &mappings_[index];
  }

  // The name of a thread at a moment, as an index into names().
  [[nodiscard]] std::uint32_t comm_at(std::uint32_t tid, std::uint64_t time) const;

  // From the version of a moment to the moment from which it no longer holds: lets a reader keep
  // what it looked up.
  struct Span {
    std::uint32_t value = 0;
    std::uint64_t from = 0;
    std::uint64_t until = 0;  // not included
  };
  [[nodiscard]] Span space_span(std::uint32_t pid, std::uint64_t time) const;
  [[nodiscard]] Span kernel_span(std::uint64_t time) const { return span_in(kernel_, time); }
  [[nodiscard]] Span comm_span(std::uint32_t tid, std::uint64_t time) const;

  [[nodiscard]] const std::vector<MappedBinary>& binaries() const { return binaries_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }
  [[nodiscard]] std::optional<std::uint32_t> pid_of(std::uint32_t tid) const;
  [[nodiscard]] std::vector<std::uint32_t> tids() const;  // of every thread it tells of, in order

 private:
  struct Version {
    std::uint64_t time = 0;
    std::uint32_t value = 0;
  };
  using Versions = std::vector<Version>;

  static Span span_in(const Versions& versions, std::uint64_t time);
  static void append(Versions& versions, std::uint64_t time, std::uint32_t value);
  std::uint32_t intern_name(std::string_view name);
  std::uint32_t add_mapping(const Mapping& mapping);
  Process& process(std::uint32_t pid);

  AddressSpaces spaces_;
  std::vector<Mapping> mappings_;
  std::vector<MappedBinary> binaries_;
  std::unordered_map<std::string, std::uint32_t> binary_index_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> name_index_;
  Versions kernel_;
  std::unordered_map<std::uint32_t, Versions> space_versions_;  // by pid
  std::unordered_map<std::uint32_t, Versions> comm_versions_;   // by tid
  std::unordered_map<std::uint32_t, std::uint32_t> pid_of_tid_;
  std::unordered_map<std::uint32_t, std::string> jit_dumps_;  // by pid
  std::vector<Process> processes_;
  std::unordered_map<std::uint32_t, std::size_t> process_index_;  // the living one of a pid
};

}  // namespace loft::sample
