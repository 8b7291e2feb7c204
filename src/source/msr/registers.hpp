// The model-specific registers of one CPU, through /dev/cpu/N/msr.
//
//   LOFT_TRY(auto registers, MsrFile::open(3, MsrFile::Access::read));
//   LOFT_TRY(const std::uint64_t unit, registers->read(0x606));
#pragma once

#include <cstdint>
#include <memory>

#include "base/fd.hpp"
#include "base/places.hpp"
#include "base/result.hpp"

namespace loft::source::msr {

class Registers {
 public:
  Registers() = default;
  Registers(const Registers&) = delete;
  Registers& operator=(const Registers&) = delete;
  virtual ~Registers() = default;

  [[nodiscard]] virtual Result<std::uint64_t> read(std::uint32_t number) const = 0;
  [[nodiscard]] virtual Result<void> write(std::uint32_t number, std::uint64_t value) = 0;
};

class MsrFile : public Registers {
 public:
  // An error says what is missing: the module, CAP_SYS_RAWIO, or the kernel's consent.
  enum class Access { read, write };
  [[nodiscard]] static Result<std::unique_ptr<Registers>> open(int cpu, Access access,
                                                               const SystemRoot& root = {});

  [[nodiscard]] Result<std::uint64_t> read(std::uint32_t number) const override;
  [[nodiscard]] Result<void> write(std::uint32_t number, std::uint64_t value) override;

 private:
  MsrFile(Fd fd, int cpu) : fd_(std::move(fd)), cpu_(cpu) {}
  Fd fd_;
  int cpu_;
};

}  // namespace loft::source::msr
