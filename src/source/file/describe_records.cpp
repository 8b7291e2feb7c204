// The fields of every record that is no sample.
#include <algorithm>
#include <string>
#include <vector>

#include "format/perf/features.hpp"
#include "format/perf/simpleperf.hpp"
#include "source/file/describe.hpp"

namespace loft::source {

namespace perf = format::perf;
using sample::FieldSink;

void describe_reading(const perf_data::CounterReading& reading, FieldSink& sink);

namespace {

void describe_mmap(const perf_data::Mmap& map, bool is_mmap2, FieldSink& sink) {
  sink.signed_number("map_pid", static_cast<std::int32_t>(map.pid));
  sink.number("map_tid", map.tid);
  sink.address("start", map.start);
  sink.address("length", map.length);
  sink.address("file_offset", map.file_offset);
  if (map.is_data) sink.flag("data");
  if (is_mmap2) {
    if (map.build_id.empty()) {
      sink.number("major", map.major);
      sink.number("minor", map.minor);
      sink.number("inode", map.inode);
      sink.number("inode_generation", map.inode_generation);
    } else {
      sink.text("build_id", perf::to_hex(map.build_id));
    }
    sink.address("protection", map.protection);
    sink.address("flags", map.flags);
  }
  sink.text("path", map.path);
}

// CPUs come as a list, as bits in words of 4 or 8 bytes, or as a range.
bool describe_cpu_map(const RawRecord& record, FieldSink& sink) {
  ByteReader in(record.body, record.order);
  std::vector<std::uint64_t> cpus;
  const auto kind = in.u16();
  if (kind == 0) {
    const auto count = in.u16();
    for (std::size_t i = 0; i < count && in.ok(); ++i) cpus.push_back(in.u16());
  } else if (kind == 1) {
    const std::size_t words = in.u16();
    const std::size_t bits = 8 * std::size_t{in.u16()};
    if (bits != 32 && bits != 64) return false;
    if (bits == 64) in.skip(2);
    for (std::size_t word = 0; word < words && in.ok(); ++word) {
      const std::uint64_t mask = bits == 64 ? in.u64() : in.u32();
      for (std::size_t bit = 0; bit < bits; ++bit)
        if ((mask >> bit & 1) != 0) cpus.push_back(word * bits + bit);
    }
  } else if (kind == 2) {
    in.skip(2);  // whether any CPU was meant as well
    const std::size_t first = in.u16();
    const std::size_t last = in.u16();
    for (std::size_t cpu = first; cpu <= last && in.ok(); ++cpu) cpus.push_back(cpu);
  }
  if (!in.ok() || kind > 2) return false;
  sink.begin_list("cpus");
  for (const auto cpu : cpus) sink.number("", cpu);
  sink.end_list();
  return true;
}

bool describe_event_type(const RawRecord& record, FieldSink& sink) {
  ByteReader in(record.body, record.order);
  const auto config = in.u64();
  const auto name = in.text_field(std::min<std::size_t>(64, in.remaining()));
  if (!in.ok()) return false;
  sink.address("config", config);
  sink.text("name", name);
  return true;
}

// How perf stat was set up: pairs of a number and a value.
bool describe_stat_config(const RawRecord& record, FieldSink& sink) {
  ByteReader in(record.body, record.order);
  const auto count = in.count64(16);
  if (!in.ok()) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto what = in.u64();
    const auto value = in.u64();
    sink.number(what == 0   ? "aggregation"
                : what == 1 ? "interval_ms"
                : what == 2 ? "scale"
                            : "unknown",
                value);
  }
  return true;
}

// Emits `value` when it could be read; says whether it could.
template <class T, class Emit>
bool emit(const std::optional<T>& value, const Emit& show) {
  if (value) show(*value);
  return value.has_value();
}

// Records that Android's simpleperf adds.
bool describe_simpleperf(const RawRecord& record, FieldSink& sink) {
  ByteReader in(record.body, record.order);
  switch (record.type) {
    case RecordType::simpleperf_kernel_symbol:
    case RecordType::simpleperf_tracing_data:
      sink.number("content_bytes", perf::sized_content(record).size());
      return true;
    case RecordType::simpleperf_split:
      sink.number("piece_bytes", record.body.size());
      return true;
    case RecordType::simpleperf_split_end:
      return true;
    case RecordType::simpleperf_dso:
      return emit(perf::read_simpleperf_dso(record), [&](const auto& dso) {
        sink.number("kind", static_cast<std::uint64_t>(dso.binary.kind));
        sink.number("id", dso.id);
        sink.address("code_address", dso.binary.code_address);
        sink.text("path", dso.binary.path);
      });
    case RecordType::simpleperf_symbol:
      return emit(perf::read_simpleperf_symbol(record), [&](const auto& found) {
        sink.address("address", found.symbol.address);
        sink.number("length", found.symbol.size);
        sink.number("dso", found.dso);
        sink.text("name", found.symbol.name);
      });
    case RecordType::simpleperf_event_id: {
      const auto count = in.count64(16);
      sink.begin_list("ids");
      for (std::uint64_t i = 0; i < count; ++i) {
        sink.begin_group("");
        sink.number("event", in.u64());
        sink.number("id", in.u64());
        sink.end_group();
      }
      sink.end_list();
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

bool RecordDescriber::describe_task(const RawRecord& record, FieldSink& sink) {
  switch (record.type) {
    case RecordType::mmap:
    case RecordType::mmap2:
      return emit(perf::read_mmap(record), [&](const auto& map) {
        describe_mmap(map, record.type == RecordType::mmap2, sink);
      });
    case RecordType::comm:
      return emit(perf::read_comm(record), [&](const auto& comm) {
        sink.number("comm_pid", comm.pid);
        sink.number("comm_tid", comm.tid);
        sink.text("name", comm.name);
        if (comm.is_exec) sink.flag("exec");
      });
    case RecordType::fork:
    case RecordType::exit:
      return emit(perf::read_task(record), [&](const auto& task) {
        sink.number("task_pid", task.pid);
        sink.number("task_tid", task.tid);
        sink.number("parent_pid", task.parent_pid);
        sink.number("parent_tid", task.parent_tid);
        sink.number("at", task.time);
      });
    case RecordType::switch_:
    case RecordType::switch_cpu_wide:
      return emit(perf::read_switch(record), [&](const auto& change) {
        sink.text("direction", change.is_out ? "out" : "in");
        if (change.is_preempted) sink.flag("preempted");
        if (change.other_pid)
          sink.number(change.is_out ? "next_pid" : "prev_pid", *change.other_pid);
        if (change.other_tid)
          sink.number(change.is_out ? "next_tid" : "prev_tid", *change.other_tid);
      });
    case RecordType::namespaces:
      return emit(perf::read_namespaces(record), [&](const auto& namespaces) {
        sink.number("task_pid", namespaces.pid);
        sink.number("task_tid", namespaces.tid);
        sink.begin_list("namespaces");
        for (const auto& link : namespaces.links) {
          sink.begin_group("");
          sink.number("device", link.device);
          sink.number("inode", link.inode);
          sink.end_group();
        }
        sink.end_list();
      });
    case RecordType::cgroup:
      return emit(perf::read_cgroup(record), [&](const auto& cgroup) {
        sink.number("id", cgroup.id);
        sink.text("path", cgroup.path);
      });
    default:
      return false;
  }
}

bool RecordDescriber::describe_kernel(const RawRecord& record, const perf::SampleLayout* layout,
                                      FieldSink& sink) {
  switch (record.type) {
    case RecordType::lost:
      return emit(perf::read_lost(record), [&](const auto& lost) {
        sink.number("id", lost.id);
        sink.number("lost", lost.count);
      });
    case RecordType::lost_samples:
      return emit(perf::read_lost_samples(record),
                  [&](const auto& lost) { sink.number("lost", lost.count); });
    case RecordType::throttle:
    case RecordType::unthrottle:
      return emit(perf::read_throttle(record), [&](const auto& throttle) {
        sink.number("at", throttle.time);
        sink.number("id", throttle.id);
        sink.number("stream_id", throttle.stream_id);
      });
    case RecordType::read:
      if (layout == nullptr) return false;
      return emit(perf::read_read(record, layout->attr()), [&](const auto& read) {
        sink.number("task_pid", read.pid);
        sink.number("task_tid", read.tid);
        describe_reading(read.reading, sink);
      });
    case RecordType::ksymbol:
      return emit(perf::read_ksymbol(record), [&](const auto& symbol) {
        sink.address("address", symbol.address);
        sink.number("length", symbol.length);
        sink.number("kind", symbol.kind);
        sink.number("flags", symbol.flags);
        sink.text("name", symbol.name);
      });
    case RecordType::bpf_event:
      return emit(perf::read_bpf_event(record), [&](const auto& event) {
        sink.number("kind", event.kind);
        sink.number("flags", event.flags);
        sink.number("id", event.id);
        sink.text("tag", perf::to_hex(event.tag));
      });
    case RecordType::text_poke:
      return emit(perf::read_text_poke(record), [&](const auto& poke) {
        sink.address("address", poke.address);
        sink.bytes("old", poke.old_bytes);
        sink.bytes("new", poke.new_bytes);
      });
    case RecordType::aux:
      return emit(perf::read_aux(record), [&](const auto& aux) {
        sink.address("aux_offset", aux.offset);
        sink.number("aux_size", aux.size);
        sink.address("flags", aux.flags);
      });
    case RecordType::itrace_start:
      return emit(perf::read_itrace_start(record), [&](const auto& start) {
        sink.number("task_pid", start.pid);
        sink.number("task_tid", start.tid);
      });
    case RecordType::aux_output_hw_id:
      return emit(perf::read_aux_output(record),
                  [&](const auto& id) { sink.address("hardware_id", id.hardware_id); });
    case RecordType::callchain_deferred:
      return emit(perf::read_deferred(record), [&](const auto& chain) {
        sink.address("cookie", chain.cookie);
        describe_user_frames(chain.addresses, layout, record, sink);
      });
    default:
      return false;
  }
}

// The first address is where the program goes on, the others are where its callers do.
void RecordDescriber::describe_user_frames(std::span<const std::uint64_t> addresses,
                                           const perf::SampleLayout* layout,
                                           const RawRecord& record, FieldSink& sink) {
  const auto who = layout != nullptr ? layout->read_tail(record) : perf_data::RecordId{};
  enter(who.pid.value_or(0), who.time.value_or(0));
  sink.begin_list("call_chain");
  bool is_first = true;
  for (const std::uint64_t address : addresses) {
    if (address >= perf_data::kContextLowest) continue;  // a mark
    sink.frame(frame_of(perf_data::CpuMode::user, is_first ? address : address - 1, address));
    is_first = false;
  }
  sink.end_list();
}

bool RecordDescriber::describe_tool(const RawRecord& record, FieldSink& sink) {
  switch (record.type) {
    case RecordType::finished_round:
    case RecordType::finished_init:
      return true;
    case RecordType::id_index:
      return emit(perf::read_id_index(record), [&](const auto& index) {
        sink.begin_list("ids");
        for (const auto& entry : index.entries) {
          sink.begin_group("");
          sink.number("id", entry.id);
          sink.number("index", entry.index);
          sink.signed_number("cpu", static_cast<std::int64_t>(entry.cpu));
          sink.signed_number("tid", static_cast<std::int64_t>(entry.tid));
          sink.end_group();
        }
        sink.end_list();
      });
    case RecordType::thread_map:
      return emit(perf::read_thread_map(record), [&](const auto& map) {
        sink.begin_list("threads");
        for (const auto& entry : map.entries) {
          sink.begin_group("");
          sink.signed_number("tid", static_cast<std::int64_t>(entry.tid));
          sink.text("comm", entry.comm);
          sink.end_group();
        }
        sink.end_list();
      });
    case RecordType::time_conv:
      return emit(perf::read_time_conversion(record), [&](const auto& conversion) {
        sink.number("shift", conversion.shift);
        sink.number("multiplier", conversion.multiplier);
        sink.number("zero", conversion.zero);
      });
    case RecordType::stat:
      return emit(perf::read_stat(record), [&](const auto& stat) {
        sink.number("id", stat.id);
        sink.signed_number("stat_cpu", static_cast<std::int32_t>(stat.cpu));
        sink.number("stat_thread", stat.thread);
        sink.number("value", stat.value);
        sink.number("enabled", stat.enabled);
        sink.number("running", stat.running);
      });
    case RecordType::stat_round:
      return emit(perf::read_stat_round(record), [&](const auto& round) {
        sink.text("kind", round.kind == 0 ? "interval" : "final");
        sink.number("at", round.time);
      });
    case RecordType::header_build_id:
      return emit(perf::read_build_id(record), [&](const auto& id) {
        sink.signed_number("map_pid", static_cast<std::int32_t>(id.pid));
        sink.text("build_id", perf::to_hex(id.bytes));
        sink.text("path", id.path);
      });
    case RecordType::event_update:
      return emit(perf::read_event_update(record), [&](const auto& update) {
        sink.number("id", update.id);
        if (update.kind == perf_data::EventUpdate::Kind::name) sink.text("name", update.text);
        if (update.kind == perf_data::EventUpdate::Kind::unit) sink.text("unit", update.text);
        if (update.kind == perf_data::EventUpdate::Kind::scale) sink.real("scale", update.scale);
        if (update.kind == perf_data::EventUpdate::Kind::cpus)
          sink.number("cpus", update.cpus.size());
      });
    case RecordType::header_feature: {
      ByteReader in(record.body, record.order);
      const auto bit = in.u64();
      const auto name = bit < 256 ? perf::name_of_feature(static_cast<std::uint32_t>(bit)) : "";
      sink.number("feature", bit);
      if (!name.empty()) sink.text("name", name);
      sink.number("size", in.remaining());
      return true;
    }
    case RecordType::header_attr: {
      const auto attr = perf::read_attr(record.body, record.order);
      if (!attr) return false;
      sink.number("event_type", attr->type);
      sink.number("size", attr->size);
      sink.address("config", attr->config);
      sink.address("sample_type", attr->sample_type);
      sink.number(attr->freq ? "frequency" : "sample_period", attr->sample_period);
      sink.address("read_format", attr->read_format);
      return true;
    }
    case RecordType::cpu_map:
      return describe_cpu_map(record, sink);
    case RecordType::header_event_type:
      return describe_event_type(record, sink);
    case RecordType::stat_config:
      return describe_stat_config(record, sink);
    case RecordType::header_tracing_data:
    case RecordType::auxtrace:
      sink.number("payload_bytes", record.payload.size());
      return true;
    default:
      return describe_simpleperf(record, sink);
  }
}

}  // namespace loft::source
