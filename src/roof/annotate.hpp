// The code of functions with everything that is known of each instruction: what `loft annotate` and
// the page show.
//
//   SourcesAtHand sources;
//   const auto functions = annotate(measured.code, addresses_of(measured.native),
//                                   report.chart.points, {.names = {"triad"}}, sources);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/annotation.hpp"
#include "model/roof_report.hpp"
#include "roof/code.hpp"
#include "roof/loop_time.hpp"
#include "roof/measure.hpp"

namespace loft::roof {

// Where code came from, as debug information tells it, and the text of that line.
class Sources {
 public:
  virtual ~Sources() = default;
  [[nodiscard]] virtual model::SourcePlace at(const std::string& binary, std::uint64_t address) = 0;
};

struct AnnotateWanted {
  std::vector<std::string> names;  // functions with one of these in their name; empty: the longest
  std::size_t top = 1;             // so many functions at most
  double least_share = 0;          // of the time; of functions that are not asked for by name
  std::size_t most_instructions = 20'000;  // of one function
};

// Whether a name has one of the parts.
[[nodiscard]] bool has_part(const std::string& name, const std::vector<std::string>& parts);

// Functions that took most time first. `points` are those of the run: functions with their times
// and verdicts.
[[nodiscard]] std::vector<model::AnnotatedFunction> annotate(
    const CodeByFunction& code, const AddressTimes& times,
    const std::vector<model::RoofPoint>& points, const AnnotateWanted& wanted, Sources& sources);

// Those of `functions`, annotated already, that are wanted.
[[nodiscard]] std::vector<model::AnnotatedFunction> chosen(
    const std::vector<model::AnnotatedFunction>& functions, const AnnotateWanted& wanted);

// All of a measured run. Fails where no function has one of the names.
[[nodiscard]] Result<model::Annotation> annotation_of(const Measured& measured,
                                                      const model::Machine& machine,
                                                      const AnnotateWanted& wanted);

// Debug information and source files of this machine.
class SourcesAtHand : public Sources {
 public:
  SourcesAtHand();
  ~SourcesAtHand() override;
  [[nodiscard]] model::SourcePlace at(const std::string& binary, std::uint64_t address) override;

 private:
  class Files;
  std::unique_ptr<Files> files_;
};

}  // namespace loft::roof
