#include "sample/profile.hpp"

#include <gtest/gtest.h>

#include "sample/call_tree.hpp"
#include "sample/energy_share.hpp"
#include "sample/report.hpp"

namespace loft::sample {
namespace {

// Three functions of one page each, named by the "kernel", so that no file is needed.
class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* names[] = {"main", "work", "leaf"};
    for (std::uint64_t i = 0; i < 3; ++i)
      history.add_map({0,
                       7,
                       {0x1000 * (i + 1), 0x1000 * (i + 2), 0,
                        history.intern({.path = "/bin/app", .only_symbol = names[i]})}});
    history.add_comm({0, 7, 7, "app", false});
    events.resize(1);
    events[0].name = "cycles";
    events[0].attr.sample_type = 0x1FF;
  }

  Sample sample(std::vector<std::uint64_t> chain, std::uint64_t period = 10) {
    chain.insert(chain.begin(), perf_data::kContextUser);
    chains.push_back(std::move(chain));
    Sample made;
    made.ip = chains.back()[1];
    made.period = period;
    made.pid = made.tid = 7;
    made.time = 5;
    made.mode = CpuMode::user;
    made.call_chain = {reinterpret_cast<const std::byte*>(chains.back().data()),
                       chains.back().size(), false};
    return made;
  }

  Report run(ProfileOptions options, const std::vector<Sample>& samples, unsigned workers = 1) {
    locations = std::make_unique<Locations>(history, store, Locations::Options{});
    Profile profile(history, *locations, events, options);
    for (std::size_t i = 0; i < samples.size(); ++i)
      profile.worker(static_cast<unsigned>(i % workers))->add(samples[i]);
    result = profile.finish();
    ReportOptions shown;
    shown.by = options.by;
    return make_report({.metadata = {.events = events}}, result, *locations, history, shown);
  }

  TaskHistory history;
  symbols::SymbolStore store;
  std::vector<perf_data::EventDescription> events;
  std::deque<std::vector<std::uint64_t>> chains;
  std::unique_ptr<Locations> locations;
  ProfileResult result;
};

TEST_F(ProfileTest, FunctionsCountTheirOwnSamples) {
  const auto report =
      run({}, {sample({0x3000, 0x2010, 0x1010}), sample({0x3000}), sample({0x2000}, 5)});
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].keys.function, "leaf");
  EXPECT_EQ(report.rows[0].self.samples, 2u);
  EXPECT_EQ(report.rows[0].self.period, 20u);
  EXPECT_DOUBLE_EQ(report.rows[0].share, 0.8);
  EXPECT_EQ(report.rows[1].keys.function, "work");
}

TEST_F(ProfileTest, ARecursiveFunctionCountsOncePerSample) {
  ProfileOptions options;
  options.inclusive = true;
  const auto report = run(options, {sample({0x3000, 0x2010, 0x2010, 0x1010})});
  for (const auto& row : report.rows) {
    EXPECT_EQ(row.inclusive->samples, 1u) << row.keys.function;
    EXPECT_DOUBLE_EQ(row.inclusive_share, 1.0);
  }
  EXPECT_EQ(report.rows.size(), 3u);
}

TEST_F(ProfileTest, AReturnAddressBehindACallBelongsToTheCaller) {
  ProfileOptions options;
  options.inclusive = true;
  // 0x3000 is the first byte of leaf, and also where work's last call returns to.
  const auto report = run(options, {sample({0x1000, 0x3000})});
  ASSERT_EQ(report.rows.size(), 2u);
  for (const auto& row : report.rows) EXPECT_NE(row.keys.function, "leaf");
}

TEST_F(ProfileTest, TheNumberOfWorkersChangesNothing) {
  std::vector<Sample> samples;
  for (int i = 0; i < 50; ++i) samples.push_back(sample({0x3000u - (i % 3) * 0x1000u, 0x1010}));
  ProfileOptions options;
  options.inclusive = options.tree = true;
  const auto one = run(options, samples, 1);
  const auto four = run(options, samples, 4);
  ASSERT_EQ(one.rows.size(), four.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].keys.function, four.rows[i].keys.function);
    EXPECT_EQ(one.rows[i].self.samples, four.rows[i].self.samples);
    EXPECT_EQ(one.rows[i].inclusive->period, four.rows[i].inclusive->period);
  }
}

