// NVIDIA's management library, if it is installed: the energy that GPUs have used.
// Loaded at run time, so that loft runs and builds without it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace loft::source::energy {

class Nvml {
 public:
  // not_found when there is no such library, unsupported when it has no device to talk to.
  [[nodiscard]] static Result<Nvml> load();

  [[nodiscard]] unsigned devices() const { return devices_; }
  [[nodiscard]] Result<std::string> name(unsigned device) const;
  // Joules since the driver was loaded.
  [[nodiscard]] Result<double> energy(unsigned device) const;

 private:
  struct Library;
  explicit Nvml(std::shared_ptr<Library> library) : library_(std::move(library)) {}

  std::shared_ptr<Library> library_;
  unsigned devices_ = 0;
};

}  // namespace loft::source::energy
