#include "format/perf/sample.hpp"

namespace loft::format::perf {
namespace {

std::optional<std::uint64_t> optional_u64(ByteReader& in, bool there) {
  return there ? std::optional(in.u64()) : std::nullopt;
}

void read_fixed(ByteReader& in, const SampleLayout& layout, pd::Sample& sample) {
  sample.who.id = optional_u64(in, layout.has(kIdentifier));
  sample.ip = optional_u64(in, layout.has(kIp));
  if (layout.has(kTid)) {
    sample.who.pid = in.u32();
    sample.who.tid = in.u32();
  }
  sample.who.time = optional_u64(in, layout.has(kTime));
  sample.address = optional_u64(in, layout.has(kAddr));
  if (layout.has(kId)) sample.who.id = in.u64();
  sample.who.stream_id = optional_u64(in, layout.has(kStreamId));
  if (layout.has(kCpu)) {
    sample.who.cpu = in.u32();
    in.skip(4);
  }
  sample.period = optional_u64(in, layout.has(kPeriod));
}

pd::U64View take_numbers(ByteReader& in, std::uint64_t count) {
  const std::byte* first = in.here();
  in.skip(count * 8);
  if (!in.ok()) return {};
  return {first, static_cast<std::size_t>(count), in.order() != kHostOrder};
}

// The flags are a bit field: see FlagWord in attr.cpp.
pd::BranchEntry read_branch(ByteReader& in) {
  pd::BranchEntry entry;
  entry.from = in.u64();
  entry.to = in.u64();
  const auto flags = in.u64();
  const auto field = [&](unsigned first, unsigned width) {
    const unsigned shift = in.order() == ByteOrder::little ? first : 64 - first - width;
    return (flags >> shift) & ((std::uint64_t{1} << width) - 1);
  };
  entry.mispredicted = field(0, 1) != 0;
  entry.predicted = field(1, 1) != 0;
  entry.in_transaction = field(2, 1) != 0;
  entry.aborted = field(3, 1) != 0;
  entry.cycles = static_cast<std::uint16_t>(field(4, 16));
  entry.kind = static_cast<std::uint8_t>(field(20, 4));
  return entry;
}

void read_branches(ByteReader& in, const EventAttr& attr, pd::Sample& sample) {
  const auto count = in.u64();
  if ((attr.branch_sample_type & kBranchHardwareIndex) != 0)
    sample.branch_hardware_index = in.u64();
  if (!in.ok() || count > in.remaining() / 24) return in.fail();
  sample.branches.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) sample.branches.push_back(read_branch(in));
  if ((attr.branch_sample_type & kBranchCounters) != 0) in.skip(count * 8);
}

pd::Registers read_registers(ByteReader& in, std::uint64_t mask) {
  pd::Registers registers;
  const auto abi = in.u64();
  if (abi == 0) return registers;
  registers.abi = abi == 1 ? pd::Registers::Abi::bits32 : pd::Registers::Abi::bits64;
  registers.mask = mask;
  registers.values = take_numbers(in, static_cast<std::uint64_t>(std::popcount(mask)));
  return registers;
}

void read_stack(ByteReader& in, pd::Sample& sample) {
  const auto size = in.u64();
  if (size == 0) return;
  const auto bytes = in.take(size);
  const auto copied = in.u64();
  if (in.ok()) sample.user_stack = bytes.first(copied < size ? copied : size);
}

void read_variable(ByteReader& in, const SampleLayout& layout, pd::Sample& sample) {
  const EventAttr& attr = layout.attr();
  if (layout.has(kRead)) {
    sample.reading = read_counters(in, attr.read_format);
    if (!sample.reading) return in.fail();
  }
  if (layout.has(kCallchain)) {
    sample.has_call_chain = true;
    sample.call_chain = take_numbers(in, in.count64(8));
  }
  if (layout.has(kRaw)) {
    const auto size = in.u32();
    sample.raw = in.take(size);
  }
  if (layout.has(kBranchStack)) read_branches(in, attr, sample);
  if (layout.has(kRegsUser)) sample.user_registers = read_registers(in, attr.sample_regs_user);
  if (layout.has(kStackUser)) read_stack(in, sample);
  if (layout.has(kWeight) || layout.has(kWeightStruct)) {
    sample.weight = in.u64();
    sample.weight_is_struct = layout.has(kWeightStruct);
  }
  sample.data_source = optional_u64(in, layout.has(kDataSrc));
  sample.transaction = optional_u64(in, layout.has(kTransaction));
  if (layout.has(kRegsIntr)) sample.interrupt_registers = read_registers(in, attr.sample_regs_intr);
  sample.physical_address = optional_u64(in, layout.has(kPhysAddr));
  sample.cgroup = optional_u64(in, layout.has(kCgroup));
  sample.data_page_size = optional_u64(in, layout.has(kDataPageSize));
  sample.code_page_size = optional_u64(in, layout.has(kCodePageSize));
  if (layout.has(kAux)) {
    const auto size = in.u64();
    sample.aux = in.take(size);
  }
}

}  // namespace

std::optional<pd::Sample> read_sample(const RawRecord& record, const SampleLayout& layout) {
  std::optional<pd::Sample> sample(std::in_place);  // large: it is made where it will be used
  sample->mode = record.mode();
  sample->exact_ip = (record.misc & kMiscExactIp) != 0;
  ByteReader in(record.body, record.order);
  read_fixed(in, layout, *sample);
  read_variable(in, layout, *sample);
  if (!in.ok()) sample.reset();
  return sample;
}

bool skip_reading(ByteReader& in, std::uint64_t format) {
  const auto has = [&](std::uint64_t bit) { return (format & bit) != 0 ? 1u : 0u; };
  const std::uint64_t times = has(kReadTotalTimeEnabled) + has(kReadTotalTimeRunning);
  const std::uint64_t each = 1 + has(kReadId) + has(kReadLost);
  const std::uint64_t count = has(kReadGroup) != 0 ? in.u64() : 1;
  if (count > in.remaining() / 8) return false;
  in.skip(8 * (times + each * count));
  return in.ok();
}

}  // namespace loft::format::perf
