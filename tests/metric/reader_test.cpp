#include "metric/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metric/program.hpp"

namespace loft::metric {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Figure 1 of the paper, as printed.
constexpr const char* kFigure1 = R"(
----- Example events file -----
#define BR_lat 5
#define BR_miss_lat 45
#define L1_lat 3
#define L2_lat 13
#define Mem_lat 450

Branch_cat, PAPI_BR_INS|BR_lat*|PAPI_BR_MSP|BR_miss_lat*|+|PAPI_TOT_INS|/
Mem_cat, PAPI_L1_DCA|L1_lat*|PAPI_L2_DCA|L2_lat*|+|PAPI_L2_DCM|Mem_lat*|+
)";

std::vector<std::string> complaints(const MetricFile& file) {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : file.diagnostics) lines.push_back(to_string(diagnostic));
  return lines;
}

double value_of(const MetricFile& file, const std::string& name,
                std::initializer_list<std::pair<const char*, double>> values) {
  Library library;
  library.add(file, Tier::command);
  CountSet counts;
  for (const auto& [event, value] : values) counts.add(event, Quantity::exact(Number::real(value)));
  const auto program = compile(library, name);
  if (!program) {
    ADD_FAILURE() << to_string(program.error());
    return -1;
  }
  const Value value = program->evaluate(counts);
  if (!value.number) ADD_FAILURE() << value.why;
  return value.number ? program->in_unit(value.number->as_double()) : -1;
}

TEST(PapiReader, ReadsFigure1AsPrinted) {
  EXPECT_EQ(detect_format("events.txt", kFigure1), Format::papi);
  const MetricFile file = read_metrics("fig1", kFigure1);
  EXPECT_THAT(complaints(file), IsEmpty());
  EXPECT_THAT(file.constants, SizeIs(5));
  EXPECT_DOUBLE_EQ(value_of(file, "Branch_cat",
                            {{"PAPI_BR_INS", 200}, {"PAPI_BR_MSP", 10}, {"PAPI_TOT_INS", 1000}}),
                   1.45);
  EXPECT_DOUBLE_EQ(
      value_of(file, "Mem_cat", {{"PAPI_L1_DCA", 100}, {"PAPI_L2_DCA", 10}, {"PAPI_L2_DCM", 1}}),
      880);
}

TEST(PapiReader, ComplaintsNameFileLineColumnAndWhatWasExpected) {
  const MetricFile file =
      read_papi("f", "#define A\n#define B x\nnonsense\nm, a|b\nm, a|+\nok, a|2*\nok, b\n, a\n");
  EXPECT_THAT(complaints(file),
              ElementsAre(HasSubstr("f:1:10: error: '#define NAME value' was expected"),
                          HasSubstr("f:2:11: error: 'x' is not a number"),
                          HasSubstr("f:3:1: error: 'Name, OPERATIONS'"),
                          HasSubstr("f:4:7: error: 1 operands are left over"),
                          HasSubstr("f:5:6: error: '+' takes 2 operands"),
                          HasSubstr("f:7:1: error: 'ok' is defined twice, first on line 6"),
                          HasSubstr("f:8:1: error")));
  ASSERT_THAT(file.definitions, SizeIs(1)) << "good lines stay";
  EXPECT_EQ(file.definitions[0].name, "ok");
}

TEST(PapiReader, LargeAndRealConstantsKeepTheirValue) {
  const MetricFile file = read_papi("f", "#define BIG 3000000000\n#define R 2.5\nm, x|R*|BIG|+\n");
  EXPECT_DOUBLE_EQ(value_of(file, "m", {{"x", 64}}), 3000000160);
}

TEST(Xml, ConvertsBothWaysWithoutLoss) {
  const MetricFile file = read_papi("fig1", kFigure1);
  const MetricFile xml = read_metrics("fig1.xml", write_papi_xml(file));
  EXPECT_THAT(complaints(xml), IsEmpty());
  EXPECT_EQ(write_papi(xml), write_papi(file));
  EXPECT_EQ(write_papi(read_papi("again", write_papi(file))), write_papi(file));
}

TEST(Xml, ABombIsRefusedUnexpanded) {
  const MetricFile file = read_papi_xml("bomb.xml", R"(<?xml version="1.0"?>
<!DOCTYPE b [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<user_events><event name="x">&c;</event></user_events>)");
  EXPECT_THAT(complaints(file), ElementsAre(HasSubstr("document type")));
  EXPECT_THAT(file.definitions, IsEmpty());
}

TEST(Xml, DepthAndGarbageAreErrors) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_THAT(complaints(read_papi_xml("deep.xml", deep)), SizeIs(1));
  EXPECT_THAT(
      complaints(read_papi_xml("x.xml", "<user_events><event name='a b'>x</event></user_events>")),
      SizeIs(1));
  EXPECT_THAT(complaints(read_papi_xml("x.xml", "<user_events><event name='a'/></user_events>")),
              SizeIs(1));
  EXPECT_THAT(complaints(read_papi_xml("x.xml", "<other/>")), SizeIs(1));
  EXPECT_THAT(complaints(read_papi_xml("x.xml", "<user_events>")), SizeIs(1));
}

