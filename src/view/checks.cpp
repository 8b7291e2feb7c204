#include "view/checks.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "view/csv.hpp"

namespace loft::view {
namespace {

const char* colour_of(Check::Status status) {
  switch (status) {
    case Check::Status::ok:
      return "\x1b[32m";
    case Check::Status::limited:
      return "\x1b[33m";
    case Check::Status::missing:
      break;
  }
  return "\x1b[31m";
}

}  // namespace

std::string checks_text(std::span<const Check> checks, bool colour) {
  std::string text;
  for (const Check& check : checks) {
    const std::string status = fmt::format("{:<8}", to_string(check.status));
    text += colour ? colour_of(check.status) + status + "\x1b[0m" : status;
    text += fmt::format(" {:<34} {}\n", printable(check.title), printable(check.why));
    if (!check.fix.empty()) text += fmt::format("{:<43} fix: {}\n", "", printable(check.fix));
  }
  return text;
}

std::string checks_csv(std::span<const Check> checks) {
  std::string text = "id,title,status,why,fix\n";
  for (const Check& check : checks)
    text += fmt::format("{},{},{},{},{}\n", csv_field(check.id), csv_field(check.title),
                        to_string(check.status), csv_field(check.why), csv_field(check.fix));
  return text;
}

std::string checks_json(std::span<const Check> checks) {
  using nlohmann::ordered_json;
  ordered_json json{{"schema", "loft.doctor/1"}, {"checks", ordered_json::array()}};
  for (const Check& check : checks)
    json["checks"].push_back({{"id", check.id},
                              {"title", check.title},
                              {"status", to_string(check.status)},
                              {"why", check.why},
                              {"fix", check.fix}});
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace loft::view
