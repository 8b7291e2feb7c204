#include "source/perf_events/group.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace loft::source::perf_events {
namespace {

Result<void> read_words(const Fd& fd, std::span<std::uint64_t> words) {
  const ssize_t got = ::read(fd.get(), words.data(), words.size_bytes());
  if (got < 0) return failure_of_errno(errno, "read a counter");
  if (static_cast<std::size_t>(got) != words.size_bytes())
    return failure(ErrorKind::internal, "read a counter",
                   "the kernel gave " + std::to_string(got) + " bytes instead of " +
                       std::to_string(words.size_bytes()));
  return {};
}

// A group that is read at once: number of members, enabled, running, then (value, id) for each.
constexpr std::size_t words_of(std::size_t members) { return 3 + 2 * members; }

RawReading reading_in(std::span<const std::uint64_t> words, std::size_t member) {
  return {words[3 + 2 * member], nanoseconds(words[1]), nanoseconds(words[2])};
}

}  // namespace

Result<void> Group::add(const event::Event& event, Place place, AttrOptions options) {
  const Fd none;
  const Fd& group = members_.empty() ? none : members_.front();
  // Members follow their leader: it alone is switched.
  if (!members_.empty()) options.disabled = options.enable_on_exec = false;
  perf_event_attr attr = make_attr(event, options);
  LOFT_TRY(Fd fd, open_event(attr, event, place, group));
  if (members_.empty()) group_read_ = options.group_read;
  members_.push_back(std::move(fd));
  return {};
}

Result<void> Group::enable() const {
  if (::ioctl(leader().get(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0)
    return failure_of_errno(errno, "start a group of counters");
  return {};
}

Result<void> Group::disable() const {
  if (::ioctl(leader().get(), PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) != 0)
    return failure_of_errno(errno, "stop a group of counters");
  return {};
}

Result<std::vector<RawReading>> Group::read() const {
  return group_read_ ? read_at_once() : read_one_by_one();
}

Result<std::vector<RawReading>> Group::read_at_once() const {
  std::vector<std::uint64_t> words(words_of(members_.size()));
  LOFT_CHECK(read_words(leader(), words));
  if (words[0] != members_.size())
    return failure(ErrorKind::internal, "read a group of counters", "its size changed");
  std::vector<RawReading> readings;
  for (std::size_t i = 0; i < members_.size(); ++i) readings.push_back(reading_in(words, i));
  return readings;
}

bool Group::read_into(std::span<RawReading> readings) const noexcept {
  constexpr std::size_t kMost = 64;
  std::array<std::uint64_t, words_of(kMost)> space;
  if (members_.size() > kMost || readings.size() != members_.size()) return false;
  const std::span<std::uint64_t> words(space.data(), words_of(members_.size()));
  const ssize_t got = ::read(leader().get(), words.data(), words.size_bytes());
  if (got < 0 || static_cast<std::size_t>(got) != words.size_bytes()) return false;
  if (words[0] != members_.size()) return false;
  for (std::size_t i = 0; i < readings.size(); ++i) readings[i] = reading_in(words, i);
  return true;
}

Result<std::vector<RawReading>> Group::read_one_by_one() const {
  std::vector<RawReading> readings;
  for (const Fd& fd : members_) {
    std::array<std::uint64_t, 4> words{};  // value, enabled, running, id
    LOFT_CHECK(read_words(fd, words));
    readings.push_back({words[0], nanoseconds(words[1]), nanoseconds(words[2])});
  }
  return readings;
}

}  // namespace loft::source::perf_events
