// loft report, as a user calls it, on recordings made byte by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_loft.hpp"
#include "format/builders.hpp"
#include "loft/perf_data/sample.hpp"

namespace loft {
namespace {

namespace perf = format::perf;
using nlohmann::json;
using perf::RecordType;
using testing::HasSubstr;
using testing::Not;

// Two threads of one process, "first" (tid 1) and "second" (tid 2), with two samples each.
perf::RecordingBuilder two_threads() {
  perf::RecordingBuilder file;
  file.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCpu | perf::kPeriod});
  const auto tail = [](format::ByteBuilder& body, std::uint32_t tid, std::uint64_t time) {
    body.u32(1).u32(tid).u64(time).u32(0).u32(0);
  };
  for (const std::uint32_t tid : {1, 2}) {
    auto comm = file.body();
    comm.u32(1).u32(tid).text_padded(tid == 1 ? "first" : "second", 8);
    tail(comm, tid, 1);
    file.record(RecordType::comm, 0, comm);
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto sample = file.body();
    sample.u64(0x1000 * (1 + i / 2)).u32(1).u32(1 + i % 2);
    sample.u64(1'000'000'000 * (1 + i)).u32(static_cast<std::uint32_t>(i % 2)).u32(0).u64(10);
    file.record(RecordType::sample, 2, sample);
  }
  return file;
}

class ReportCommand : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    write(two_threads().finish());
  }
  void TearDown() override { std::system(("rm -rf " + folder_).c_str()); }

  void write(const perf::Bytes& bytes) {
    ASSERT_TRUE(replace_file(
        file(), std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  [[nodiscard]] std::string file() const { return folder_ + "/perf.data"; }
  [[nodiscard]] Said report(const std::string& arguments) const {
    return run_loft("report " + file() + " " + arguments);
  }
  // The records that ndjson shows.
  [[nodiscard]] std::vector<json> records(const std::string& arguments) const {
    std::vector<json> all;
    const Said said = report("--records --format json " + arguments);
    std::size_t at = 0;
    while (at < said.out.size()) {
      const std::size_t end = said.out.find('\n', at);
      all.push_back(json::parse(said.out.substr(at, end - at)));
      at = end + 1;
    }
    return all;
  }

  std::string folder_ = "/tmp/loft-report-XXXXXX";
};

TEST_F(ReportCommand, RecordsHonourEveryFilter) {
  EXPECT_EQ(records("").size(), 6u);
  EXPECT_EQ(records("--tid 2").size(), 3u);
  EXPECT_EQ(records("--pid 7").size(), 0u);
  EXPECT_EQ(records("--comm sec*").size(), 3u);
  EXPECT_EQ(records("--event cpu-clock").size(), 4u);
  EXPECT_EQ(records("--event cpu-clock --cpu 1").size(), 2u);
  EXPECT_EQ(records("--dso nothing").size(), 0u);
  EXPECT_EQ(records("--symbol nothing").size(), 0u);
  EXPECT_EQ(records("--symbol '*mapped*'").size(), 4u);
  const auto middle = records("--time 0.5,2.5");  // since the first sample, at 1 s
  ASSERT_EQ(middle.size(), 2u);
  EXPECT_EQ(middle[0]["time"], 2'000'000'000u);
}

TEST_F(ReportCommand, SaysWhatShareFiltersLeaveInEveryForm) {
  EXPECT_THAT(report("--tid 2").out, HasSubstr("2 samples, period 20"));
  EXPECT_THAT(report("--tid 2").out, HasSubstr("(50 % of all; shares are of what is shown)"));
  EXPECT_THAT(report("--tid 2 --tree").out, HasSubstr("(50 % of all"));
  EXPECT_EQ(json::parse(report("--tid 2 --format json").out)["events"][0]["shown_share"], 0.5);
  EXPECT_THAT(report("--tid 2 --format folded").notes, HasSubstr("50 % of all"));
  EXPECT_THAT(report("").out, Not(HasSubstr("of all")));
}

TEST_F(ReportCommand, AFilterThatAViewWouldIgnoreIsRefused) {
  for (const char* view : {"--tasks", "--schedule", "--interval"}) {
    EXPECT_EQ(report(view).status, 0);
    const Said said = report(std::string(view) + " --symbol main");
    EXPECT_EQ(said.status, 125);
    EXPECT_THAT(said.notes, HasSubstr("show every task of the recording"));
  }
}

TEST_F(ReportCommand, MapsOfCpusAreTakenApartInEveryForm) {
  auto file = two_threads();
  auto list = file.body();
  list.u16(0).u16(2).u16(1).u16(3);
  auto mask = file.body();
  mask.u16(1).u16(1).u16(8).u16(0).u64(0x8001);
  auto range = file.body();
  range.u16(2).u16(0).u16(4).u16(6).u64(0);
  for (const auto& body : {list, mask, range}) file.record(RecordType::cpu_map, 0, body);
  write(file.finish());
  const std::string text = report("--records").out;
  for (const char* cpus : {"cpus=[1 3]", "cpus=[0 15]", "cpus=[4 5 6]"})
    EXPECT_THAT(text, HasSubstr(cpus));
}

TEST_F(ReportCommand, SortingByTheInclusiveCountCountsIt) {
  const auto said = json::parse(report("--sort inclusive --format json").out);
  ASSERT_FALSE(said["rows"].empty());
  EXPECT_EQ(said["rows"][0]["inclusive_samples"], 4) << said["rows"];
  EXPECT_NE(report("--sort inclusive --by thread").status, 0);
}

TEST_F(ReportCommand, ACpuThatNobodyRecordedIsNotZero) {
  perf::RecordingBuilder file;
  file.event({});
  auto sample = file.body();
  sample.u64(0x1000).u32(1).u32(1).u64(1'000'000'000).u64(10);
  file.record(RecordType::sample, 2, sample);
  write(file.finish());
  EXPECT_EQ(report("").status, 0);
  const Said said = report("--cpu 0");
  EXPECT_NE(said.status, 0) << said.out;
  EXPECT_THAT(said.notes, HasSubstr("does not say on which CPU"));
}

TEST_F(ReportCommand, SeveralKeysStandBelowEachOther) {
  const Said said = report("--by comm,cpu");
  const auto column_of = [&](const std::string& line_start, const std::string& word) {
    const std::size_t line = said.out.rfind('\n', said.out.find(line_start)) + 1;
    return said.out.find(word, line) - line;
  };
  EXPECT_EQ(column_of("second", "cpu"), column_of("first", "cpu")) << said.out;
  EXPECT_EQ(column_of("comm ", "cpu"), column_of("first", "cpu")) << said.out;
}

TEST_F(ReportCommand, TheOrderOfATreeMayStandApartFromItsFlag) {
  const std::string tree = run_loft("report --tree=callee " + file()).out;
  ASSERT_THAT(tree, HasSubstr("total"));
  for (const std::string& said : {"--tree callee " + file(), file() + " --tree callee",
                                  file() + " --tree=callee", "-i " + file() + " --tree callee"}) {
    const Said answer = run_loft("report " + said);
    EXPECT_EQ(answer.status, 0) << said << "\n" << answer.notes;
    EXPECT_EQ(answer.out, tree) << said;
  }
  EXPECT_EQ(run_loft("report --tree " + file()).out,
            run_loft("report --tree=caller " + file()).out);
  const Said two = run_loft("report " + file() + " other.data");
  EXPECT_EQ(two.status, 125);
  EXPECT_THAT(two.notes, HasSubstr("loft compare"));
}

TEST_F(ReportCommand, ATreeInJsonIsATree) {
  const auto said = json::parse(report("--tree --format json").out);
  ASSERT_EQ(said["tree"].size(), 1u);
  EXPECT_FALSE(said["tree"][0]["children"].empty());
}

TEST_F(ReportCommand, RowsCannotBeFewerThanNone) {
  EXPECT_NE(report("--top -1").status, 0);
  EXPECT_NE(report("--top 0").status, 0);
}

TEST_F(ReportCommand, TheFourTablesHaveTheirColumns) {
  ASSERT_EQ(report("--csv " + folder_).status, 0);
  const auto table = [&](const char* name) {
    return read_file(folder_ + "/" + name).value_or("missing");
  };
  EXPECT_THAT(table("stat.csv"), HasSubstr("SAMPLE,4"));
  EXPECT_THAT(table("overview.csv"), testing::StartsWith("nr,type,pid,tid,time,info\n"));
  EXPECT_THAT(table("processes.csv"), HasSubstr("fork"));
  EXPECT_THAT(table("processes.csv"), HasSubstr("first"));
  EXPECT_THAT(table("results.csv"), HasSubstr("period"));
}

TEST_F(ReportCommand, AKilledRecordersFileIsReadAndSaidToBeOne) {
  auto file = two_threads();
  file.claimed_data_size(0);
  write(file.finish());
  const Said said = report("");
  EXPECT_EQ(said.status, 0);
  EXPECT_THAT(said.out, HasSubstr("4 samples"));
  EXPECT_THAT(said.out, HasSubstr("recorder was ended before it wrote the sizes, or still runs"));
}

TEST_F(ReportCommand, StandardInputIsARecordingLikeAnyOther) {
  const std::string out = folder_ + "/out.json";
  const std::string command =
      "cat " + file() + " | NO_COLOR=1 " LOFT_PROGRAM " report - --by thread --format json >" + out;
  EXPECT_EQ(std::system(command.c_str()), 0);
  const json result = json::parse(read_file(out).value_or(""), nullptr, false);
  EXPECT_EQ(result["schema"], "loft.report/1");
  EXPECT_EQ(result["rows"].size(), 2u);
}

TEST_F(ReportCommand, WhatIsNoRecordingIsRefusedWithAReason) {
  const Said missing = run_loft("report /nonexistent/perf.data");
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.notes, HasSubstr("/nonexistent/perf.data"));
  EXPECT_EQ(run_loft("report /etc/passwd").status, 125);
  EXPECT_EQ(report("--event no-such").status, 125);
  EXPECT_EQ(report("--time 3,1").status, 125);
}

// The formats of one tracepoint, number 12, as the kernel describes them.
format::ByteBuilder tracing_data() {
  const std::string format =
      "name: sys_enter\nID: 12\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
      "\tfield:unsigned long args[2];\toffset:16;\tsize:16;\tsigned:0;\n\n"
      "print fmt: \"NR %ld\", REC->id\n";
  const auto sized = [](format::ByteBuilder& out, std::string_view content) {
    out.u64(content.size()).text(content);
  };
  format::ByteBuilder out(ByteOrder::little);
  out.text("\x17\x08\x44tracing").text("0.6").u8(0).u8(0).u8(8).u32(4096);
  sized(out.text("header_page").u8(0), "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
  sized(out.text("header_event").u8(0), "# compressed entry header\n");
  out.u32(0).u32(1).text("raw_syscalls").u8(0).u32(1);
  sized(out, format);
  return std::move(out.u32(0).u32(0).u64(0));
}

TEST_F(ReportCommand, ArgumentsOfASystemCallAreNumbers) {
  perf::RecordingBuilder recording;
  recording.event({.type = 2, .config = 12, .sample_type = perf::kIp | perf::kTid | perf::kRaw});
  auto sample = recording.body();
  sample.u64(0x1000).u32(1).u32(1).u32(36).u16(12).u16(0).u32(1).u64(9).u64(0x2000).u64(3).u32(0);
  recording.record(RecordType::sample, 2, sample);
  recording.feature(1, tracing_data());
  write(recording.finish());
  const auto all = records("");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["event"], "raw_syscalls:sys_enter");
  EXPECT_EQ(all[0]["tracepoint"]["id"], 9);
  EXPECT_EQ(all[0]["tracepoint"]["args"], json({"0x2000", "0x3"}));
}

TEST_F(ReportCommand, AChainThatCameLaterIsShownWithItsFunctions) {
  perf::RecordingBuilder recording;
  recording.event({.sample_type = perf::kIp | perf::kTid | perf::kTime | perf::kCallchain});
  auto map = recording.body();
  map.u32(1).u32(1).u64(0x1000).u64(0x1000).u64(0).text_padded("/nowhere/app", 8);
  recording.record(RecordType::mmap, 2, map.u32(1).u32(1).u64(1));
  auto sample = recording.body();
  sample.u64(0xffff0000).u32(1).u32(1).u64(10).u64(4).u64(perf_data::kContextKernel);
  sample.u64(0xffff0000).u64(perf_data::kContextUserDeferred).u64(7);
  recording.record(RecordType::sample, 1, sample);
  auto chain = recording.body();
  chain.u64(7).u64(2).u64(perf_data::kContextUser).u64(0x1010).u32(1).u32(1).u64(11);
  recording.record(RecordType::callchain_deferred, 0, chain);
  write(recording.finish());
  const auto all = records("");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1]["deferred_chain"], "0x7");
  EXPECT_EQ(all[1]["call_chain"].size(), 1u);
  ASSERT_EQ(all[2]["call_chain"].size(), 1u);
  EXPECT_EQ(all[2]["call_chain"][0]["function"], "app+0x10");
}

TEST_F(ReportCommand, SaysWhatAFileIsThatIsNoRecording) {
  ASSERT_TRUE(replace_file(file(), "\x1F\x8B\b some packed bytes"));
  const Said packed = report("");
  EXPECT_EQ(packed.status, 125);
  EXPECT_EQ(packed.notes, "loft: cannot read '" + file() +
                              "': it is compressed with gzip; unpack it: gzip -dc " + file() +
                              " | loft report -\n");
  const Said folder = run_loft("report " + folder_);
  EXPECT_EQ(folder.status, 125);
  EXPECT_THAT(folder.notes, HasSubstr("it is a folder, and has no file 'data'"));
  EXPECT_THAT(run_loft("report - </dev/null").notes,
              HasSubstr("cannot read the recording on standard input: it is empty"));
}

TEST_F(ReportCommand, AFolderOfSymbolsThatIsNotThereIsAnError) {
  const Said said = report("--symbols " + folder_ + "/nowhere");
  EXPECT_EQ(said.status, 125);
  EXPECT_THAT(said.notes, HasSubstr("name folders behind --symbols"));
}

// Whatever memory there is: a result, or words and 125; never an abort.
TEST_F(ReportCommand, EndsInWordsWithoutMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need terabytes of address space";
#endif
  const auto with = [&](int megabytes, const std::string& command) {
    const std::string line = "ulimit -v " + std::to_string(1024 * megabytes) +
                             "; " LOFT_PROGRAM " " + command + " >/dev/null 2>&1 </dev/null";
    const int raw = std::system(line.c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  };
  int least = 8;  // with which it starts at all
  while (least < 4096 && with(least, "--version") != 0) least += 8;
  for (const char* how : {"--jobs 16", "--records --jobs 16", "-o /dev/null --format html"})
    for (int more = 0; more <= 160; more += 16) {
      const int status = with(least + more, "report " + file() + " " + how);
      EXPECT_TRUE(status == 0 || status == 125)
          << how << " with " << least + more << " MB: " << status;
    }
}

}  // namespace
}  // namespace loft
