#include "source/scheduler/recording_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "format/perf/records.hpp"
#include "source/file/recording.hpp"
#include "source/file/tasks.hpp"
#include "source/scheduler/event_places.hpp"

namespace loft::source::scheduler {
namespace {

class RecordingFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/perf.data";
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  static RecordingPlan plan() {
    RecordingPlan plan;
    event::Event faults;
    faults.name = "page-faults";
    faults.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
    plan.counters.events = {faults};
    plan.counters.sets[0].size = 1;
    plan.slice_ns = 1000;
    plan.migrations = true;
    plan.meters = {"energy package-0"};
    plan.cpus = 2;
    return plan;
  }

  sample::TaskTable read_back() {
    const auto recording = Recording::open(path_);
    EXPECT_TRUE(recording) << to_string(recording.error());
    return recording ? read_tasks(**recording) : sample::TaskTable{};
  }

  static Slice slice(std::uint64_t time, std::uint32_t cpu, TaskId task, std::uint64_t run,
                     std::span<const std::uint64_t> counts) {
    Slice slice;
    slice.end = {time, cpu};
    slice.task = task;
    slice.run_ns = run;
    slice.wait_ns = 7;
    slice.switches = 2;
    slice.counts = counts;
    return slice;
  }

  std::string folder_ = "/tmp/loft-recording-XXXXXX";
  std::string path_;
};

// A record of the kernel's own that says how many others found no room.
std::vector<std::byte> kernel_lost(std::uint64_t id, std::uint64_t records) {
  format::ByteBuilder body;
  body.u64(id).u64(records).u32(10).u32(10).u64(500).u32(0).u32(0).u64(id);
  return format::perf::make_record(format::perf::RecordType::lost, 0, body.view()).value();
}

constexpr TaskId kParent{10, 10};
constexpr TaskId kChild{10, 11};

TEST_F(RecordingFileTest, WhatTheKernelLostIsCountedAsItsReadersCountIt) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file) << to_string(file.error());
  (*file)->take_lost(3);
  (*file)->take_raw(kernel_lost(std::uint64_t{1} << 40, 1584));
  EXPECT_EQ((*file)->lost(), 1587u);
  ASSERT_TRUE((*file)->finish({"1", {"loft", "record"}, {}}));
  EXPECT_EQ(read_back().lost, 1587u);
}

TEST_F(RecordingFileTest, CodeThatWasMappedBeforeIsFoundByItsAddress) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file) << to_string(file.error());
  (*file)->take(CodeMapping{{700, 0}, kParent, 0x1000, 0x2000, 0x40, "/bin/app"});
  ASSERT_TRUE((*file)->finish({"1", {"loft", "record"}, {}}));
  const auto recording = Recording::open(path_);
  ASSERT_TRUE(recording);
  std::size_t found = 0;
  (*recording)->in_order([&](const PlacedRecord& placed) {
    const auto map = placed.record.type == RecordType::mmap ? format::perf::read_mmap(placed.record)
                                                            : std::nullopt;
    if (!map) return true;
    ++found;
    EXPECT_EQ(placed.time, 700u);
    EXPECT_EQ(map->start, 0x1000u);
    EXPECT_EQ(map->file_offset, 0x40u);
    EXPECT_EQ(map->path, "/bin/app");
    return true;
  });
  EXPECT_EQ(found, 1u);
}

TEST_F(RecordingFileTest, SlicesOfATaskAddUpWhereverTheyEnded) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file) << to_string(file.error());
  (*file)->take(Name{{}, kParent, "app"});
  (*file)->take(Fork{{100, 0}, kChild, kParent});
  const std::uint64_t three[] = {3};
  const std::uint64_t five[] = {5};
  (*file)->take(slice(1000, 0, kChild, 600, three));
  (*file)->take(slice(1100, 1, kParent, 700, five));
  (*file)->take(slice(2000, 1, kChild, 800, five));
  (*file)->take(slice(3000, 0, kParent, 900, three));
  (*file)->take(Exit{{3100, 1}, kChild});
  (*file)->take_energy(0, {3200, 0}, 1500);
  ASSERT_TRUE((*file)->finish({"1", {"loft", "record"}, {{"recorder", "test"}}}));

  const auto table = read_back();
  ASSERT_EQ(table.tasks.size(), 2u);
  EXPECT_EQ(table.counters, std::vector<std::string>{"page-faults"});
  EXPECT_EQ(table.watched_by, "test");
  const auto& parent = table.tasks[0];
  const auto& child = table.tasks[1];
  EXPECT_EQ(parent.comm, "app");
  EXPECT_EQ(child.parent, 0u);
  EXPECT_TRUE(child.has_ended);
  EXPECT_FALSE(parent.has_ended);
  EXPECT_EQ(child.run_ns, 1400u);
  EXPECT_EQ(parent.run_ns, 1600u);
  EXPECT_EQ(child.wait_ns, 14u);
  EXPECT_EQ(child.switches, 4u);
  EXPECT_EQ(child.counted.counts, std::vector<std::uint64_t>{8});
  EXPECT_EQ(parent.counted.counts, std::vector<std::uint64_t>{8});
  EXPECT_EQ(sample::estimate(table, child.counted, 0).origin, sample::Origin::counted);
  ASSERT_EQ(table.slices.size(), 4u);
  ASSERT_EQ(table.meters.size(), 1u);
  EXPECT_EQ(table.meters[0].name, "package-0");
  EXPECT_EQ(table.meters[0].microjoules, 1500u);
}

