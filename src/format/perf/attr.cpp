#include "format/perf/attr.hpp"

namespace loft::format::perf {
namespace {

// The flags are a bit field of 64 bits, which compilers fill from the low end on little-endian
// machines and from the high end on big-endian ones.
class FlagWord {
 public:
  FlagWord(std::uint64_t word, ByteOrder order) : word_(word), order_(order) {}
  [[nodiscard]] std::uint64_t field(unsigned first, unsigned width) const {
    const unsigned shift = order_ == ByteOrder::little ? first : 64 - first - width;
    return (word_ >> shift) & ((std::uint64_t{1} << width) - 1);
  }
  [[nodiscard]] bool bit(unsigned index) const { return field(index, 1) != 0; }

 private:
  std::uint64_t word_;
  ByteOrder order_;
};

void read_flags(EventAttr& attr, const FlagWord& flags) {
  attr.disabled = flags.bit(0);
  attr.inherit = flags.bit(1);
  attr.pinned = flags.bit(2);
  attr.exclusive = flags.bit(3);
  attr.exclude_user = flags.bit(4);
  attr.exclude_kernel = flags.bit(5);
  attr.exclude_hv = flags.bit(6);
  attr.exclude_idle = flags.bit(7);
  attr.freq = flags.bit(10);
  attr.enable_on_exec = flags.bit(12);
  attr.precise_ip = static_cast<std::uint8_t>(flags.field(15, 2));
  attr.sample_id_all = flags.bit(18);
  attr.exclude_host = flags.bit(19);
  attr.exclude_guest = flags.bit(20);
  attr.use_clockid = flags.bit(25);
  attr.context_switch = flags.bit(26);
  attr.write_backward = flags.bit(27);
  attr.build_id = flags.bit(34);
}

}  // namespace

Result<EventAttr> read_attr(std::span<const std::byte> bytes, ByteOrder order) {
  ByteReader in(bytes, order);
  EventAttr attr;
  attr.type = in.u32();
  attr.size = in.u32();
  attr.config = in.u64();
  attr.sample_period = in.u64();
  attr.sample_type = in.u64();
  attr.read_format = in.u64();
  const FlagWord flags(in.u64(), order);
  attr.wakeup = in.u32();
  attr.breakpoint_type = in.u32();
  attr.config1 = in.u64();
  if (!in.ok())
    return failure(ErrorKind::malformed, "read an event attribute",
                   "it has " + std::to_string(bytes.size()) + " bytes, fewer than 64");
  read_flags(attr, flags);
  // From here on a field that is not in the file is 0, which is what a failed cursor gives.
  attr.config2 = in.u64();
  attr.branch_sample_type = in.u64();
  attr.sample_regs_user = in.u64();
  attr.sample_stack_user = in.u32();
  attr.clockid = static_cast<std::int32_t>(in.u32());
  attr.sample_regs_intr = in.u64();
  attr.aux_watermark = in.u32();
  attr.sample_max_stack = in.u16();
  in.skip(2);
  attr.aux_sample_size = in.u32();
  in.skip(4);
  in.skip(8);  // sig_data
  attr.config3 = in.u64();
  return attr;
}

}  // namespace loft::format::perf
