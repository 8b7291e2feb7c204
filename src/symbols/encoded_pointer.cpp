#include "symbols/encoded_pointer.hpp"

namespace loft::symbols {

std::uint64_t read_pointer(ByteReader& in, std::uint8_t encoding, std::uint8_t address_size,
                           std::uint64_t place) {
  if (encoding == kOmitted) return 0;
  std::uint64_t value = 0;
  switch (encoding & kFormatMask) {
    case 0x00:
      value = in.sized(address_size);
      break;
    case 0x01:
      value = in.uleb();
      break;
    case 0x02:
      value = in.u16();
      break;
    case 0x03:
      value = in.u32();
      break;
    case 0x04:
    case 0x0c:
      value = in.u64();
      break;
    case 0x09:
      value = static_cast<std::uint64_t>(in.sleb());
      break;
    case 0x0a:
      value = static_cast<std::uint64_t>(static_cast<std::int16_t>(in.u16()));
      break;
    case 0x0b:
      value = static_cast<std::uint64_t>(static_cast<std::int32_t>(in.u32()));
      break;
    default:
      in.fail();
      return 0;
  }
  if ((encoding & kApplicationMask) == kRelativeToPlace) value += place;
  return value;
}

}  // namespace loft::symbols