// What was used between two samples of a meter belongs to those who ran in between.
TEST_F(RecordingFileTest, TasksShareTheEnergyOfTheTimeInWhichTheyRan) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file) << to_string(file.error());
  (*file)->take_energy(0, {500, 0}, 4'000'000);
  const std::uint64_t one[] = {1};
  (*file)->take(slice(1000, 0, kParent, 300, one));
  (*file)->take(slice(1100, 1, kChild, 100, one));
  (*file)->take_energy(0, {2000, 0}, 8'000'000);
  (*file)->take(slice(3000, 0, kChild, 50, one));
  (*file)->take_energy(0, {4000, 0}, 1'000'000);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.tasks.size(), 2u);
  EXPECT_EQ(table.tasks[0].joules, std::vector<double>{6});
  EXPECT_EQ(table.tasks[1].joules, std::vector<double>{3});
  EXPECT_EQ(table.meters[0].joules_of_nobody, 4);
  EXPECT_FALSE(table.energy_goes_by_instructions);
}

// 'loft record --types sched': the events of slices are there, slices are not.
TEST_F(RecordingFileTest, WithoutSlicesSwitchesTellRunTimeAndHowOften) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file) << to_string(file.error());
  (*file)->take(Name{{}, kParent, "app"});
  (*file)->take(Switch{{1000, 0}, {}, kParent, false, true, false});
  (*file)->take(Switch{{1400, 0}, kParent, {}, true, false, false});
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.tasks.size(), 1u);
  EXPECT_EQ(table.tasks[0].run_ns, 400u);
  EXPECT_EQ(table.tasks[0].switches, 1u);
  EXPECT_TRUE(table.counters.empty()) << "nothing was counted";
}

TEST_F(RecordingFileTest, JoulesOfAMeterThatShowsWattsAreTold) {
  RecordingPlan two = plan();
  two.meters = {"energy package-0", "energy from watts: acpi power1"};
  auto file = RecordingFile::create(path_, two);
  ASSERT_TRUE(file) << to_string(file.error());
  (*file)->take_energy(0, {2000, 0}, 8'000'000);
  (*file)->take_energy(1, {2000, 0}, 9'000'000);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.meters.size(), 2u);
  EXPECT_EQ(table.meters[0].origin, sample::Origin::counted);
  EXPECT_EQ(table.meters[1].name, "acpi power1");
  EXPECT_EQ(table.meters[1].origin, sample::Origin::modelled);
}

TEST_F(RecordingFileTest, AMeterThatNeverMovedIsNoZero) {
  RecordingPlan two = plan();
  two.meters = {"energy package-0", "energy psys"};
  auto file = RecordingFile::create(path_, two);
  ASSERT_TRUE(file) << to_string(file.error());
  const std::uint64_t one[] = {1};
  (*file)->take(slice(1000, 0, kParent, 300, one));
  (*file)->take_energy(0, {2000, 0}, 8'000'000);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.meters.size(), 1u);
  EXPECT_EQ(table.meters[0].name, "package-0");
  EXPECT_EQ(table.still_meters, std::vector<std::string>{"psys"});
  EXPECT_EQ(table.tasks.front().joules, std::vector<double>{8});
}

// Readers sort by time and take differences: a late slice would turn them negative.
TEST_F(RecordingFileTest, ASliceThatComesLateKeepsItsAmounts) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file);
  const std::uint64_t one[] = {1};
  (*file)->take(slice(5000, 0, kParent, 100, one));
  (*file)->take(slice(4000, 0, kChild, 200, one));
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.slices.size(), 2u);
  EXPECT_EQ(table.slices[0].run_ns, 100u);
  EXPECT_EQ(table.slices[1].run_ns, 200u);
}

