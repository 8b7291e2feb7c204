// Counts a loop of known length twice at once: by reads through the mapped page, without a system
// call, and by read(2). Prints both differences as JSON.
#include <cstdio>

#include "event/resolver.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/group.hpp"
#include "source/perf_events/user_read.hpp"

namespace {

namespace perf = loft::source::perf_events;

// Two instructions a round.
void loop(unsigned long rounds) {
  asm volatile(
      "1: subs %0, %0, #1\n"
      "   b.ne 1b\n"
      : "+r"(rounds)
      :
      : "cc");
}

int fail(const loft::Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  return 1;
}

}  // namespace

int main() {
  loft::event::Resolver resolver;
  const auto event = resolver.resolve("instructions:u");
  if (!event) return fail(event.error());
  perf::Group group;
  const auto added = group.add(*event, {0, -1}, {.user_read = true});
  if (!added) return fail(added.error());
  const perf::UserReader reader = perf::UserReader::map(group.leader());
  if (const auto enabled = group.enable(); !enabled) return fail(enabled.error());

  loop(1000);  // the counter is set up now
  const auto call_before = group.read();
  const auto before = reader.read();
  loop(1'000'000);
  const auto after = reader.read();
  const auto call_after = group.read();
  if (!call_before || !call_after) return fail((call_before ? call_after : call_before).error());
  const bool was_direct = before.has_value() && after.has_value();
  std::printf("{\"direct\": %s, \"by_page\": %llu, \"by_call\": %llu}\n",
              was_direct ? "true" : "false",
              was_direct ? static_cast<unsigned long long>(after->value - before->value) : 0ull,
              static_cast<unsigned long long>((*call_after)[0].value - (*call_before)[0].value));
  return 0;
}
