#include "source/file/describe.hpp"

#include <algorithm>

namespace loft::source {
namespace {

namespace perf = format::perf;
using perf_data::CpuMode;
using sample::FieldSink;

constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};

std::string_view mode_name(CpuMode mode) {
  switch (mode) {
    case CpuMode::kernel:
      return "kernel";
    case CpuMode::user:
      return "user";
    case CpuMode::hypervisor:
      return "hypervisor";
    case CpuMode::guest_kernel:
      return "guest kernel";
    case CpuMode::guest_user:
      return "guest user";
    case CpuMode::unknown:
      break;
  }
  return "unknown";
}

CpuMode mode_of_mark(std::uint64_t mark, CpuMode otherwise) {
  if (mark == perf_data::kContextKernel) return CpuMode::kernel;
  if (mark == perf_data::kContextUser || mark == perf_data::kContextUserDeferred)
    return CpuMode::user;
  if (mark == perf_data::kContextGuestKernel) return CpuMode::guest_kernel;
  if (mark == perf_data::kContextGuestUser) return CpuMode::guest_user;
  return otherwise;
}

void optional_number(FieldSink& sink, std::string_view name, std::optional<std::uint64_t> value) {
  if (value) sink.number(name, *value);
}

void optional_address(FieldSink& sink, std::string_view name, std::optional<std::uint64_t> value) {
  if (value) sink.address(name, *value);
}

void describe_registers(const perf_data::Registers& registers, std::string_view name,
                        FieldSink& sink) {
  if (registers.abi == perf_data::Registers::Abi::none) return;
  sink.begin_group(name);
  sink.number("abi", static_cast<std::uint64_t>(registers.abi));
  sink.address("mask", registers.mask);
  std::size_t value = 0;
  for (unsigned bit = 0; bit < 64 && value < registers.values.size(); ++bit) {
    if ((registers.mask >> bit & 1) == 0) continue;
    char text[8] = {'r', static_cast<char>('0' + bit / 10), static_cast<char>('0' + bit % 10), 0};
    sink.address(text, registers.values[value++]);
  }
  sink.end_group();
}

void describe_branches(const perf_data::Sample& sample, FieldSink& sink) {
  optional_number(sink, "branch_index", sample.branch_hardware_index);
  sink.begin_list("branches");
  for (const auto& branch : sample.branches) {
    sink.begin_group("");
    sink.address("from", branch.from);
    sink.address("to", branch.to);
    if (branch.mispredicted) sink.flag("mispredicted");
    if (branch.predicted) sink.flag("predicted");
    if (branch.in_transaction) sink.flag("in_transaction");
    if (branch.aborted) sink.flag("aborted");
    if (branch.cycles != 0) sink.number("cycles", branch.cycles);
    if (branch.kind != 0) sink.number("kind", branch.kind);
    sink.end_group();
  }
  sink.end_list();
}

// The elements of an array of numbers, such as the arguments of a system call.
void describe_array(const perf::TracepointField& field, std::span<const std::byte> bytes,
                    ByteOrder order, FieldSink& sink) {
  const bool are_numbers = field.element_size == 4 || field.element_size == 8;
  if (!are_numbers) return sink.bytes(field.name, bytes);
  ByteReader in(bytes, order);
  sink.begin_list(field.name);
  while (in.remaining() >= field.element_size)
    sink.address("", field.element_size == 8 ? in.u64() : in.u32());
  sink.end_list();
}

}  // namespace

void describe_reading(const perf_data::CounterReading& reading, FieldSink& sink) {
  optional_number(sink, "time_enabled", reading.time_enabled);
  optional_number(sink, "time_running", reading.time_running);
  sink.begin_list("values");
  for (const auto& value : reading.values) {
    sink.begin_group("");
    sink.number("value", value.value);
    optional_number(sink, "id", value.id);
    optional_number(sink, "lost", value.lost);
    sink.end_group();
  }
  sink.end_list();
}

RecordDescriber::RecordDescriber(const Recording& recording, sample::Locations& locations)
    : recording_(recording), locations_(locations), resolver_(locations, recording.history()) {}

