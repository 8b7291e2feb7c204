#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "event/resolver.hpp"
#include "source/checks/checks.hpp"
#include "source/checks/trial.hpp"
#include "source/energy/meters.hpp"
#include "source/energy/nvml.hpp"

namespace loft::source::checks {
namespace {

using Status = Check::Status;

// Meters are updated about every millisecond, some slower.
void let_energy_flow() {
  for (int i = 0; i < 10; ++i) keep_busy();
}

Check power_pmu(const SystemRoot& root) {
  const std::string title = "energy events (perf 'power' PMU)";
  const auto names = list_directory(root.at("/sys/bus/event_source/devices/power/events"));
  if (!names) return {"energy-perf", title, Status::missing, "this machine has no 'power' PMU", ""};
  event::Resolver resolver(root);
  std::vector<std::string> working;
  std::vector<std::string> silent;
  std::string refusal = "it publishes no event";
  std::string hint;
  for (const std::string& name : *names) {
    if (name.find('.') != std::string::npos) continue;
    const auto event = resolver.resolve("power/" + name + "/");
    if (!event) {
      refusal = event.error().why;
      continue;
    }
    const int cpu = event->cpus.empty() ? 0 : event->cpus.front();
    const auto reading = count_during(*event, let_energy_flow, {-1, cpu});
    if (!reading) {
      refusal = reading.error().why;
      hint = reading.error().hint;
    } else {
      (reading->value > 0 ? working : silent).push_back(name);
    }
  }
  if (!working.empty())
    return {"energy-perf", title, silent.empty() ? Status::ok : Status::limited,
            join(working, ", ") + " count" +
                (silent.empty() ? "" : "; " + join(silent, ", ") + " open but stay 0"),
            ""};
  if (!silent.empty())
    return {"energy-perf", title, Status::missing, join(silent, ", ") + " open but stay 0", ""};
  return {"energy-perf", title, Status::missing, refusal, hint};
}

Check files(const SystemRoot& root, const std::string& origin, const std::string& place) {
  const std::string id = "energy-" + origin;
  const std::string title = "energy meters (" + origin + ")";
  std::size_t working = 0;
  std::string refusal;
  std::string fix;
  for (const energy::Meter& meter : energy::meters(root)) {
    if (meter.origin != origin) continue;
    const auto before = energy::read(meter);
    if (!before) {
      refusal = meter.name + ": " + before.error().why;
      if (before.error().kind == ErrorKind::permission)
        fix =
            "let loft read it: sudo setcap cap_dac_read_search+ep \"$(command -v loft)\", or use "
            "the perf 'power' PMU with CAP_PERFMON";
      continue;
    }
    let_energy_flow();
    const auto after = energy::read(meter);
    const bool moves =
        meter.quantity == energy::Meter::Quantity::power ? *before > 0 : after && *after != *before;
    if (moves) {
      ++working;
    } else {
      refusal = meter.name + " can be read but does not move";
    }
  }
  if (working > 0)
    return {id, title, refusal.empty() ? Status::ok : Status::limited,
            fmt::format("{} meters move{}", working, refusal.empty() ? "" : "; " + refusal), fix};
  if (refusal.empty()) refusal = "there is none below " + place;
  return {id, title, Status::missing, refusal, fix};
}

// A read that succeeds proves nothing: emulators answer 0 for registers that do not exist.
Check msr_device(const SystemRoot& root) {
  constexpr off_t kPackageEnergyIntel = 0x611;
  constexpr off_t kPackageEnergyAmd = 0xC001029B;
  const std::string title = "energy registers (/dev/cpu/0/msr)";
  const Fd device(::open(root.at("/dev/cpu/0/msr").c_str(), O_RDONLY | O_CLOEXEC));
  if (!device.is_open()) {
    const bool absent = errno == ENOENT || errno == ENXIO;
    return {"energy-msr", title, Status::missing, describe_errno(errno),
            absent ? "sudo modprobe msr" : "sudo setcap cap_sys_rawio+ep \"$(command -v loft)\""};
  }
  for (const off_t which : {kPackageEnergyIntel, kPackageEnergyAmd}) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    if (::pread(device.get(), &before, sizeof before, which) != sizeof before) continue;
    let_energy_flow();
    if (::pread(device.get(), &after, sizeof after, which) == sizeof after && after != before)
      return {"energy-msr", title, Status::ok, "the package's energy register moves", ""};
  }
  return {"energy-msr", title, Status::missing, "no energy register moves", ""};
}

Check gpus() {
  const std::string title = "GPU energy (NVML)";
  const auto nvml = energy::Nvml::load();
  if (!nvml) return {"energy-nvml", title, Status::missing, nvml.error().why, ""};
  std::vector<std::string> working;
  std::string refusal = "there is no GPU";
  for (unsigned device = 0; device < nvml->devices(); ++device) {
    const auto name = nvml->name(device);
    const auto joules = nvml->energy(device);
    if (joules && *joules > 0) {
      working.push_back(name ? *name : "GPU " + std::to_string(device));
    } else {
      refusal = joules ? "the meter reads 0" : joules.error().why;
    }
  }
  if (working.empty()) return {"energy-nvml", title, Status::missing, refusal, ""};
  return {"energy-nvml", title, Status::ok, "metered: " + join(working, ", "), ""};
}

}  // namespace

std::vector<Check> energy(const SystemRoot& root) {
  return {power_pmu(root), files(root, "powercap", "/sys/class/powercap"),
          files(root, "hwmon", "/sys/class/hwmon"), msr_device(root), gpus()};
}

}  // namespace loft::source::checks
