#include "view/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "view/csv.hpp"
#include "view/short_name.hpp"

namespace loft::view {
namespace {

using event::Catalogue;
using event::CatalogueEntry;

constexpr std::size_t kWidestName = 44;
constexpr std::size_t kNarrowestDescription = 20;

std::string with_unit(const CatalogueEntry& entry) {
  std::string text = printable(entry.description);
  if (!entry.unit.empty()) text += " [" + printable(entry.unit) + "]";
  if (!entry.aliases.empty()) text += " (also " + printable(join(entry.aliases, ", ")) + ")";
  return text;
}

std::string config_of(const CatalogueEntry& entry) {
  return entry.config ? fmt::format("{:#x}", *entry.config) : std::string();
}

}  // namespace

std::string catalogue_table(const Catalogue& catalogue, int columns) {
  std::size_t name_width = 0;
  for (const CatalogueEntry& entry : catalogue.entries)
    name_width = std::max(name_width, std::min(entry.name.size(), kWidestName));
  const std::size_t used = name_width + 4;
  const std::size_t rest =
      std::max(kNarrowestDescription, static_cast<std::size_t>(std::max(columns, 40)) > used
                                          ? static_cast<std::size_t>(std::max(columns, 40)) - used
                                          : 0);
  std::string text;
  std::string_view origin;
  for (const CatalogueEntry& entry : catalogue.entries) {
    if (entry.origin != origin) {
      origin = entry.origin;
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", printable(origin));
    }
    text += fmt::format("  {:<{}}  {}\n", printable(entry.name), name_width,
                        shortened(with_unit(entry), rest));
  }
  return text;
}

std::string catalogue_lines(const Catalogue& catalogue) {
  std::string text;
  for (const CatalogueEntry& entry : catalogue.entries)
    text += printable(entry.name) + "\t" + printable(entry.origin) + "\t" + with_unit(entry) + "\n";
  return text;
}

std::string catalogue_csv(const Catalogue& catalogue) {
  std::string text = "name,origin,description,unit,pmu,aliases,config\n";
  for (const CatalogueEntry& entry : catalogue.entries)
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(entry.name), csv_field(entry.origin),
                        csv_field(entry.description), csv_field(entry.unit), csv_field(entry.pmu),
                        csv_field(join(entry.aliases, " ")), config_of(entry));
  return text;
}

std::string catalogue_json(const Catalogue& catalogue) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  for (const CatalogueEntry& entry : catalogue.entries) {
    Json object{{"name", entry.name}, {"origin", entry.origin}, {"description", entry.description}};
    if (!entry.unit.empty()) object["unit"] = entry.unit;
    if (!entry.pmu.empty()) object["pmu"] = entry.pmu;
    if (!entry.aliases.empty()) object["aliases"] = entry.aliases;
    if (entry.config) object["config"] = config_of(entry);
    events.push_back(std::move(object));
  }
  const Json whole{
      {"schema", "loft.list/1"}, {"events", std::move(events)}, {"notes", catalogue.notes}};
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace loft::view