event::Event hardware(std::string name, std::uint64_t config) {
  event::Event event;
  event.name = std::move(name);
  event.encoding = {"cpu", PERF_TYPE_HARDWARE, config};
  return event;
}

// Counters that others use, too: hardware events share them, software events do not.
TEST_F(RecordingFileTest, CountersThatWereSharedAreScaledByTimeAndSaySo) {
  RecordingPlan with_cycles = plan();
  with_cycles.counters.add_set({hardware("cycles", PERF_COUNT_HW_CPU_CYCLES)}, false);
  auto file = RecordingFile::create(path_, with_cycles);
  ASSERT_TRUE(file);
  const std::uint64_t counts[] = {3, 50};
  const SetTime times[] = {{}, {100, 25, 0}};
  Slice part = slice(1000, 0, kParent, 100, counts);
  part.sets = times;
  (*file)->take(part);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.tasks.size(), 1u);
  ASSERT_EQ(table.slices.size(), 1u) << "one slice, of two samples";
  const auto faults = sample::estimate(table, table.tasks[0].counted, 0);
  EXPECT_EQ(faults.origin, sample::Origin::counted);
  EXPECT_EQ(faults.value, 3);
  const auto cycles = sample::estimate(table, table.tasks[0].counted, 1);
  EXPECT_EQ(cycles.origin, sample::Origin::scaled);
  EXPECT_DOUBLE_EQ(cycles.value, 200);
  EXPECT_DOUBLE_EQ(cycles.running, 0.25);
}

class TurnsTest : public RecordingFileTest {
 protected:
  // Instructions all along; branches and misses take turns.
  static RecordingPlan turns() {
    RecordingPlan turns = plan();
    turns.counters.add_set({hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS)}, false);
    turns.counters.add_set({hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS)}, true);
    turns.counters.add_set({hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES)}, true);
    turns.counters.work = 1;
    return turns;
  }

  // All counted except the event of the set that has no turn.
  static void put(RecordingFile& file, std::uint64_t time, std::size_t set,
                  std::uint64_t instructions, std::uint64_t count) {
    std::uint64_t counts[] = {1, instructions, 0, 0};
    counts[set] = count;
    SetTime times[] = {{}, {100, 100, 0}, {100, 0, 0}, {100, 0, 0}};
    times[set] = {100, 100, instructions};
    Slice part = slice(time, 0, kParent, 100, counts);
    part.sets = times;
    file.take(part);
  }
};

// In equal times much was done while branches were counted, and little meanwhile for the others.
TEST_F(TurnsTest, SetsThatTakeTurnsAreScaledByInstructions) {
  auto file = RecordingFile::create(path_, turns());
  ASSERT_TRUE(file);
  put(**file, 1000, 2, 900, 90);
  put(**file, 2000, 3, 100, 7);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.tasks.size(), 1u);
  ASSERT_EQ(table.counters.size(), 4u) << "what sets did meanwhile is no counter";
  const auto all = [&](std::size_t i) {
    return sample::estimate(table, table.tasks[0].counted, i);
  };
  EXPECT_EQ(all(1).origin, sample::Origin::counted);
  EXPECT_EQ(all(1).value, 1000);
  EXPECT_EQ(all(2).origin, sample::Origin::scaled);
  EXPECT_DOUBLE_EQ(all(2).value, 100);
  EXPECT_DOUBLE_EQ(all(3).value, 70);
  EXPECT_DOUBLE_EQ(all(3).running, 0.5);
}

TEST_F(TurnsTest, ASliceKnowsNothingOfASetThatHadNoTurnInIt) {
  auto file = RecordingFile::create(path_, turns());
  ASSERT_TRUE(file);
  put(**file, 1000, 2, 900, 90);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.slices.size(), 1u);
  const auto& counted = table.slices[0].counted;
  EXPECT_EQ(sample::estimate(table, counted, 2).origin, sample::Origin::counted);
  EXPECT_EQ(sample::estimate(table, counted, 2).value, 90);
  EXPECT_EQ(sample::estimate(table, counted, 3).origin, sample::Origin::missing);
  EXPECT_EQ(sample::origin_of_all(table, counted), sample::Origin::scaled);
}

TEST_F(TurnsTest, WithoutInstructionsTimeTellsHowMuchIsMissing) {
  RecordingPlan by_time = plan();
  by_time.counters.add_set({hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS)}, true);
  by_time.counters.add_set({hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES)}, true);
  auto file = RecordingFile::create(path_, by_time);
  ASSERT_TRUE(file);
  const std::uint64_t counts[] = {1, 30, 4};
  const SetTime times[] = {{}, {100, 75, 0}, {100, 20, 0}};
  Slice part = slice(1000, 0, kParent, 100, counts);
  part.sets = times;
  (*file)->take(part);
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_EQ(table.slices.size(), 1u);
  EXPECT_DOUBLE_EQ(sample::estimate(table, table.slices[0].counted, 1).value, 40);
  EXPECT_DOUBLE_EQ(sample::estimate(table, table.slices[0].counted, 2).value, 20);
}

