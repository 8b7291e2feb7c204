#include "base/privileges.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace loft {

void keep_capabilities(std::span<const int> kept) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return;
  std::array<std::uint32_t, _LINUX_CAPABILITY_U32S_3> mask{};
  for (const int capability : kept)
    mask[static_cast<std::size_t>(CAP_TO_INDEX(capability))] |= CAP_TO_MASK(capability);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i].effective &= mask[i];
    data[i].permitted &= mask[i];
    data[i].inheritable = 0;
  }
  (void)::syscall(SYS_capset, &header, data.data());  // to have less is always allowed
}

}  // namespace loft