TEST_F(ProfileTest, RowsThatDifferOnlyByTheirBinaryKeepTheirOrderWhoeverComesFirst) {
  for (std::uint64_t i = 0; i < 8; ++i)
    history.add_map(
        {0,
         7,
         {0x10000 + 0x1000 * i, 0x11000 + 0x1000 * i, 0,
          history.intern(
              {.path = "/bin/same", .build_id = std::to_string(i), .only_symbol = "same"})}});
  const auto ids = [&](bool is_reversed) {
    std::vector<Sample> samples;
    for (std::uint64_t i = 0; i < 8; ++i)
      samples.push_back(sample({0x10000 + 0x1000 * (is_reversed ? 7 - i : i)}));
    std::string text;
    for (const auto& row : run({}, samples).rows) text += row.keys.build_id;
    return text;
  };
  EXPECT_EQ(ids(false), "01234567");
  EXPECT_EQ(ids(true), "01234567");
}

TEST_F(ProfileTest, BranchesOfEqualWeightAndNameKeepTheirOrderWhoeverComesFirst) {
  for (const std::uint64_t start : {0x10000u, 0x20000u})
    history.add_map(
        {0,
         7,
         {start, start + 0x1000, 0, history.intern({.path = "/bin/app", .only_symbol = "same"})}});
  ProfileOptions options;
  options.tree = true;
  const auto callees = [&](bool is_reversed) {
    std::vector<Sample> samples = {sample({0x1000, 0x10010}), sample({0x2000, 0x20010})};
    if (is_reversed) std::swap(samples[0], samples[1]);
    run(options, samples);
    const auto tree = make_call_tree(result.tree, *locations, TreeOrder::from_callers);
    std::string text;
    for (const auto caller : tree.children_of(tree.nodes[tree.events[0]]))
      for (const auto callee : tree.children_of(tree.nodes[caller]))
        text += locations->function(tree.nodes[callee].function).name + " ";
    return text;
  };
  EXPECT_EQ(callees(false), "main work ");
  EXPECT_EQ(callees(true), "main work ");
}

TEST_F(ProfileTest, TheTreesOfTwoEventsStayApartWhereTheirCallersAreTheSame) {
  events.push_back(events[0]);
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 6; ++i) {
    samples.push_back(sample({0x3000, 0x2010, 0x1010}));
    samples.back().event = i % 2;
  }
  ProfileOptions options;
  options.tree = true;
  locations = std::make_unique<Locations>(history, store, Locations::Options{});
  Profile profile(history, *locations, events, options);
  profile.worker(0)->add_all(samples);  // at once, as a recording gives them
  const auto tree = make_call_tree(profile.finish().tree, *locations, TreeOrder::from_callers);
  ASSERT_EQ(tree.events.size(), 2u);
  for (const auto event : tree.events) EXPECT_EQ(tree.nodes[event].total.samples, 3u);
}

TEST_F(ProfileTest, TheTreeTurnsAround) {
  ProfileOptions options;
  options.tree = true;
  run(options, {sample({0x3000, 0x2010, 0x1010}), sample({0x3000, 0x1010})});
  const auto down = make_call_tree(result.tree, *locations, TreeOrder::from_callers);
  const auto up = make_call_tree(result.tree, *locations, TreeOrder::from_callees);
  const auto name = [&](const CallTree& tree, std::uint32_t node) {
    return locations->function(tree.nodes[node].function).name;
  };
  const auto first_down = down.children_of(down.nodes[down.events[0]]);
  ASSERT_EQ(first_down.size(), 1u);
  EXPECT_EQ(name(down, first_down[0]), "main");
  EXPECT_EQ(down.nodes[first_down[0]].total.samples, 2u);
  const auto first_up = up.children_of(up.nodes[up.events[0]]);
  ASSERT_EQ(first_up.size(), 1u);
  EXPECT_EQ(name(up, first_up[0]), "leaf");
  EXPECT_EQ(up.nodes[first_up[0]].child_count, 2u);
  EXPECT_EQ(up.nodes[first_up[0]].self.samples, 2u) << "the work is the callee's own";
  for (const auto caller : up.children_of(up.nodes[first_up[0]]))
    EXPECT_EQ(up.nodes[caller].self.samples, 0u) << name(up, caller);
}

TEST_F(ProfileTest, FiltersLeaveSamplesOutAndSayHowMany) {
  ProfileOptions options;
  options.filter.comms = {"a*"};
  options.filter.from = 5;
  auto late = sample({0x3000});
  late.time = 4;
  auto foreign = sample({0x3000});
  foreign.tid = 8;
  const auto report = run(options, {sample({0x3000}), late, foreign});
  EXPECT_EQ(report.events[0].total.samples, 1u);
  EXPECT_EQ(report.filtered_out, 2u);
}

TEST_F(ProfileTest, SamplesAreChosenByTheirFunctionAndTheShareIsTold) {
  auto callee = sample({0x3000, 0x2010, 0x1010});
  callee.period = 30;
  auto caller = sample({0x1010});
  caller.period = 90;
  for (const bool with_tree : {false, true}) {
    ProfileOptions options;
    options.tree = with_tree;
    options.filter.symbols = {"none", "l?af"};
    const auto report = run(options, {callee, caller, callee});
    ASSERT_EQ(report.rows.size(), 1u);
    EXPECT_EQ(report.rows[0].keys.function, "leaf");
    EXPECT_EQ(report.events[0].total.period, 60u);
    EXPECT_DOUBLE_EQ(report.events[0].shown_share, 0.4);
    EXPECT_EQ(report.filtered_out, 1u);
  }
}

