// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loft {

// 1234567 gives "1,234,567": exact counts keep every digit.
std::string with_separators(std::uint64_t value);

// Three significant digits and an SI prefix: 1234567 Hz gives "1.23 MHz"; "" for no unit.
std::string with_si_prefix(double value, std::string_view unit);

// Powers of 1024: 32768 gives "32 KiB".
std::string with_binary_prefix(std::uint64_t bytes);

// "1.234 s", "56.7 ms", "8.90 us".
std::string format_seconds(double seconds);

}  // namespace loft
