#include "top/screen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "top/some_frame.hpp"

namespace loft::top {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const Screen& screen, int rows = 24, int columns = 80) {
  std::string text;
  for (const ScreenLine& line : screen.lines(rows, columns)) {
    for (const Span& span : line) text += span.text;
    text += "\n";
  }
  return text;
}

void type(Screen& screen, std::string_view text) {
  for (const char c : text) (void)screen.press(c);
}

TEST(Screen, ShowsEveryCoreAndWhatIsKnownOfIt) {
  Screen screen({});
  EXPECT_THAT(text_of(screen), HasSubstr("the first sample is on its way"));
  screen.add(frame_of_two_cores());
  const std::string text = text_of(screen);
  EXPECT_THAT(text, HasSubstr("2 cores, every 1.00 s"));
  EXPECT_THAT(text, HasSubstr("package-0 12.0 W"));
  EXPECT_THAT(text, HasSubstr("psys n/a"));
  EXPECT_THAT(text, HasSubstr("   0   25 % ███"));
  EXPECT_THAT(text, HasSubstr("1.40k         n/a\n"));
  EXPECT_THAT(text, HasSubstr("the CPU is off"));
}

TEST(Screen, FillsAnyTerminalAndNoMore) {
  Screen screen({});
  Frame frame = frame_of_two_cores();
  for (int cpu = 2; cpu < 100; ++cpu) {
    frame.cores.push_back(frame.cores[0]);
    frame.cores.back().cpu = cpu;
  }
  screen.add(frame);
  screen.set_threads({{1, 2, "a thread", 0, 0.5, 0.25, "futex_wait_queue"}});
  for (const int rows : {0, 1, 2, 3, 5, 24, 200})
    for (const int columns : {0, 1, 20, 80, 300}) {
      const auto lines = screen.lines(rows, columns);
      EXPECT_EQ(lines.size(), rows < 2 || columns < 1 ? 0u : static_cast<std::size_t>(rows));
      for (const ScreenLine& line : lines) {
        std::size_t width = 0;
        for (const Span& span : line) width += width_of(span.text);
        EXPECT_LE(width, static_cast<std::size_t>(columns));
      }
    }
  EXPECT_THAT(text_of(screen), HasSubstr("a thread"));
  EXPECT_THAT(text_of(screen), HasSubstr("futex_wait_queue"));
  EXPECT_THAT(text_of(screen), Not(HasSubstr("\n  99 ")));
  for (int i = 0; i < 20; ++i) (void)screen.press(key::kPageDown);
  EXPECT_THAT(text_of(screen), HasSubstr("\n  99 "));
}

TEST(Screen, KeysDoWhatTheHelpSays) {
  Screen screen({});
  screen.add(frame_of_two_cores());
  (void)screen.press('h');
  EXPECT_THAT(text_of(screen), HasSubstr("the roofline position of each core"));
  (void)screen.press('h');
  EXPECT_EQ(screen.press('+').interval_factor, 0.5);
  EXPECT_EQ(screen.press('-').interval_factor, 2);
  EXPECT_TRUE(screen.press('q').quits);
  EXPECT_FALSE(screen.press('x').quits);
  (void)screen.press('t');
  EXPECT_FALSE(screen.shows_threads());
}

TEST(Screen, PromptChangesEventsOfSomeCores) {
  Screen screen({});
  screen.add(frame_of_two_cores());
  (void)screen.press('e');
  type(screen, "1: cyclesq");
  EXPECT_THAT(text_of(screen), HasSubstr("1: cyclesq_"));
  (void)screen.press(key::kBackspace);
  const auto change = screen.press(key::kEnter).change;
  ASSERT_TRUE(change);
  EXPECT_EQ(change->cores, "1");
  EXPECT_EQ(change->events, "cycles");
  (void)screen.press('e');
  type(screen, "IPC");
  (void)screen.press(key::kEscape);
  EXPECT_THAT(text_of(screen), Not(HasSubstr("IPC")));
  screen.tell("nobody knows 'x'");
  EXPECT_THAT(text_of(screen), HasSubstr("nobody knows 'x'"));
  EXPECT_EQ(parse_prompt("msr:aperf").cores, "");  // a colon inside a name is none
}

TEST(Screen, RooflinePlacesEachCoreUnderItsRoofs) {
  ScreenOptions options;
  options.why_no_roofline = "run 'loft machine'";
  Screen without(options);
  without.add(frame_of_two_cores());
  EXPECT_FALSE(without.press('r').change);
  EXPECT_THAT(text_of(without), HasSubstr("no roofline: run 'loft machine'"));

  model::Roofline roofline;
  roofline.slopes = {{"L1", "L1 bandwidth", 100e9}};
  roofline.ceilings = {{"avx2", "fma", "FMA, 256 bit", 50e9}};
  options.roofline = roofline;
  Screen screen(options);
  Frame frame = frame_of_two_cores();
  screen.add(frame);
  const auto change = screen.press('r').change;
  ASSERT_TRUE(change);  // nobody counts them yet
  EXPECT_EQ(change->events, "+GFLOPS,intensity");
  EXPECT_THAT(text_of(screen), HasSubstr("operations and bytes are not counted"));
  EXPECT_THAT(text_of(screen), HasSubstr("n/a  the CPU is off"));

  // Counted: here as rates of events with these names.
  auto set = std::make_shared<CoreSet>();
  for (const char* name : {"GFLOPS", "intensity"}) {
    event::Event event;
    event.name = name;
    set->request.events.push_back(event);
    set->frame.events.push_back(sample::CountedEvent::of(event));
    set->why_missing.emplace_back();
  }
  set->frame.events[1].scale = 0.125;
  frame.cores[0].set = set;
  frame.cores[0].counts = {sample::Count::exact(5), sample::Count::exact(1)};  // in half a second
  screen.add(frame);
  EXPECT_THAT(text_of(screen), HasSubstr("   0         10       0.25  L1 bandwidth"));
  EXPECT_THAT(text_of(screen), HasSubstr("40 %"));
}

TEST(Screen, TextIsCutByCharacters) {
  EXPECT_EQ(cut("a█b", 2), "a█");
  EXPECT_EQ(cut("", 2), "");
  EXPECT_EQ(width_of("█▁"), 2u);
}

}  // namespace
}  // namespace loft::top