// Two sets follow each other; an event that both have keeps its place.
TEST_F(RecordingFileTest, EventsMayComeWhileItIsWritten) {
  EventSets counted;
  counted.add_set({hardware("cycles", PERF_COUNT_HW_CPU_CYCLES)}, true);
  EventPlaces places(counted);
  RecordingPlan changing = plan();
  changing.counters = places.in_recording();
  changing.spare = 1;
  auto file = RecordingFile::create(path_, changing);
  ASSERT_TRUE(file);
  places.set_behind(**file);
  const std::uint64_t first[] = {70};
  const SetTime first_times[] = {{}, {100, 100, 0}};
  Slice part = slice(1000, 0, kParent, 100, first);
  part.sets = first_times;
  places.take(part);

  counted.add_set({hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
                   hardware("cycles", PERF_COUNT_HW_CPU_CYCLES)},
                  true);
  ASSERT_TRUE(places.add_new(counted, **file));
  const std::uint64_t second[] = {0, 9, 30};
  const SetTime second_times[] = {{}, {100, 0, 0}, {100, 100, 0}};
  part = slice(2000, 0, kParent, 100, second);
  part.sets = second_times;
  places.take(part);
  EXPECT_FALSE((*file)->add_counter(hardware("misses", PERF_COUNT_HW_CACHE_MISSES)));
  ASSERT_TRUE((*file)->finish({}));

  const auto table = read_back();
  ASSERT_EQ(table.counters, (std::vector<std::string>{"cycles", "branches"}));
  const auto cycles = sample::estimate(table, table.tasks[0].counted, 0);
  EXPECT_EQ(cycles.origin, sample::Origin::counted);
  EXPECT_EQ(cycles.value, 100);
  const auto branches = sample::estimate(table, table.tasks[0].counted, 1);
  EXPECT_EQ(branches.origin, sample::Origin::scaled);
  EXPECT_DOUBLE_EQ(branches.running, 0.5);
  ASSERT_EQ(table.slices.size(), 2u);
  EXPECT_EQ(sample::estimate(table, table.slices[0].counted, 1).origin, sample::Origin::missing);
  EXPECT_EQ(sample::estimate(table, table.slices[1].counted, 1).origin, sample::Origin::counted);
}

TEST_F(RecordingFileTest, RunsAreWhatLiesBetweenSwitches) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file);
  (*file)->take(Switch{{1000, 1}, {}, kChild, false, true, false});
  (*file)->take(Switch{{1500, 1}, kChild, kParent, true, true, true});
  (*file)->take(Switch{{1800, 1}, kParent, kChild, true, true, false});
  (*file)->take(Switch{{2000, 1}, kChild, {}, true, false, false});
  ASSERT_TRUE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_TRUE(table.has_switches);
  ASSERT_EQ(table.runs.size(), 3u);
  EXPECT_EQ(table.runs[0].end - table.runs[0].start, 500u);
  EXPECT_EQ(table.tasks[table.runs[1].task].tid, kParent.tid);
  EXPECT_EQ(table.runs[1].end - table.runs[1].start, 300u);
  EXPECT_EQ(table.runs[2].start, 1800u);
}

TEST_F(RecordingFileTest, AFileThatWasNeverFinishedIsReadUpToItsLastRound) {
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file);
  const std::uint64_t one[] = {1};
  (*file)->take(slice(1000, 0, kParent, 100, one));
  ASSERT_TRUE((*file)->end_round());
  (*file)->take(slice(2000, 0, kParent, 100, one));  // never written
  const auto table = read_back();
  EXPECT_EQ(table.slices.size(), 1u);
  EXPECT_EQ(table.counters, std::vector<std::string>{"page-faults"});  // names are there already
  EXPECT_TRUE(table.waiting_is_whole);
}