std::string_view RecordDescriber::comm_of(std::optional<std::uint32_t> tid,
                                          std::optional<std::uint64_t> time) {
  if (!tid) return {};
  const auto& history = recording_.history();
  const std::uint64_t moment = time.value_or(kAtTheEnd);
  if (!comm_.holds(*tid, moment)) comm_ = {*tid, history.comm_span(*tid, moment)};
  return history.names()[comm_.span.value];
}

void RecordDescriber::enter(std::uint32_t pid, std::uint64_t time) {
  const auto& history = recording_.history();
  if (!user_.holds(pid, time)) user_ = {pid, history.space_span(pid, time)};
  if (!kernel_.holds(0, time)) kernel_ = {0, history.kernel_span(time)};
}

sample::FrameText RecordDescriber::frame_of(CpuMode mode, std::uint64_t ip, std::uint64_t shown) {
  std::uint32_t location = sample::Locations::kGuest;
  if (mode == CpuMode::kernel) {
    location = resolver_.kernel(kernel_.span.value, ip);
  } else if (mode == CpuMode::user || mode == CpuMode::unknown) {
    location = resolver_.user(user_.span.value, ip);
  }
  if (location >= names_.size()) names_.resize(location + 256);
  Names& names = names_[location];
  if (names.function.empty()) {
    const sample::Function& function = locations_.function_of(location);
    names.function = function.name;
    if (function.binary != sample::Function::kNoBinary)
      names.binary = recording_.history().binaries()[function.binary].path;
  }
  return {shown, names.function, names.binary, location};
}

void RecordDescriber::describe_chain(const perf_data::Sample& sample, FieldSink& sink) {
  // A chain whose user part came later ends with a mark and a cookie that tells which one it is.
  const std::size_t whole = sample.call_chain.size();
  const bool is_deferred =
      whole >= 2 && sample.call_chain[whole - 2] == perf_data::kContextUserDeferred;
  if (is_deferred) sink.address("deferred_chain", sample.call_chain[whole - 1]);
  const auto chain = sample.call_chain.first(is_deferred ? whole - 2 : whole);
  sink.begin_list("call_chain");
  CpuMode mode = sample.mode;
  std::size_t first = 0;
  while (first < chain.size() && chain[first] >= perf_data::kContextLowest)
    mode = mode_of_mark(chain[first++], CpuMode::hypervisor);
  if (first < chain.size()) {
    sink.frame(frame_of(mode, chain[first], chain[first]));
    describe_callers(chain, first + 1, mode, sink);
  }
  sink.end_list();
}

void RecordDescriber::prefetch(const PlacedRecord& placed) const {
  if (placed.record.type != RecordType::sample || recording_.events().size() == 0) return;
  const auto place = recording_.events().layout(0).places().ip;  // a guess is good enough
  if (place == perf::SampleLayout::kAbsent || placed.record.body.size() < place + 8u) return;
  const auto ip = load<std::uint64_t>(placed.record.body.data() + place, placed.record.order);
  const bool in_kernel = placed.record.mode() == CpuMode::kernel;
  resolver_.prefetch(in_kernel ? kernel_.span.value : user_.span.value, ip);
}

void RecordDescriber::describe_callers(const perf_data::U64View& chain, std::size_t first,
                                       CpuMode mode, FieldSink& sink) {
  if (first == chain.size()) return;
  if (callers_.is_full()) {
    callers_.clear();
    first_number_ = next_number_;
  }
  const auto key =
      sample::CallerMemo::key_of(chain, first, mode, user_.span.value, kernel_.span.value);
  auto known = callers_.find(key);
  if (known == sample::CallerMemo::kNone) known = callers_.add(key, {});
  next_number_ = std::max(next_number_, first_number_ + known + 1);
  if (sink.known_frames(first_number_ + known)) return;
  for (std::size_t i = first; i < chain.size(); ++i) {
    if (chain[i] >= perf_data::kContextLowest) {
      mode = mode_of_mark(chain[i], CpuMode::hypervisor);
    } else {
      sink.frame(frame_of(mode, chain[i] - 1, chain[i]));
    }
  }
}

