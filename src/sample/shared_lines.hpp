// Cache lines that threads pass to each other, by a model: who does it, and whether they need the
// same bytes. What `loft stat --sharing` shows.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loft::sample {

// What one thread did to a line in one place of the program, since the line was first passed.
struct LineUse {
  pid_t tid = 0;
  std::string comm;
  std::string function;
  std::string binary;
  std::string source;  // "counters.c:12"; empty where there is no debug information
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t transfers = 0;  // accesses that had to get the line from another thread
  std::uint32_t first = 0;      // bytes of the line that it touched, from here
  std::uint32_t end = 0;        // to behind here
};

enum class SharingKind {
  false_sharing,  // no byte that a thread writes is used by another
  true_sharing,   // every transfer brought a byte that was used
  both,
  unknown,  // it was passed once: too little to tell
};

struct SharedLine {
  pid_t pid = 0;
  std::uint64_t address = 0;
  std::string variable;  // "counters+0x40" of the binary's own data; empty for other memory
  std::uint64_t transfers = 0;
  std::uint64_t true_transfers = 0;
  std::uint64_t false_transfers = 0;
  std::uint64_t invalidations = 0;
  SharingKind kind = SharingKind::unknown;
  std::vector<LineUse> uses;  // those that passed it most first
};

// What a run passed, the lines with the most transfers first.
struct LineSharing {
  std::vector<SharedLine> lines;  // at most kMostLines of them
  std::uint64_t line_count = 0;   // that were passed at all
  std::uint64_t transfers = 0;    // of all lines
  std::uint32_t line_bytes = 64;

  static constexpr std::size_t kMostLines = 1000;
};

const char* to_string(SharingKind kind);

}  // namespace loft::sample
