#include "roof/annotate.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/text.hpp"
#include "roof/report.hpp"

namespace loft::roof {
namespace {

using model::AnnotatedFunction;
using model::AnnotatedInstruction;

struct Candidate {
  const FunctionKey* key = nullptr;
  const FunctionCode* code = nullptr;
  const model::Subject* subject = nullptr;  // null: no sample met it
  bool is_exact = false;                    // its whole name was asked for
};

// In the order in which they are shown.
std::vector<Candidate> candidates(const CodeByFunction& code,
                                  const std::vector<model::RoofPoint>& points,
                                  const AnnotateWanted& wanted) {
  std::map<FunctionKey, const model::Subject*> subjects;
  for (const model::RoofPoint& point : points)
    if (point.subject.scope == model::Scope::function)
      subjects.try_emplace({point.subject.name, point.subject.binary}, &point.subject);
  std::vector<Candidate> found;
  for (const auto& [key, function] : code) {
    const auto subject = subjects.find(key);
    Candidate each{&key, &function, subject == subjects.end() ? nullptr : subject->second};
    const double share = each.subject == nullptr ? 0 : each.subject->share_of_time;
    if (wanted.names.empty() ? share < wanted.least_share || share <= 0
                             : !has_part(key.name, wanted.names))
      continue;
    each.is_exact = std::ranges::find(wanted.names, key.name) != wanted.names.end();
    found.push_back(each);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), [](const Candidate& each) {
    return std::pair(each.is_exact, each.subject == nullptr ? 0 : each.subject->share_of_time);
  });
  // Who asks for a whole name does not ask for names that it is a part of.
  if (!found.empty() && found.front().is_exact)
    std::erase_if(found, [](const Candidate& each) { return !each.is_exact; });
  if (found.size() > wanted.top) found.resize(wanted.top);
  return found;
}

class Maker {
 public:
  Maker(const Candidate& from, const AddressTimes& times, Sources& sources)
      : from_(from), sources_(sources) {
    const auto met = times.find(*from.key);
    if (met != times.end()) met_ = met->second;
    for (const auto& [address, weight] : met_) all_ += weight;
  }

  AnnotatedFunction make(std::size_t most) {
    made_.name = from_.key->name;
    made_.binary = from_.key->binary;
    made_.address = from_.code->address;
    made_.samples = all_.samples;
    if (from_.subject != nullptr) {
      made_.seconds = from_.subject->seconds;
      made_.share_of_time = from_.subject->share_of_time;
      made_.why = from_.subject->why;
    }
    for (const auto& [address, each] : from_.code->code) {
      if (made_.code.size() >= most) break;
      add(address, each);
    }
    return std::move(made_);
  }

 private:
  void add(std::uint64_t address, const CodeInstruction& from) {
    AnnotatedInstruction each;
    each.address = address;
    each.text = from.text;
    each.count = from.count;
    each.target = from.target;
    const std::uint64_t behind = address + std::max<std::uint64_t>(from.length, 1);
    const sample::Weight weight = weight_in(met_, {{address, behind}});
    each.samples = weight.samples;
    if (all_.period > 0)
      each.share = static_cast<double>(weight.period) / static_cast<double>(all_.period);
    if (from_.code->waited > 0) {
      const double waited = std::accumulate(from.waited.begin(), from.waited.end(), 0.0);
      each.waited = waited / from_.code->waited;
      each.wait =
          static_cast<core::Wait>(std::ranges::max_element(from.waited) - from.waited.begin());
      each.waits_for = from.waits_for;
    }
    each.place = place_at(address);
    made_.code.push_back(std::move(each));
  }

  std::uint32_t place_at(std::uint64_t address) {
    model::SourcePlace place = sources_.at(from_.key->binary, address);
    // Neighbours mostly come from the same line.
    if (place == made_.places[last_]) return last_;
    const auto found = std::ranges::find(made_.places, place);
    last_ = static_cast<std::uint32_t>(found - made_.places.begin());
    if (found == made_.places.end()) made_.places.push_back(std::move(place));
    return last_;
  }

  const Candidate& from_;
  Sources& sources_;
  std::map<std::uint64_t, sample::Weight> met_;
  sample::Weight all_;
  std::uint32_t last_ = 0;
  AnnotatedFunction made_;
};

}  // namespace

bool has_part(const std::string& name, const std::vector<std::string>& parts) {
  return std::ranges::any_of(
      parts, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

std::vector<AnnotatedFunction> annotate(const CodeByFunction& code, const AddressTimes& times,
                                        const std::vector<model::RoofPoint>& points,
                                        const AnnotateWanted& wanted, Sources& sources) {
  std::vector<AnnotatedFunction> functions;
  for (const Candidate& each : candidates(code, points, wanted))
    functions.push_back(Maker(each, times, sources).make(wanted.most_instructions));
  return functions;
}

std::vector<AnnotatedFunction> chosen(const std::vector<AnnotatedFunction>& functions,
                                      const AnnotateWanted& wanted) {
  std::vector<AnnotatedFunction> found;
  for (const AnnotatedFunction& function : functions)
    if (wanted.names.empty() ? function.share_of_time >= wanted.least_share
                             : has_part(function.name, wanted.names))
      found.push_back(function);
  const auto is_exact = [&](const AnnotatedFunction& function) {
    return std::ranges::find(wanted.names, function.name) != wanted.names.end();
  };
  if (std::ranges::any_of(found, is_exact)) std::erase_if(found, std::not_fn(is_exact));
  if (found.size() > wanted.top) found.resize(wanted.top);
  return found;
}

Result<model::Annotation> annotation_of(const Measured& measured, const model::Machine& machine,
                                        const AnnotateWanted& wanted) {
  const model::RoofReport report = report_of(measured, machine, {});
  model::Annotation annotation;
  annotation.command = report.command;
  annotation.exit_status = report.exit_status;
  annotation.counts_from = report.counts_from;
  annotation.notes = report.notes;
  SourcesAtHand sources;
  annotation.functions = measured.code.empty()
                             ? chosen(measured.kept.code, wanted)
                             : annotate(measured.code, addresses_of(measured.native),
                                        report.chart.points, wanted, sources);
  if (!annotation.functions.empty()) return annotation;
  return failure(
      ErrorKind::not_found, "annotate code",
      wanted.names.empty()
          ? "samples met none of its functions: it ran too short"
          : "no function that ran has '" + loft::join(wanted.names, "' or '") + "' in its name",
      wanted.names.empty() ? "let it run longer, or name a function: loft annotate FUNCTION -- CMD"
                           : "loft roof -- CMD lists functions");
}

}  // namespace loft::roof