void RecordDescriber::describe_raw(const perf_data::Sample& sample, FieldSink& sink) {
  const auto& attr = recording_.events().layout(sample.event).attr();
  constexpr std::uint32_t kTracepoint = 2;
  const auto* format = attr.type == kTracepoint ? recording_.tracing().find(attr.config) : nullptr;
  if (format == nullptr) return sink.bytes("raw", sample.raw);
  const auto order = recording_.metadata().is_big_endian ? ByteOrder::big : ByteOrder::little;
  sink.begin_group("tracepoint");
  for (const auto& field : format->fields) {
    const auto value = perf::value_of(field, sample.raw, order);
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      field.is_pointer ? sink.address(field.name, *number) : sink.number(field.name, *number);
    } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      sink.signed_number(field.name, *whole);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      sink.text(field.name, *text);
    } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&value)) {
      describe_array(field, *bytes, order, sink);
    }
  }
  sink.end_group();
}

void RecordDescriber::describe_sample(const PlacedRecord& placed, FieldSink& sink) {
  sample::RecordHead head{
      placed.number, placed.record.offset, "SAMPLE", 9, placed.time, {}, {}, {}, {}, {}};
  const auto event = recording_.events().event_of_sample(placed.record);
  auto sample =
      event ? perf::read_sample(placed.record, recording_.events().layout(*event)) : std::nullopt;
  if (!sample) {
    sink.begin(head);
    sink.text("unreadable", event ? "too short for its event" : "of no known event");
    return sink.end();
  }
  sample->event = *event;
  head.pid = sample->who.pid;
  head.tid = sample->who.tid;
  head.cpu = sample->who.cpu;
  head.comm = comm_of(head.tid, head.time);
  head.event = recording_.metadata().events[*event].name;
  sink.begin(head);
  sink.text("mode", mode_name(sample->mode));
  optional_number(sink, "period", sample->period);
  enter(sample->who.pid.value_or(~0u), sample->who.time.value_or(kAtTheEnd));
  if (sample->ip) sink.instruction(frame_of(sample->mode, *sample->ip, *sample->ip));
  if (sample->exact_ip) sink.flag("exact_ip");
  optional_address(sink, "addr", sample->address);
  optional_number(sink, "id", sample->who.id);
  optional_number(sink, "stream_id", sample->who.stream_id);
  if (sample->reading) describe_reading(*sample->reading, sink);
  optional_number(sink, "weight", sample->weight);
  optional_address(sink, "data_src", sample->data_source);
  optional_address(sink, "transaction", sample->transaction);
  optional_address(sink, "phys_addr", sample->physical_address);
  optional_number(sink, "cgroup", sample->cgroup);
  optional_number(sink, "data_page_size", sample->data_page_size);
  optional_number(sink, "code_page_size", sample->code_page_size);
  if (!sample->raw.empty()) describe_raw(*sample, sink);
  if (!sample->branches.empty()) describe_branches(*sample, sink);
  describe_registers(sample->user_registers, "user_regs", sink);
  describe_registers(sample->interrupt_registers, "intr_regs", sink);
  if (!sample->user_stack.empty()) sink.number("user_stack_bytes", sample->user_stack.size());
  if (!sample->aux.empty()) sink.number("aux_bytes", sample->aux.size());
  if (sample->has_call_chain) describe_chain(*sample, sink);
  sink.end();
}

void RecordDescriber::describe(const PlacedRecord& placed, FieldSink& sink) {
  if (placed.record.type == RecordType::sample) return describe_sample(placed, sink);
  const RawRecord& record = placed.record;
  sample::RecordHead head{placed.number,
                          record.offset,
                          perf_data::name_of(record.type),
                          static_cast<std::uint32_t>(record.type),
                          placed.time,
                          {},
                          {},
                          {},
                          {},
                          {}};
  const perf::SampleLayout* layout = nullptr;
  if (const auto event = recording_.events().event_of_record(record)) {
    layout = &recording_.events().layout(*event);
    const auto who = layout->read_tail(record);
    head.pid = who.pid;
    head.tid = who.tid;
    head.cpu = who.cpu;
    head.comm = comm_of(head.tid, head.time);
  }
  sink.begin(head);
  if (!describe_task(record, sink) && !describe_kernel(record, layout, sink) &&
      !describe_tool(record, sink))
    sink.bytes("body", record.body);
  sink.end();
}

}  // namespace loft::source