// The first reading is of a time without samples; the second of 3 parts leaf and 1 part main.
TEST_F(ProfileTest, EnergyOfAMeterIsSharedBySamplesInItsTimeAndAddsUp) {
  events.resize(2);
  events[1].name = "energy package-0";
  events[1].attr.sample_type = 0x1FF;
  const auto at = [](Sample sample, std::uint64_t time, std::uint32_t event) {
    sample.time = time;
    sample.event = event;
    return sample;
  };
  Sample reading;
  reading.period = 1'000'001;
  ProfileOptions options;
  options.tree = options.timeline = options.inclusive = true;
  run(options,
      {at(reading, 100, 1), at(sample({0x3000, 0x1010}, 30), 150, 0),
       at(sample({0x1010}, 10), 160, 0), at(reading, 200, 1), at(sample({0x2010}, 10), 250, 0)});
  const auto by = share_meters(events_of(events, result), result);
  ASSERT_EQ(by, 0u);
  ReportOptions shown;
  shown.energy_shared_by = by;
  const Report report =
      make_report({.metadata = {.events = events}}, result, *locations, history, shown);
  EXPECT_EQ(report.events[1].shared_by, "cycles");
  std::map<std::string, std::uint64_t> self, inclusive;
  std::uint64_t sum = 0;
  for (const ReportRow& row : report.rows) {
    if (row.event != 1) continue;
    self[row.keys.function] = row.self.period;
    inclusive[row.keys.function] = row.inclusive->period;
    sum += row.self.period;
  }
  EXPECT_EQ(sum, 2'000'002u);
  EXPECT_EQ(self["[no address]"], 1'000'001u) << "nothing was sampled in the first part";
  EXPECT_NEAR(static_cast<double>(self["leaf"]), 750'000, 2);
  EXPECT_NEAR(static_cast<double>(self["main"]), 250'000, 2);
  EXPECT_EQ(inclusive["main"], 1'000'001u);
  EXPECT_EQ(self.count("work"), 0u) << "it was sampled after the last reading";
  const auto tree = make_call_tree(result.tree, *locations, TreeOrder::from_callers);
  EXPECT_EQ(tree.nodes[tree.events[1]].total.period, 2'000'002u);
}

TEST_F(ProfileTest, APeriodThatWasNotRecordedIsUnknown) {
  events[0].attr.sample_type &= ~(1u << 8);
  events[0].attr.freq = true;
  const auto report = run({}, {sample({0x3000}), sample({0x2000})});
  EXPECT_FALSE(report.events[0].period_is_known);
  EXPECT_DOUBLE_EQ(report.rows[0].share, 0.5);
}

TEST_F(ProfileTest, AnAddressThatMapsNowhereHasOneRow) {
  const auto report = run({}, {sample({0x9000}), sample({0xA000})});
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].keys.function, "[not mapped]");
}

TEST_F(ProfileTest, ASampleWithoutAnAddressIsNotTakenForOneThatMapsNowhere) {
  const auto report = run({}, {sample({0x9000}), sample({0x9000}), sample({0})});
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].keys.function, "[not mapped]");
  EXPECT_EQ(report.rows[1].keys.function, "[no address]");
}

TEST_F(ProfileTest, OfTooManyMomentsAnEvenChoiceStaysWhateverTheWorkers) {
  ProfileOptions options;
  options.tree = options.timeline = true;
  options.most_timeline = 1000;
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    samples.push_back(sample({0x3000}));
    samples.back().time = i;
    samples.back().place = 264 + i * 88;
  }
  const auto times = [&](unsigned workers) {
    (void)run(options, samples, workers);
    std::vector<std::uint64_t> all;
    for (const auto& entry : result.timeline.entries()) all.push_back(entry.time);
    return all;
  };
  const auto alone = times(1);
  EXPECT_EQ(result.timeline.step(), 32u);
  EXPECT_LE(alone.size(), 1000u);
  EXPECT_GT(alone.size(), 20'000u / 32 * 8 / 10);
  const auto early = std::count_if(alone.begin(), alone.end(), [](auto t) { return t < 10'000; });
  EXPECT_NEAR(static_cast<double>(early), static_cast<double>(alone.size()) / 2,
              static_cast<double>(alone.size()) / 8)
      << "both halves of the time keep their share";
  EXPECT_EQ(times(3), alone);
}

}  // namespace
}  // namespace loft::sample
