#include "source/perf_events/running_process.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::source::perf_events {
namespace {

// START-END PERMISSIONS OFFSET DEVICE INODE PATH; nothing where it is no code of a file.
std::optional<MappedCode> parse_code(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() < 6 || words[1].size() < 3 || words[1][2] != 'x') return std::nullopt;
  const auto range = split(words[0], '-');
  const auto start = parse_hex(range.front());
  const auto end = parse_hex(range.back());
  const auto offset = parse_hex(words[2]);
  if (!start || !end || !offset || *end < *start) return std::nullopt;
  const auto path = line.substr(static_cast<std::size_t>(words[5].data() - line.data()));
  return MappedCode{*start, *end - *start, *offset, std::string(path)};
}

}  // namespace

Result<RunningProcess> look_at_process(pid_t pid) {
  RunningProcess process{pid, {}, {}};
  LOFT_TRY(const auto threads, list_directory(fmt::format("/proc/{}/task", pid)));
  for (const std::string& name : threads) {
    const auto tid = parse_u64(name);
    const auto comm = read_line(fmt::format("/proc/{}/task/{}/comm", pid, name));
    if (tid && comm) process.threads.push_back({static_cast<pid_t>(*tid), *comm});
  }
  const auto maps = read_file(fmt::format("/proc/{}/maps", pid));
  if (!maps) return process;  // another user's: its functions will have no names
  for (const std::string_view line : split(*maps, '\n'))
    if (auto code = parse_code(line)) process.code.push_back(*std::move(code));
  return process;
}

}  // namespace loft::source::perf_events
