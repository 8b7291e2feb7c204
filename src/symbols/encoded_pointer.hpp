// Pointers as .eh_frame and the tables of exceptions write them: a byte says how.
//
//   const std::uint64_t start = read_pointer(in, encoding, 8, address + in.position());
#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace loft::symbols {

enum PointerEncoding : std::uint8_t {
  kFormatMask = 0x0f,
  kApplicationMask = 0x70,
  kRelativeToPlace = 0x10,
  kIndirect = 0x80,
  kOmitted = 0xff,
};

// `place` is the pointer's own address. One that is omitted is 0; a way that is not known fails the
// reader.
std::uint64_t read_pointer(ByteReader& in, std::uint8_t encoding, std::uint8_t address_size,
                           std::uint64_t place);

}  // namespace loft::symbols
