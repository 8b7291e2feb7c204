// The engine's own file descriptors in the program's process: the memory of the run, and the one
// whose truncation stops threads. To the program their numbers are not open: calls that use them
// fail with EBADF, and when it takes one for itself (dup2), the engine moves away.
#pragma once

#include <sys/syscall.h>

#include <cstdint>

namespace loft::engine::runtime {

enum class Own : std::uint32_t { memory, polls };
inline constexpr std::uint32_t kOwnDescriptors = 2;

void set_own_descriptors(std::uint32_t memory, std::uint32_t polls);
std::uint32_t own_descriptor(Own which);
bool is_own_descriptor(std::uint64_t descriptor);

// Calls that take a second descriptor behind their first argument. The engine must see them.
inline constexpr int kWithSecond[] = {SYS_sendfile, SYS_epoll_ctl, SYS_splice, SYS_tee,
                                      SYS_copy_file_range};

// Whether a call names one of them where it takes a descriptor.
bool uses_own_descriptor(long number, const std::uint64_t* arguments);

// The program is about to take this number, which is the engine's: an error, or 0.
long leave_number(std::uint64_t number);

// Maps a part of one of them at an address; what mmap gives.
long map_own(Own which, std::uint64_t address, std::uint64_t bytes, std::uint64_t offset);

// Whether somebody holds the lock of a byte of the memory. True when that cannot be known.
bool is_locked(std::uint64_t byte);

// In the child of a fork, where nobody else uses them.
void forget_descriptor_users();

}  // namespace loft::engine::runtime
