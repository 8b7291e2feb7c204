// Instructions that are newer than the decoder. The processor may know them.
#pragma once

#include <cstdint>

namespace loft::engine::runtime {

// The length of what has the form of a VEX or EVEX instruction, whatever it does; 0 when it has
// another form, is relative to rip, or does not end within the bytes.
std::uint8_t length_of_unknown(const std::uint8_t* bytes, std::uint32_t available);

// Set in the target of the link behind such an instruction: the processor ran it, and what it
// counts as is not known. No address has this bit alone.
inline constexpr std::uint64_t kBehindUnknown = 1ull << 62;

}  // namespace loft::engine::runtime
