// What a model said of a measured run, kept with its recording: loops, verdicts and the code of the
// functions that took most time. Read again, it needs no binary, no source and no model.
//
//   const std::string text = analysis_json(analysis);
//   LOFT_TRY(const KeptAnalysis same, read_analysis("x.data", text));
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/roof_report.hpp"
#include "model/verdict.hpp"
#include "roof/counted_work.hpp"

namespace loft::roof {

// By part_key() of functions and loops; the run itself has an empty key.
using Verdicts = std::map<FunctionKey, model::Why>;

struct KeptAnalysis {
  Verdicts verdicts;
  std::vector<std::pair<double, model::Why>> slices;  // by their start, in seconds
  std::vector<model::RoofPhase> phases;
  std::vector<LoopWork> loops;
  std::vector<model::AnnotatedFunction> code;
};

[[nodiscard]] std::string analysis_json(const KeptAnalysis& analysis);
// `where` names the file in errors.
[[nodiscard]] Result<KeptAnalysis> read_analysis(const std::string& where, const std::string& text);

}  // namespace loft::roof
