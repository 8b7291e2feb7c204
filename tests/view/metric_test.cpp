// Metrics, their definitions and plans as text, CSV and JSON.
#include "view/metric.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "metric/reader.hpp"
#include "view/checks.hpp"
#include "view/metric_definitions.hpp"
#include "view/metric_plan.hpp"

namespace loft::view {
namespace {

using metric::Evaluated;
using metric::Library;
using nlohmann::json;
using sample::Origin;
using ::testing::HasSubstr;

Evaluated ipc() {
  Evaluated metric;
  metric.name = "IPC";
  metric.description = "Instructions per cycle";
  metric.value.number = metric::Number::real(1.5);
  metric.value.kind = Origin::counted;
  return metric;
}

Evaluated missing() {
  Evaluated metric;
  metric.name = "GFLOPS";
  metric.value.why = "flops were not counted";
  return metric;
}

TEST(MetricText, AValueThatIsNotAvailableSaysWhy) {
  const std::vector<Evaluated> both{ipc(), missing()};
  EXPECT_THAT(metrics_text(both), HasSubstr("Instructions per cycle\n"));
  EXPECT_THAT(metrics_text(both), HasSubstr("n/a  flops were not counted\n"));
  const json shown = json::parse(metrics_json(both));
  EXPECT_EQ(shown["metrics"][0]["value"], 1.5);
  EXPECT_EQ(shown["metrics"][0]["kind"], "counted");
  EXPECT_TRUE(shown["metrics"][1]["value"].is_null());
  EXPECT_EQ(shown["metrics"][1]["why"], "flops were not counted");
}

TEST(MetricText, AnUnreliableValueIsMarked) {
  Evaluated rare = ipc();
  rare.value.unreliable = true;
  EXPECT_THAT(metrics_text({&rare, 1}), HasSubstr("unreliable, its events are too rare"));
  EXPECT_EQ(json::parse(metrics_json({&rare, 1}))["metrics"][0]["unreliable"], true);
}

TEST(MetricText, ValuesAndIntervalsAreInTheUnitOfTheMetric) {
  Evaluated power = ipc();
  power.unit.text = "mW";
  power.unit.factor = 1e-3;
  power.value.number = metric::Number::real(0.25);
  power.value.ci95 = metric::Interval{0.2, 0.3};
  const json shown = json::parse(metrics_json({&power, 1}))["metrics"][0];
  EXPECT_EQ(shown["value"], 250.0);
  EXPECT_EQ(shown["ci95"], (json{200.0, 300.0}));
}

TEST(MetricColumns, ARowHasALabelAndAnEmptyFieldForNoValue) {
  metric::MetricColumns columns;
  columns.labels = {"init", "solve"};
  columns.names = {"IPC", "power"};
  columns.units.resize(2);
  columns.values = {{2, NAN}, {10, 12}};
  columns.kinds = {"counted", "modelled"};
  columns.errors = {{}, 0.5};
  EXPECT_EQ(metric_columns_csv(columns),
            "row,label,IPC,power,power.low,power.high\n"
            "1,init,2,10,9.5,10.5\n"
            "2,solve,,12,11.5,12.5\n");
  const json shown = json::parse(metric_columns_json(columns));
  EXPECT_TRUE(shown["metrics"][0]["values"][1].is_null());
  EXPECT_EQ(shown["metrics"][1]["error95"], 0.5);
  EXPECT_EQ(shown["labels"][1], "solve");
}

class DefinitionViews : public testing::Test {
 protected:
  DefinitionViews() {
    library_.add(metric::read_loft("t.metrics",
                                   "metric IPC [instr/cycle] = instructions / cycles\n"
                                   "    \"Instructions per cycle\"\n"
                                   "metric cost = misses * DRAM_lat\n"),
                 metric::Tier::user);
  }
  Library library_;
};

TEST_F(DefinitionViews, AListHasALineForEach) {
  const auto all = library_.with_words({});
  EXPECT_THAT(definitions_text(all), HasSubstr("IPC "));
  EXPECT_THAT(definitions_text(all), HasSubstr(" Instructions per cycle\n"));
  EXPECT_THAT(definitions_csv(all),
              HasSubstr("IPC,,instr/cycle,,Instructions per cycle,instructions / cycles,"));
  const json shown = json::parse(definitions_json(all));
  EXPECT_EQ(shown["schema"], "loft.metric.list/1");
  EXPECT_EQ(shown["metrics"].size(), 2u);
}

TEST_F(DefinitionViews, OneInFullNamesItsEventsAndWhenItIsNotAvailable) {
  const std::string text = definition_text(library_, *library_.find("IPC").front());
  EXPECT_THAT(text, HasSubstr("  RPN          instructions|cycles|/\n"));
  EXPECT_THAT(text, HasSubstr("  events       instructions, cycles\n"));
  EXPECT_THAT(text, HasSubstr("  n/a when     cycles is 0\n"));
  EXPECT_THAT(definition_text(library_, *library_.find("cost").front()),
              HasSubstr("DRAM_lat is not known: 'loft machine' measures it"));
}

TEST_F(DefinitionViews, OneThatDoesNotCompileSaysWhatIsWrong) {
  library_.add(metric::read_loft("u.metrics", "metric a = b\nmetric b = a\n"), metric::Tier::user);
  EXPECT_THAT(definition_text(library_, *library_.find("a").front()), HasSubstr("  problem "));
}

TEST(CheckViews, NotesAreShownWhenAskedFor) {
  metric::CheckResult result;
  result.definitions = 2;
  result.diagnostics = {{metric::Severity::error, {"a.metrics", 3, 5}, "no such thing"},
                        {metric::Severity::note, {"a.metrics", 4, 1}, "not available when b is 0"}};
  EXPECT_THAT(check_text(result, false), testing::Not(HasSubstr("not available")));
  EXPECT_THAT(check_text(result, true), HasSubstr("not available"));
  EXPECT_THAT(check_text(result, false),
              HasSubstr("2 definitions, 0 expectations held, 1 errors, 0 warnings\n"));
  const json shown = json::parse(check_json(result));
  EXPECT_EQ(shown["diagnostics"][0]["line"], 3);
  EXPECT_EQ(shown["diagnostics"].size(), 2u);
}

TEST(PlanViews, SetsEventsAndWhatIsMissing) {
  metric::MetricPlan plan;
  event::Event cycles;
  cycles.name = "cycles";
  cycles.origin = "kernel";
  cycles.encoding.pmu = "cpu";
  cycles.encoding.config = 0x3C;
  plan.events = {cycles};
  event::PlannedGroup group;
  group.pmu = "cpu";
  group.members = {0};
  plan.plan.groups = {group};
  plan.missing = {{"flops", "no such event"}};
  EXPECT_THAT(plan_text(plan), HasSubstr("1 event in 1 set: no multiplexing is needed\n"));
  EXPECT_THAT(plan_text(plan), HasSubstr("config 0x3c  kernel\n"));
  EXPECT_THAT(plan_text(plan), HasSubstr("missing flops: no such event\n"));
  EXPECT_EQ(
      plan_csv(plan),
      "set,pmu,event,config,origin,why\n1,cpu,cycles,0x3c,kernel,\n,,flops,,,no such event\n");
  EXPECT_EQ(json::parse(plan_json(plan))["groups"][0]["members"], json{0});
  EXPECT_THAT(plan_text({}), HasSubstr("constants are enough"));
}

TEST(Checks, AFixStandsBelowWhatItIsFor) {
  Check check;
  check.id = "bpf";
  check.title = "BPF";
  check.status = Check::Status::limited;
  check.why = "no, \"privilege\"";
  check.fix = "run as root";
  EXPECT_THAT(checks_text({&check, 1}, false), HasSubstr("fix: run as root\n"));
  EXPECT_EQ(checks_text({&check, 1}, false).find('\x1b'), std::string::npos);
  EXPECT_THAT(checks_text({&check, 1}, true), HasSubstr("\x1b[33m"));
  EXPECT_EQ(checks_csv({&check, 1}), "id,title,status,why,fix\nbpf,BPF," +
                                         std::string(to_string(check.status)) +
                                         ",\"no, \"\"privilege\"\"\",run as root\n");
  EXPECT_EQ(json::parse(checks_json({&check, 1}))["checks"][0]["fix"], "run as root");
}

}  // namespace
}  // namespace loft::view
