#include "event/tracepoint.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/grammar.hpp"
#include "event/kernel_names.hpp"

namespace loft::event {
namespace {

constexpr std::string_view kPlaces[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

// Groups and names are C identifiers in the kernel; this also keeps them inside tracefs.
bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() < 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// The events/ folder that can be listed, or why there is none.
Result<std::string> events_folder(const SystemRoot& root) {
  bool refused = false;
  for (const std::string_view place : kPlaces) {
    const std::string folder = root.at(place) + "/events";
    const auto names = list_directory(folder);
    if (names && !names->empty()) return folder;
    if (!names && names.error().kind == ErrorKind::permission) refused = true;
  }
  if (refused)
    return failure(
        ErrorKind::permission, "look up tracepoints",
        "EACCES, tracefs is for root alone on this machine",
        "run as root, or let a group in: mount -o remount,gid=GROUP /sys/kernel/tracing");
  return failure(ErrorKind::unsupported, "look up tracepoints", "tracefs is not mounted here",
                 "as root: mount -t tracefs nodev /sys/kernel/tracing");
}

}  // namespace

Result<Event> find_tracepoint(const SystemRoot& root, std::string_view group,
                              std::string_view name) {
  const std::string full = std::string(group) + ":" + std::string(name);
  LOFT_TRY(const std::string folder, events_folder(root));
  const std::string path = folder + "/" + std::string(group) + "/" + std::string(name) + "/id";
  if (!is_identifier(group) || !is_identifier(name) || !file_exists(path))
    return failure(ErrorKind::not_found, "find the tracepoint " + in_quotes(full),
                   "the kernel has none of this name");
  LOFT_TRY(const std::string line, read_line(path));
  const auto id = parse_u64(trim(line));
  if (!id)
    return failure(ErrorKind::malformed, "read '" + path + "'",
                   in_quotes(line) + " is not a number");
  Event event;
  event.encoding = {"tracepoint", kTypeTracepoint, *id, 0, 0};
  event.origin = "tracepoint";
  event.description = "Tracepoint of the kernel";
  return event;
}

Result<std::vector<std::string>> list_tracepoints(const SystemRoot& root) {
  LOFT_TRY(const std::string folder, events_folder(root));
  LOFT_TRY(const auto groups, list_directory(folder));
  std::vector<std::string> found;
  for (const std::string& group : groups) {
    const auto names = list_directory(folder + "/" + group);
    if (!names) continue;  // a plain file: "enable", "header_page"
    for (const std::string& name : *names)
      if (file_exists(folder + "/" + group + "/" + name + "/id"))
        found.push_back(group + ":" + name);
  }
  return found;
}

}  // namespace loft::event
