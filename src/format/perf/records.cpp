// Records that the kernel writes.
#include "format/perf/records.hpp"

#include <algorithm>

namespace loft::format::perf {
namespace {

template <class T>
std::optional<T> checked(const ByteReader& in, T value) {
  if (!in.ok()) return std::nullopt;
  return value;
}

// Where inode numbers stand in an MMAP2 that says it holds a build id, they do not look like one:
// the size is too large, or something stands behind the id. Kernels mark such records when another
// recorder asked for build ids at the same time.
bool is_build_id(std::size_t size, std::uint32_t reserved, std::span<const std::byte> bytes) {
  if (size == 0 || size > bytes.size() || reserved != 0) return false;
  return std::ranges::all_of(bytes.subspan(size), [](std::byte b) { return b == std::byte{0}; });
}

// The inode numbers of an MMAP2, or the build id in their place.
void read_file_identity(ByteReader& in, bool has_build_id, pd::Mmap& map) {
  if (has_build_id) {
    ByteReader ahead = in;
    const std::size_t size = ahead.u8();
    const std::uint32_t reserved = ahead.u8() | static_cast<std::uint32_t>(ahead.u16()) << 8;
    const auto bytes = ahead.take(20);
    if (ahead.ok() && is_build_id(size, reserved, bytes)) {
      map.build_id = bytes.first(size);
      in = ahead;
      return;
    }
  }
  map.major = in.u32();
  map.minor = in.u32();
  map.inode = in.u64();
  map.inode_generation = in.u64();
}

}  // namespace

std::optional<pd::Mmap> read_mmap(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Mmap map;
  map.pid = in.u32();
  map.tid = in.u32();
  map.start = in.u64();
  map.length = in.u64();
  map.file_offset = in.u64();
  map.is_data = (record.misc & kMiscMmapData) != 0;
  if (record.type == RecordType::mmap2) {
    read_file_identity(in, (record.misc & kMiscMmapBuildId) != 0, map);
    map.protection = in.u32();
    map.flags = in.u32();
  }
  map.path = in.text_field(in.remaining());
  return checked(in, map);
}

std::optional<pd::Comm> read_comm(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Comm comm;
  comm.pid = in.u32();
  comm.tid = in.u32();
  comm.name = in.text_field(in.remaining());
  comm.is_exec = (record.misc & kMiscCommExec) != 0;
  return checked(in, comm);
}

std::optional<pd::Task> read_task(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Task task;
  task.pid = in.u32();
  task.parent_pid = in.u32();
  task.tid = in.u32();
  task.parent_tid = in.u32();
  task.time = in.u64();
  return checked(in, task);
}

std::optional<pd::Lost> read_lost(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Lost lost;
  lost.id = in.u64();
  lost.count = in.u64();
  return checked(in, lost);
}

std::optional<pd::LostSamples> read_lost_samples(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  const pd::LostSamples lost{in.u64()};
  return checked(in, lost);
}

std::optional<pd::Throttle> read_throttle(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Throttle throttle;
  throttle.time = in.u64();
  throttle.id = in.u64();
  throttle.stream_id = in.u64();
  return checked(in, throttle);
}

std::optional<pd::Switch> read_switch(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Switch change;
  change.is_out = (record.misc & kMiscSwitchOut) != 0;
  change.is_preempted = change.is_out && (record.misc & kMiscSwitchOutPreempt) != 0;
  if (record.type == RecordType::switch_cpu_wide) {
    change.other_pid = in.u32();
    change.other_tid = in.u32();
  }
  return checked(in, change);
}

std::optional<pd::Namespaces> read_namespaces(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Namespaces namespaces;
  namespaces.pid = in.u32();
  namespaces.tid = in.u32();
  const auto count = in.count64(16);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto device = in.u64();
    namespaces.links.push_back({device, in.u64()});
  }
  return checked(in, std::move(namespaces));
}

std::optional<pd::Ksymbol> read_ksymbol(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Ksymbol symbol;
  symbol.address = in.u64();
  symbol.length = in.u32();
  symbol.kind = in.u16();
  symbol.flags = in.u16();
  symbol.name = in.text_field(in.remaining());
  return checked(in, symbol);
}

std::optional<pd::BpfEvent> read_bpf_event(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::BpfEvent event;
  event.kind = in.u16();
  event.flags = in.u16();
  event.id = in.u32();
  const auto tag = in.take(event.tag.size());
  std::copy(tag.begin(), tag.end(), event.tag.begin());
  return checked(in, event);
}

std::optional<pd::Cgroup> read_cgroup(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Cgroup cgroup;
  cgroup.id = in.u64();
  cgroup.path = in.text_field(in.remaining());
  return checked(in, cgroup);
}

std::optional<pd::TextPoke> read_text_poke(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::TextPoke poke;
  poke.address = in.u64();
  const auto old_size = in.u16();
  const auto new_size = in.u16();
  poke.old_bytes = in.take(old_size);
  poke.new_bytes = in.take(new_size);
  return checked(in, poke);
}

std::optional<pd::Aux> read_aux(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::Aux aux;
  aux.offset = in.u64();
  aux.size = in.u64();
  aux.flags = in.u64();
  return checked(in, aux);
}

std::optional<pd::ItraceStart> read_itrace_start(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::ItraceStart start;
  start.pid = in.u32();
  start.tid = in.u32();
  return checked(in, start);
}

std::optional<pd::AuxOutputHardwareId> read_aux_output(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  const pd::AuxOutputHardwareId id{in.u64()};
  return checked(in, id);
}

std::optional<pd::CallchainDeferred> read_deferred(const RawRecord& record) {
  ByteReader in(record.body, record.order);
  pd::CallchainDeferred chain;
  chain.cookie = in.u64();
  const auto count = in.count64(8);
  for (std::uint64_t i = 0; i < count; ++i) chain.addresses.push_back(in.u64());
  return checked(in, std::move(chain));
}

std::optional<pd::CounterReading> read_counters(ByteReader& in, std::uint64_t read_format) {
  const auto when = [&](std::uint64_t bit) {
    return (read_format & bit) != 0 ? std::optional(in.u64()) : std::nullopt;
  };
  pd::CounterReading reading;
  reading.is_group = (read_format & kReadGroup) != 0;
  if (reading.is_group) {
    const std::size_t fields =
        1 + ((read_format & kReadId) != 0) + ((read_format & kReadLost) != 0);
    const auto count = in.u64();
    reading.time_enabled = when(kReadTotalTimeEnabled);
    reading.time_running = when(kReadTotalTimeRunning);
    if (!in.ok() || count > in.remaining() / (8 * fields)) return std::nullopt;
    reading.values.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& value = reading.values.emplace_back();
      value.value = in.u64();
      value.id = when(kReadId);
      value.lost = when(kReadLost);
    }
  } else {
    auto& value = reading.values.emplace_back();
    value.value = in.u64();
    reading.time_enabled = when(kReadTotalTimeEnabled);
    reading.time_running = when(kReadTotalTimeRunning);
    value.id = when(kReadId);
    value.lost = when(kReadLost);
  }
  return checked(in, std::move(reading));
}

std::optional<pd::Read> read_read(const RawRecord& record, const EventAttr& attr) {
  ByteReader in(record.body, record.order);
  pd::Read read;
  read.pid = in.u32();
  read.tid = in.u32();
  auto reading = read_counters(in, attr.read_format);
  if (!reading) return std::nullopt;
  read.reading = *std::move(reading);
  return read;
}

std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace loft::format::perf
