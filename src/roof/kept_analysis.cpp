#include "roof/kept_analysis.hpp"

#include <algorithm>

#include "roof/work_json.hpp"

namespace loft::roof {
namespace {

using model::AnnotatedFunction;
using model::AnnotatedInstruction;
using model::LoopFacts;
using model::Outcome;
using model::Why;

constexpr std::string_view kSchema = "loft.analysis/1";

ordered_json or_null(std::optional<double> value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::optional<double> optional_number(Fields& fields, const char* name) {
  const ordered_json* found = fields.find(name);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return fields.get<double>(name);
}

ordered_json json_of(const Why& why) {
  ordered_json json{{"outcome", to_string(why.outcome)},
                    {"gain", or_null(why.gain)},
                    {"both", why.gain_is_of_both},
                    {"model", or_null(why.model_cycles)},
                    {"measured", or_null(why.measured_cycles)},
                    {"explains", or_null(why.explains)},
                    {"evidence", why.evidence},
                    {"what_if", ordered_json::object()}};
  if (why.limit) json["limit"] = to_string(*why.limit);
  if (why.second) json["second"] = to_string(*why.second);
  for (const auto& [cause, gain] : why.what_if)
    json["what_if"][std::string(to_string(cause))] = gain;
  return json;
}

Outcome outcome_named(const std::string& name) {
  for (const Outcome outcome : {Outcome::limited, Outcome::balanced, Outcome::unexplained,
                                Outcome::unclear, Outcome::system, Outcome::waiting})
    if (name == to_string(outcome)) return outcome;
  return Outcome::not_seen;
}

Why read_why(Fields& fields) {
  Why why;
  why.outcome = outcome_named(fields.get<std::string>("outcome"));
  const auto cause = [&](const char* name) -> std::optional<core::Cause> {
    return fields.find(name) == nullptr ? std::nullopt
                                        : core::find_cause(fields.get<std::string>(name));
  };
  why.limit = cause("limit");
  why.second = cause("second");
  // What is limited is limited by something.
  if (why.outcome == Outcome::limited && !why.limit) why.outcome = Outcome::not_seen;
  why.gain = optional_number(fields, "gain");
  why.gain_is_of_both = fields.get<bool>("both");
  why.model_cycles = optional_number(fields, "model");
  why.measured_cycles = optional_number(fields, "measured");
  why.explains = optional_number(fields, "explains");
  why.evidence = fields.get<std::string>("evidence");
  for (const auto& [name, gain] : fields.get<std::map<std::string, double>>("what_if"))
    if (const auto found = core::find_cause(name)) why.what_if.emplace_back(*found, gain);
  std::ranges::stable_sort(why.what_if, std::ranges::greater(),
                           &std::pair<core::Cause, double>::second);
  return why;
}

ordered_json json_of(const model::RoofPhase& phase) {
  return {{"function", phase.function}, {"binary", phase.binary},   {"start", phase.start},
          {"end", phase.end},           {"windows", phase.windows}, {"why", json_of(phase.why)}};
}

Why read_inner_why(Fields& of) {
  const ordered_json why = of.get<ordered_json>("why");
  Fields parts(why);
  Why read = read_why(parts);
  if (!parts.wrong().empty()) of.note(parts.wrong());
  return read;
}

model::RoofPhase read_phase(Fields& fields) {
  model::RoofPhase phase;
  phase.function = fields.get<std::string>("function");
  phase.binary = fields.get<std::string>("binary");
  phase.start = fields.amount("start");
  phase.end = fields.amount("end");
  phase.windows = fields.get<std::size_t>("windows");
  phase.why = read_inner_why(fields);
  return phase;
}

ordered_json json_of(const LoopWork& loop) {
  const LoopFacts& facts = loop.facts;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code;
  for (const CodeRange& range : loop.code) code.emplace_back(range.start, range.end);
  ordered_json json{{"name", loop.function.name},
                    {"binary", loop.function.binary},
                    {"work", roof::json_of(std::optional(loop.work))},
                    {"code", code},
                    {"address", facts.address},
                    {"offset", facts.offset},
                    {"start", facts.start},
                    {"lines", facts.lines},
                    {"depth", facts.depth},
                    {"iterations", facts.iterations},
                    {"trips", or_null(facts.trips)},
                    {"masked", or_null(facts.masked_share)},
                    {"remainder", facts.is_remainder}};
  if (facts.vector_bits) json["vector_bits"] = *facts.vector_bits;
  return json;
}

LoopWork read_loop(Fields& fields) {
  LoopWork loop;
  loop.function = {fields.get<std::string>("name"), fields.get<std::string>("binary")};
  loop.work = fields.work("work").value_or(model::Work{});
  for (const auto& [start, end] :
       fields.get<std::vector<std::pair<std::uint64_t, std::uint64_t>>>("code"))
    loop.code.push_back({start, end});
  LoopFacts& facts = loop.facts;
  facts.address = fields.get<std::uint64_t>("address");
  facts.offset = fields.get<std::uint64_t>("offset");
  facts.start = fields.get<std::uint64_t>("start");
  facts.lines = fields.get<std::string>("lines");
  facts.depth = std::clamp(fields.get<int>("depth"), 1, 20);
  facts.iterations = fields.amount("iterations");
  facts.trips = optional_number(fields, "trips");
  facts.masked_share = optional_number(fields, "masked");
  facts.is_remainder = fields.get<bool>("remainder");
  if (fields.find("vector_bits") != nullptr) facts.vector_bits = fields.get<int>("vector_bits");
  return loop;
}

ordered_json json_of(const AnnotatedFunction& function) {
  ordered_json json{{"name", function.name},           {"binary", function.binary},
                    {"address", function.address},     {"seconds", function.seconds},
                    {"share", function.share_of_time}, {"samples", function.samples},
                    {"places", ordered_json::array()}, {"code", ordered_json::array()}};
  if (function.why) json["why"] = json_of(*function.why);
  for (const model::SourcePlace& place : function.places)
    json["places"].push_back({{"file", place.file},
                              {"line", place.line},
                              {"text", place.text},
                              {"inlined", place.inlined}});
  for (const AnnotatedInstruction& each : function.code)
    json["code"].push_back(
        {{"at", each.address},
         {"text", each.text},
         {"count", or_null(each.count)},
         {"samples", each.samples},
         {"share", each.share},
         {"waited", or_null(each.waited)},
         {"wait", static_cast<int>(each.wait)},
         {"for", each.waits_for ? ordered_json(*each.waits_for) : ordered_json(nullptr)},
         {"place", each.place},
         {"target", each.target}});
  return json;
}

AnnotatedInstruction read_instruction(Fields& fields, std::size_t places) {
  AnnotatedInstruction each;
  each.address = fields.get<std::uint64_t>("at");
  each.text = fields.get<std::string>("text");
  each.count = optional_number(fields, "count");
  each.samples = fields.get<std::uint64_t>("samples");
  each.share = fields.amount("share");
  each.waited = optional_number(fields, "waited");
  const int wait = fields.get<int>("wait");
  if (wait >= 0 && static_cast<std::size_t>(wait) < core::kWaits)
    each.wait = static_cast<core::Wait>(wait);
  const ordered_json* from = fields.find("for");
  if (from != nullptr && from->is_number_unsigned()) each.waits_for = from->get<std::uint64_t>();
  const auto place = fields.get<std::uint32_t>("place");
  each.place = place < places ? place : 0;
  each.target = fields.get<std::uint64_t>("target");
  return each;
}

std::string read_function(Fields& fields, AnnotatedFunction& function) {
  function.name = fields.get<std::string>("name");
  function.binary = fields.get<std::string>("binary");
  function.address = fields.get<std::uint64_t>("address");
  function.seconds = fields.amount("seconds");
  function.share_of_time = fields.amount("share");
  function.samples = fields.get<std::uint64_t>("samples");
  if (const ordered_json* why = fields.find("why")) {
    Fields parts(*why);
    function.why = read_why(parts);
    if (!parts.wrong().empty()) return parts.wrong();
  }
  function.places.clear();
  std::string wrong = read_each(fields, "places", [&](Fields& part) {
    function.places.push_back({part.get<std::string>("file"), part.get<unsigned>("line"),
                               part.get<std::string>("text"),
                               part.get<std::vector<std::string>>("inlined")});
  });
  if (function.places.empty()) function.places.emplace_back();
  if (!wrong.empty()) return wrong;
  return read_each(fields, "code", [&](Fields& part) {
    function.code.push_back(read_instruction(part, function.places.size()));
  });
}

}  // namespace

std::string analysis_json(const KeptAnalysis& analysis) {
  ordered_json json{{"schema", kSchema},
                    {"verdicts", ordered_json::array()},
                    {"loops", ordered_json::array()},
                    {"code", ordered_json::array()}};
  for (const auto& [key, why] : analysis.verdicts)
    json["verdicts"].push_back({{"name", key.name}, {"binary", key.binary}, {"why", json_of(why)}});
  for (const auto& [start, why] : analysis.slices)
    json["slices"].push_back({{"start", start}, {"why", json_of(why)}});
  for (const model::RoofPhase& phase : analysis.phases) json["phases"].push_back(json_of(phase));
  for (const LoopWork& loop : analysis.loops) json["loops"].push_back(json_of(loop));
  for (const AnnotatedFunction& function : analysis.code) json["code"].push_back(json_of(function));
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<KeptAnalysis> read_analysis(const std::string& where, const std::string& text) {
  const auto json = ordered_json::parse(text, nullptr, false);
  Fields fields(json);
  KeptAnalysis analysis;
  std::string wrong = fields.get<std::string>("schema") == kSchema ? "" : "schema";
  if (wrong.empty())
    wrong = read_each(fields, "verdicts", [&](Fields& part) {
      const FunctionKey key{part.get<std::string>("name"), part.get<std::string>("binary")};
      analysis.verdicts[key] = read_inner_why(part);
    });
  // Files of older versions lack them.
  if (wrong.empty() && fields.find("slices") != nullptr)
    wrong = read_each(fields, "slices", [&](Fields& part) {
      analysis.slices.emplace_back(part.amount("start"), read_inner_why(part));
    });
  if (wrong.empty() && fields.find("phases") != nullptr)
    wrong = read_each(fields, "phases",
                      [&](Fields& part) { analysis.phases.push_back(read_phase(part)); });
  if (wrong.empty())
    wrong = read_each(fields, "loops",
                      [&](Fields& part) { analysis.loops.push_back(read_loop(part)); });
  if (wrong.empty())
    wrong = read_each(fields, "code", [&](Fields& part) {
      const std::string inside = read_function(part, analysis.code.emplace_back());
      if (!inside.empty()) part.note(inside);
    });
  if (wrong.empty()) wrong = fields.wrong();
  if (wrong.empty()) return analysis;
  return failure(ErrorKind::malformed, "read '" + where + "'",
                 "its section of loops and verdicts is damaged at '" + wrong + "'",
                 "record it again");
}

}  // namespace loft::roof