TEST_F(RecordingFileTest, AFullDiskEndsTheRecordingAndKeepsWhatWasWritten) {
  ::signal(SIGXFSZ, SIG_IGN);
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file);
  const std::uint64_t one[] = {1};
  (*file)->take(slice(1000, 0, kParent, 100, one));
  ASSERT_TRUE((*file)->end_round());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{64 << 10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  for (std::uint64_t i = 0; i < 5000; ++i) (*file)->take(slice(2000 + i, 0, kParent, 1, one));
  const auto full = (*file)->end_round();
  const auto again = (*file)->end_round();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(full);
  EXPECT_NE(to_string(full.error()).find("kept"), std::string::npos) << to_string(full.error());
  EXPECT_FALSE(again);
  EXPECT_FALSE((*file)->finish({}));
  const auto table = read_back();
  ASSERT_GE(table.slices.size(), 1u);
  EXPECT_EQ(table.slices[0].run_ns, 100u);
}

TEST_F(RecordingFileTest, TheRecordingBeforeIsKeptAndComesBack) {
  ASSERT_TRUE(replace_file(path_, "old"));
  auto file = RecordingFile::create(path_, plan());
  ASSERT_TRUE(file);
  EXPECT_EQ(read_file(path_ + ".old").value_or(""), "old");
  (*file)->discard();
  EXPECT_EQ(read_file(path_).value_or(""), "old");
  EXPECT_FALSE(file_exists(path_ + ".old"));
}

// On a device of its own: a mistake must not cost the machine its /dev/null.
TEST_F(RecordingFileTest, ADeviceIsNeverMovedOutOfTheWay) {
  const std::string device = testing::TempDir() + "loft-null-" + std::to_string(::getpid());
  if (::mknod(device.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0)
    GTEST_SKIP() << "only root may make a device";
  if (Fd probe(::open(device.c_str(), O_WRONLY | O_CLOEXEC)); !probe.is_open()) {
    ::unlink(device.c_str());
    GTEST_SKIP() << "devices cannot be opened in " << testing::TempDir();
  }
  auto file = RecordingFile::create(device, plan());
  EXPECT_TRUE(file);
  EXPECT_FALSE(file_exists(device + ".old"));
  if (file) (*file)->discard();
  EXPECT_TRUE(std::filesystem::is_character_file(device));
  ::unlink(device.c_str());
}

TEST_F(RecordingFileTest, APendingRecordingTakesItsPlaceWhenItIsKept) {
  ASSERT_TRUE(replace_file(path_, "old"));
  auto file = RecordingFile::create_pending(path_, plan());
  ASSERT_TRUE(file);
  const std::uint64_t one[] = {1};
  (*file)->take(slice(1000, 0, kParent, 100, one));
  ASSERT_TRUE((*file)->finish({}));
  EXPECT_EQ(read_file(path_).value_or(""), "old");
  const auto unnamed = Recording::open((*file)->path_to_read());
  ASSERT_TRUE(unnamed);
  EXPECT_EQ(read_tasks(**unnamed).slices.size(), 1u);
  ASSERT_TRUE((*file)->keep({{200, std::vector<std::byte>(8)}}));
  EXPECT_EQ(read_back().slices.size(), 1u);
  EXPECT_FALSE(file_exists(path_ + ".old"));
}

TEST_F(RecordingFileTest, APendingRecordingThatNobodyKeepsLeavesNoTrace) {
  ASSERT_TRUE(RecordingFile::create_pending(path_, plan()));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  ASSERT_TRUE(RecordingFile::create_pending("", plan())) << "without a name";
}

// Names and mappings then belong to an event whose records the kernel writes.
TEST_F(RecordingFileTest, WithoutEventsOfItsOwnItsRecordsAreThoseOfTheKernelsFirst) {
  RecordingPlan samples;
  samples.basics = 0;
  samples.cpus = 2;
  KernelEvent clock;
  clock.name = "task-clock";
  clock.attr.size = sizeof clock.attr;
  clock.attr.type = PERF_TYPE_SOFTWARE;
  clock.attr.config = PERF_COUNT_SW_TASK_CLOCK;
  clock.attr.sample_period = 1000;
  clock.attr.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  clock.attr.sample_id_all = 1;
  clock.ids = {77, 78};
  samples.kernel_events = {clock};
  auto file = RecordingFile::create(path_, samples);
  ASSERT_TRUE(file);
  (*file)->take(Name{{500, 0}, kParent, "app"});
  ASSERT_TRUE((*file)->finish({}));
  const auto recording = Recording::open(path_);
  ASSERT_TRUE(recording);
  ASSERT_EQ((*recording)->summary().metadata.events.size(), 1u);
  EXPECT_EQ((*recording)->summary().metadata.events[0].name, "task-clock");
  bool has_name = false;
  (*recording)->in_order([&](const PlacedRecord& placed) {
    has_name = has_name || placed.time == 500;
    return true;
  });
  EXPECT_TRUE(has_name) << "the id behind the record is known";
}

}  // namespace
}  // namespace loft::source::scheduler
