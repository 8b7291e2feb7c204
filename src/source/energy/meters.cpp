#include "source/energy/meters.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::source::energy {
namespace {

// Both interfaces count in millionths: microjoules and microwatts.
constexpr double kMicro = 1e-6;

std::string name_in(const std::string& folder, const std::string& fallback) {
  const auto name = read_line(folder + "/name");
  return name ? *name : fallback;
}

void add_powercap(const SystemRoot& root, std::vector<Meter>& found) {
  const std::string top = root.at("/sys/class/powercap");
  const auto zones = list_directory(top);
  if (!zones) return;
  for (const std::string& zone : *zones) {
    const std::string folder = join_path(top, zone);
    const std::string path = folder + "/energy_uj";
    if (!file_exists(path)) continue;
    const auto range = read_line(folder + "/max_energy_range_uj");
    const auto microjoules = range ? parse_u64(trim(*range)) : std::nullopt;
    found.push_back({name_in(folder, zone) + " (" + zone + ")", "powercap", path,
                     Meter::Quantity::energy,
                     static_cast<double>(microjoules.value_or(0)) * kMicro});
  }
}

void add_hwmon(const SystemRoot& root, std::vector<Meter>& found) {
  const std::string top = root.at("/sys/class/hwmon");
  const auto chips = list_directory(top);
  if (!chips) return;
  for (const std::string& chip : *chips) {
    const std::string folder = join_path(top, chip);
    const auto files = list_directory(folder);
    if (!files) continue;
    for (const std::string& file : *files) {
      const bool is_energy = file.starts_with("energy") && file.ends_with("_input");
      const bool is_power =
          file.starts_with("power") && (file.ends_with("_input") || file.ends_with("_average"));
      if (!is_energy && !is_power) continue;
      const std::string sensor = file.substr(0, file.find('_'));
      found.push_back({name_in(folder, chip) + " " + sensor, "hwmon", join_path(folder, file),
                       is_energy ? Meter::Quantity::energy : Meter::Quantity::power, 0});
    }
  }
}

}  // namespace

std::vector<Meter> meters(const SystemRoot& root) {
  std::vector<Meter> found;
  add_powercap(root, found);
  add_hwmon(root, found);
  return found;
}

Result<double> read(const Meter& meter) {
  LOFT_TRY(const std::string line, read_line(meter.path));
  const auto value = parse_u64(trim(line));
  if (!value)
    return failure(ErrorKind::malformed, "read the meter '" + meter.name + "'",
                   "'" + meter.path + "' holds '" + line + "', not a number");
  return static_cast<double>(*value) * kMicro;
}

}  // namespace loft::source::energy