TEST(LoftReader, ReadsUnitsDescriptionsAndExpectations) {
  const MetricFile file = read_loft("f", R"(# a file
group "Memory"
variant intel
const LINE = 64 [B]
event time [s]
metric bw [GB/s] = LINE * reads / time   # a comment
    "Bytes read per second"
    expect reads = 1e9, time = 2 -> 32
    expect reads = 1, time = 0 -> n/a
metric 'odd name' = 'L1-dcache-loads' + #smt_on
)");
  EXPECT_THAT(complaints(file), IsEmpty());
  ASSERT_THAT(file.definitions, SizeIs(2));
  const Definition& bw = file.definitions[0];
  EXPECT_EQ(bw.description, "Bytes read per second");
  EXPECT_EQ(bw.group, "Memory");
  EXPECT_EQ(bw.variant, "intel");
  ASSERT_THAT(bw.expectations, SizeIs(2));
  EXPECT_FALSE(bw.expectations[1].value);
  EXPECT_DOUBLE_EQ(value_of(file, "bw", {{"reads", 1e9}, {"time", 2}}), 32);
  EXPECT_THAT(file.definitions[1].formula.names, ElementsAre("L1-dcache-loads", "#smt_on"));
}

TEST(LoftReader, TextReadsBackAsItself) {
  const char* text =
      "const LINE = 64 [B]\nevent time [s]\n\nvariant intel\ngroup \"Memory\"\n"
      "metric bw [GB/s] = LINE * reads / time\n    \"Bytes read\"\n    expect reads = 5, time = 2 "
      "-> 1.6e-07\n"
      "\nmodel p [W] = 3.5 [W] + 1e-09 [J] * x / time\n    error 2.5\n    expect x = 1, time = 0 "
      "-> n/a\n";
  const MetricFile file = read_loft("f", text);
  EXPECT_THAT(complaints(file), IsEmpty());
  EXPECT_EQ(write_loft(file), text);
}

TEST(LoftReader, EveryBadLineIsNamed) {
  const MetricFile file =
      read_loft("f",
                "metrik a = b\nmetric = 3\nmetric a b\nmetric a [parsec] = b\n"
                "metric a = b +\n    expect x = 1 -> 2\n  \"lost\"\nconst k = five\n"
                "metric good = x\n    expect x -> 1\n    expect x = 1 -> many\n    what\n"
                "event cycles\nmetric good = y\n");
  EXPECT_THAT(complaints(file), ElementsAre(HasSubstr("f:1:1: error: 'metrik' begins no statement"),
                                            HasSubstr("f:2:8: error: a name was expected"),
                                            HasSubstr("f:3:10: error: '=' was expected after 'a'"),
                                            HasSubstr("f:4:10: error: 'parsec' is no unit"),
                                            HasSubstr("f:5:15: error: the formula ends"),
                                            HasSubstr("f:8:11: error: 'five' is not a number"),
                                            HasSubstr("f:10:12: error: 'NAME = COUNT'"),
                                            HasSubstr("f:11:21: error: a number or n/a"),
                                            HasSubstr("f:12:5: error: a description in quotes"),
                                            HasSubstr("f:13:7: error: 'event NAME [unit]'"),
                                            HasSubstr("'good' is defined twice, first on line 9")));
}

TEST(PapiCsv, ReadsDerivationsAndUserEvents) {
  const MetricFile file = read_metrics("papi_events.csv", R"(# comment
CPU,skx
CPU,clx
PRESET,PAPI_BR_NTK,DERIVED_SUB,BR_COND,BR_TAKEN
PRESET,PAPI_SUM,DERIVED_ADD,A,B,C
PRESET,PAPI_DP,DERIVED_POSTFIX,N0|N1|2|*|+|,FP1,FP2,NOTE,"scalar, packed"
EVENT,MY_RATIO,DERIVED_INFIX,N0-N1-N2,A,B,C,SDESC,'difference'
CPU,zen
PRESET,PAPI_SUM,NOT_DERIVED,D
)");
  EXPECT_THAT(complaints(file), IsEmpty());
  EXPECT_DOUBLE_EQ(value_of(file, "PAPI_BR_NTK", {{"BR_COND", 10}, {"BR_TAKEN", 4}}), 6);
  EXPECT_DOUBLE_EQ(value_of(file, "PAPI_DP", {{"FP1", 10}, {"FP2", 4}}), 18);
  EXPECT_DOUBLE_EQ(value_of(file, "MY_RATIO", {{"A", 100}, {"B", 30}, {"C", 20}}), 50);
  EXPECT_EQ(file.definitions[2].description, "scalar, packed");
  EXPECT_EQ(file.definitions[0].variant, "skx/clx");
}

