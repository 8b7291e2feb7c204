#include "machine/isa.hpp"

#include <array>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace loft::machine {
namespace {

constexpr std::array<std::string_view, 6> kIsaNames{"scalar", "sse",  "avx2",
                                                    "avx512", "neon", "sve"};

std::size_t sve_bytes() {
#if defined(__aarch64__) && defined(PR_SVE_GET_VL)
  const int length = ::prctl(PR_SVE_GET_VL);
  if (length > 0) return static_cast<std::size_t>(length) & PR_SVE_VL_LEN_MASK;
#endif
  return 16;
}

}  // namespace

std::string_view name_of(Isa isa) { return kIsaNames[static_cast<std::size_t>(isa)]; }

std::string_view name_of(Precision precision) { return precision == Precision::sp ? "sp" : "dp"; }

std::size_t vector_bytes(Isa isa, Precision precision) {
  switch (isa) {
    case Isa::scalar:
      return element_bytes(precision);
    case Isa::sse:
    case Isa::neon:
      return 16;
    case Isa::avx2:
      return 32;
    case Isa::avx512:
      return 64;
    case Isa::sve:
      break;
  }
  return sve_bytes();
}

#if defined(__x86_64__)

IsaSupport isa_support() {
  IsaSupport support{{Isa::scalar, Isa::sse}, false, {"sse2"}};
  const auto note = [&](bool has, std::string_view name) {
    if (has) support.extensions.push_back(name);
    return has;
  };
  // These ask the operating system too (XGETBV): a register that is not saved is not usable.
  note(__builtin_cpu_supports("sse4.2") != 0, "sse4.2");
  note(__builtin_cpu_supports("avx") != 0, "avx");
  if (note(__builtin_cpu_supports("avx2") != 0, "avx2")) support.usable.push_back(Isa::avx2);
  support.fma = note(__builtin_cpu_supports("fma") != 0, "fma");
  if (note(__builtin_cpu_supports("avx512f") != 0, "avx512f"))
    support.usable.push_back(Isa::avx512);
  note(__builtin_cpu_supports("avx512vl") != 0, "avx512vl");
  note(__builtin_cpu_supports("avx512bw") != 0, "avx512bw");
  note(__builtin_cpu_supports("avx512vnni") != 0, "avx512vnni");
  return support;
}

#elif defined(__aarch64__)

IsaSupport isa_support() {
  IsaSupport support{{Isa::scalar, Isa::neon}, true, {"neon"}};
  if ((::getauxval(AT_HWCAP) & HWCAP_SVE) != 0) {
    support.usable.push_back(Isa::sve);
    support.extensions.emplace_back("sve");
  }
  return support;
}

#else

IsaSupport isa_support() { return {{Isa::scalar}, false, {}}; }

#endif

}  // namespace loft::machine
