#include "engine/runtime/alarms.hpp"

#include <csignal>
#include <cstring>

#include "engine/runtime/event_sets.hpp"
#include "engine/runtime/kernel.hpp"
#include "engine/runtime/place.hpp"
#include "engine/runtime/record.hpp"
#include "engine/runtime/signals.hpp"
#include "engine/runtime/thresholds.hpp"
#include "engine/runtime/trace.hpp"

namespace loft::engine::runtime {

std::uint32_t g_alarm_count = 0;

namespace {

// The event of an alarm: threads that want the same one share it.
struct Watched {
  EventRule rule;
  std::uint32_t event;  // its number among the event sets' rules
  std::uint32_t users;
};
Watched g_watched[kMaxThresholds];

// Steps that a block cannot need: then the thread stands elsewhere, and comes back by itself.
constexpr std::uint32_t kMostSteps = 4 * kMaxInstructions;

std::int64_t& distance_of(Context* context, std::uint32_t alarm) {
  return reinterpret_cast<std::int64_t*>(context->counters())[kFirstDistance + alarm];
}

void send(const Alarm& alarm) {
  siginfo_t info{};
  info.si_signo = static_cast<int>(alarm.signal);
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = reinterpret_cast<void*>(alarm.value);
  kernel(SYS_rt_tgsigqueueinfo, static_cast<std::uint64_t>(kernel(SYS_getpid)),
         static_cast<std::uint64_t>(kernel(SYS_gettid)), alarm.signal, word(&info));
}

// How far the thread is from it, by its exact count: below 0 is before.
std::int64_t exact_distance(const Reader& reader, std::uint32_t alarm) {
  const auto distance =
      static_cast<std::int64_t>(reader.sums[g_watched[alarm].event] - reader.alarms[alarm].target);
  return distance < -kFarthest ? -kFarthest : distance;
}

// Looks at the exact count of an alarm whose distance is used up, and sends what is due.
// cache_lock() is held. False when it is still to come.
bool settle(Context* context, Reader& reader, std::uint32_t alarm) {
  Alarm& mine = reader.alarms[alarm];
  std::int64_t& distance = distance_of(context, alarm);
  distance = mine.is_armed ? exact_distance(reader, alarm) : -kFarthest;
  if (distance < 0) return !mine.is_armed;
  mine.is_armed = false;
  distance = -kFarthest;
  send(mine);
  return true;
}

// The one of an event that the thread has no alarm on yet; kMaxThresholds when there is no room.
std::uint32_t find_alarm(const Reader& reader, const EventRule& rule) {
  for (std::uint32_t i = 0; i < g_alarm_count; ++i)
    if (!reader.alarms[i].is_armed && g_watched[i].users != 0 && is_same(g_watched[i].rule, rule))
      return i;
  std::uint32_t place = 0;
  while (place < g_alarm_count && g_watched[place].users != 0) ++place;
  if (place == kMaxThresholds) return place;
  const std::uint32_t event = take_rule(rule);
  if (event == door::kMaxRules) return kMaxThresholds;
  if (place < g_alarm_count) release_rule(g_watched[place].event);
  g_watched[place] = {rule, event, 0};
  if (place == g_alarm_count) ++g_alarm_count;
  renew_code();  // what is made from here on keeps the distance
  return place;
}

bool can_watch(const door::AlarmRequest& wanted) {
  const bool is_branch =
      wanted.rule.measure == Measure::taken || wanted.rule.measure == Measure::not_taken;
  const bool is_signal = wanted.signal >= 1 && wanted.signal <= 64 &&
                         (kFaults & bit_of(static_cast<int>(wanted.signal))) == 0;
  return is_valid(wanted.rule) && !is_branch && is_signal && wanted.number <= g_alarm_count &&
         shared_header()->thresholds == 0 &&
         shared_header()->stream_mode == static_cast<std::uint32_t>(StreamMode::none);
}

}  // namespace

const EventRule& alarm_rule(std::uint32_t alarm) { return g_watched[alarm].rule; }

std::uint64_t arm(Context* context, std::uint64_t address) {
  door::AlarmRequest wanted;
  if (engine_safe_copy(&wanted, reinterpret_cast<void*>(address), sizeof wanted) != sizeof wanted)
    return 0;
  const Holding holding(cache_lock());
  if (!can_watch(wanted)) return 0;
  Reader& reader = update_reader(context);
  const bool is_again = wanted.number != 0 && g_watched[wanted.number - 1].users != 0;
  const std::uint32_t alarm = is_again ? wanted.number - 1 : find_alarm(reader, wanted.rule);
  if (alarm == kMaxThresholds) return 0;
  if (!is_again) ++g_watched[alarm].users;
  update_reader(context);
  reader.alarms[alarm] = {wanted.target, wanted.value, wanted.signal, true};
  distance_of(context, alarm) = exact_distance(reader, alarm);
  follow_generation(reader);
  return alarm + 1;
}

std::uint64_t disarm(Context* context, std::uint64_t number) {
  const Holding holding(cache_lock());
  if (number == 0 || number > g_alarm_count || g_watched[number - 1].users == 0) return 0;
  update_reader(context).alarms[number - 1].is_armed = false;
  distance_of(context, static_cast<std::uint32_t>(number - 1)) = -kFarthest;
  --g_watched[number - 1].users;
  return 1;
}

void serve_alarm(Context* context, std::uint32_t alarm) {
  const Holding holding(cache_lock());
  const std::uint64_t block_weight = leave_block(context, alarm);
  Reader& reader = update_reader(context);
  if (settle(context, reader, alarm)) return;
  if (distance_of(context, alarm) + static_cast<std::int64_t>(block_weight) < 0) return;
  context->version = Version::stepping;
  reader.steps = 0;
}

void follow_alarms(Context* context) {
  const Holding holding(cache_lock());
  Reader& reader = update_reader(context);
  bool is_over = ++reader.steps > kMostSteps;
  for (std::uint32_t i = 0; i < g_alarm_count; ++i)
    if (distance_of(context, i) >= 0) is_over |= settle(context, reader, i);
  if (is_over) context->version = Version::counting;
}

}  // namespace loft::engine::runtime
