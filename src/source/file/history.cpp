#include "source/file/history.hpp"

#include <algorithm>
#include <unordered_map>

#include "symbols/symbol_store.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

bool is_kernel_image(std::string_view path) {
  return path.starts_with("[kernel.kallsyms]") || path.starts_with("[guest.kernel.kallsyms]");
}

// simpleperf's mark of a mapping that stands for code that a JIT made.
constexpr std::uint32_t kMadeCode = 0x4000;

std::uint64_t end_of(std::uint64_t start, std::uint64_t length) {
  return start + std::min(length, ~start);
}

class HistoryBuilder {
 public:
  explicit HistoryBuilder(const perf_data::Metadata& metadata) {
    for (const auto& id : metadata.build_ids) build_ids_.emplace(id.path, id.build_id);
  }

  void add(const RawRecord& record, std::uint64_t time) {
    switch (record.type) {
      case RecordType::comm:
        return add_comm(record, time);
      case RecordType::fork:
      case RecordType::exit:
        return add_task(record, time);
      case RecordType::ksymbol:
        return add_symbol(record, time);
      default:
        return add_map(record, time);
    }
  }

  sample::TaskHistory take() { return std::move(history_); }

 private:
  void add_comm(const RawRecord& record, std::uint64_t time) {
    if (const auto comm = perf::read_comm(record))
      history_.add_comm({time, comm->pid, comm->tid, comm->name, comm->is_exec});
  }

  void add_task(const RawRecord& record, std::uint64_t time) {
    const auto task = perf::read_task(record);
    if (!task) return;
    const sample::TaskEvent event{time != 0 ? time : task->time, task->pid, task->tid,
                                  task->parent_pid, task->parent_tid};
    record.type == RecordType::fork ? history_.add_fork(event) : history_.add_exit(event);
  }

  void add_symbol(const RawRecord& record, std::uint64_t time) {
    const auto symbol = perf::read_ksymbol(record);
    if (!symbol) return;
    const std::uint64_t end = end_of(symbol->address, symbol->length);
    if ((symbol->flags & 1) != 0) return history_.remove_kernel_map(time, symbol->address, end);
    const auto binary = history_.intern({.path = symbol->kind == 1 ? "[bpf]" : "[kernel text]",
                                         .is_kernel = true,
                                         .only_symbol = std::string(symbol->name)});
    history_.add_kernel_map(time, {symbol->address, end, 0, binary});
  }

  void add_map(const RawRecord& record, std::uint64_t time) {
    const auto map = perf::read_mmap(record);
    if (!map || map->is_data) return;
    sample::Mapping mapping{map->start, end_of(map->start, map->length), map->file_offset, 0};
    const auto mode = record.mode();
    if (mode == perf_data::CpuMode::kernel || mode == perf_data::CpuMode::guest_kernel) {
      mapping.binary = history_.intern(kernel_binary(*map));
      return history_.add_kernel_map(time, mapping);
    }
    sample::MappedBinary binary{.path = std::string(map->path), .build_id = build_id_of(*map)};
    const bool is_made_code = (map->protection & kMadeCode) != 0;
    if (symbols::is_memory(map->path) || is_made_code) binary.jit_pid = map->pid;
    if (symbols::is_jit_dump(map->path)) history_.add_jit_dump(map->pid, std::string(map->path));
    mapping.binary = history_.intern(std::move(binary));
    history_.add_map({time, map->pid, mapping});
  }

  // "[kernel.kallsyms]_text": behind the bracket stands the symbol whose address is the offset.
  sample::MappedBinary kernel_binary(const perf_data::Mmap& map) const {
    sample::MappedBinary binary{.path = std::string(map.path), .build_id = build_id_of(map)};
    binary.is_kernel = true;
    if (!is_kernel_image(map.path)) return binary;
    binary.mapped_as = binary.path;
    binary.path.resize(binary.path.find(']') + 1);
    binary.kernel_text = map.file_offset;
    return binary;
  }

  std::string build_id_of(const perf_data::Mmap& map) const {
    if (!map.build_id.empty()) return perf::to_hex(map.build_id);
    const auto name =
        is_kernel_image(map.path) ? map.path.substr(0, map.path.find(']') + 1) : map.path;
    const auto known = build_ids_.find(name);
    return known == build_ids_.end() ? std::string() : std::string(known->second);
  }

  sample::TaskHistory history_;
  std::unordered_map<std::string_view, std::string_view> build_ids_;
};

}  // namespace

sample::TaskHistory build_history(const Recording& recording, std::vector<SideRecord> side) {
  const auto read = [&](const SideRecord& place, RawRecord& record) {
    const Region& region = recording.regions()[place.region];
    return perf::RecordWalker(region.bytes, region.order, place.offset).next(record);
  };
  RawRecord record;
  for (auto& place : side)
    if (read(place, record)) place.time = recording.events().time_of(record).value_or(0);
  std::stable_sort(side.begin(), side.end(),
                   [](const SideRecord& a, const SideRecord& b) { return a.time < b.time; });
  HistoryBuilder builder(recording.metadata());
  for (const auto& place : side)
    if (read(place, record)) builder.add(record, place.time);
  return builder.take();
}

}  // namespace loft::source