TEST(PapiCsv, AnIndexOutOfRangeIsRefused) {
  const MetricFile file = read_papi_csv(
      "f", "EVENT,X,DERIVED_POSTFIX,N0|N7|+|,A,B\nEVENT,Y,DERIVED_MAGIC,A\nEVENT,Z\nFOO,1\n");
  EXPECT_THAT(complaints(file),
              ElementsAre(HasSubstr("N7 is asked for and only 2 events"),
                          HasSubstr("DERIVED_MAGIC"), HasSubstr("f:3:1"), HasSubstr("FOO")));
  EXPECT_THAT(file.definitions, IsEmpty());
}

TEST(Likwid, ReadsAGroupWithItsUnits) {
  const MetricFile file = read_metrics("zen3/MEM.txt", R"(SHORT Main memory bandwidth

EVENTSET
FIXC1 ACTUAL_CPU_CLOCK
PMC0:EDGEDETECT:THRESHOLD=0x2  STALLS
DFC0  DRAM_CHANNEL_0

METRICS
Runtime (RDTSC) [s] time
Memory bandwidth [MBytes/s] 1.0E-06*(DFC0)*64.0/time
Share [%] (PMC0:EDGEDETECT:THRESHOLD=0x2/ FIXC1)*100
DP [MFLOP/s] 1.0E-06*DFC0/time
DP [MUOPS/s] 2.0E-06*DFC0/time

LONG
Formulas: anything = goes here
)");
  EXPECT_THAT(complaints(file), IsEmpty());
  EXPECT_DOUBLE_EQ(value_of(file, "MEM.Memory_bandwidth", {{"DRAM_CHANNEL_0", 1e6}, {"time", 2}}),
                   32);
  EXPECT_DOUBLE_EQ(value_of(file, "MEM.Share", {{"STALLS:e:c=0x2", 1}, {"ACTUAL_CPU_CLOCK", 4}}),
                   25);
  EXPECT_DOUBLE_EQ(value_of(file, "MEM.DP", {{"DRAM_CHANNEL_0", 1e6}, {"time", 2}}), 0.5);
  EXPECT_DOUBLE_EQ(value_of(file, "MEM.DP_MUOPS_s", {{"DRAM_CHANNEL_0", 1e6}, {"time", 2}}), 1);
  EXPECT_EQ(file.definitions[1].unit->text, "MBytes/s");
}

TEST(PerfJson, ReadsMetricsThatReferToEachOther) {
  const MetricFile file = read_metrics("metrics.json", R"json([
 {"EventName": "x", "EventCode": "0x1"},
 {"MetricName": "CLKS", "MetricExpr": "CPU_CLK_UNHALTED.THREAD", "MetricGroup": "Summary"},
 {"MetricName": "SLOTS", "MetricExpr": "4 * CLKS if #SMT_on else 2 * CLKS", "BriefDescription": "Slots"},
 {"MetricName": "Bound", "MetricExpr": "1 - max(0, d_ratio(cpu@event\\=0x9c\\,umask\\=0x1@, SLOTS))", "ScaleUnit": "100%"},
 {"MetricName": "BW", "MetricExpr": "reads / duration_time", "ScaleUnit": "6.4e-05MB/s"},
 {"MetricName": "Bad", "MetricExpr": "1 +"}
])json");
  EXPECT_THAT(complaints(file), ElementsAre(HasSubstr("metrics.json:7: error: Bad")));
  EXPECT_DOUBLE_EQ(
      value_of(
          file, "Bound",
          {{"CPU_CLK_UNHALTED.THREAD", 100}, {"#smt_on", 1}, {"cpu/event=0x9c,umask=0x1/", 100}}),
      75);
  EXPECT_DOUBLE_EQ(value_of(file, "BW", {{"reads", 1e6}, {"time", 2}}), 32);
}

TEST(PerfJson, BrokenJsonIsNamedWithItsLine) {
  EXPECT_THAT(complaints(read_perf("m.json", "[\n{\"MetricName\": \n")),
              ElementsAre(HasSubstr("m.json:3")));
  EXPECT_THAT(complaints(read_perf("m.json", std::string(100000, '['))), SizeIs(1));
}

TEST(Reader, BinaryGarbageIsOneError) {
  const MetricFile file = read_metrics("x.metrics", std::string_view("\x7f"
                                                                     "ELF\0\1\2",
                                                                     7));
  EXPECT_THAT(complaints(file), ElementsAre(HasSubstr("binary file")));
}

}  // namespace
}  // namespace loft::metric
