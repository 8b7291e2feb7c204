// The code of functions, instruction by instruction, with what is known of each: how often it ran,
// how long samples met it, and how much of the time everything waited for it.
//
//   for (const AnnotatedFunction& function : annotation.functions)
//     for (const AnnotatedInstruction& each : function.code)
//       print(each.text, each.count, function.place_of(each).line);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/critical_path.hpp"
#include "model/verdict.hpp"

namespace loft::model {

// A line of source, or the body of a function that was inlined there.
struct SourcePlace {
  std::string file;  // empty: not known
  unsigned line = 0;
  std::string text;                  // of the line; empty where the file is not there
  std::vector<std::string> inlined;  // functions whose bodies are here, outermost first

  bool operator==(const SourcePlace&) const = default;
};

// What samples of one event say.
struct EventShare {
  std::uint64_t samples = 0;
  double share = 0;
};

struct AnnotatedInstruction {
  std::uint64_t address = 0;  // as the binary's own tables have it
  std::string text;
  std::optional<double> count;  // how often it ran; nothing: not counted
  std::uint64_t samples = 0;    // that met it
  double share = 0;             // of the function's time, by samples
  // Of the function's modelled time, while all waited for this; nothing where it was not modelled.
  std::optional<double> waited;
  core::Wait wait{};                       // for what of it most
  std::optional<std::uint64_t> waits_for;  // whose result it took up last, by address
  std::uint32_t place = 0;                 // one of AnnotatedFunction::places
  std::uint64_t target = 0;                // of a direct branch; 0: none
  std::vector<EventShare> others;          // of Annotation::events, but for the first
};

struct AnnotatedFunction {
  std::string name;
  std::string binary;
  std::uint64_t address = 0;  // of its first instruction
  double seconds = 0;         // 0: no sample met it
  double share_of_time = 0;   // of the run
  std::uint64_t samples = 0;
  std::optional<Why> why;
  std::vector<SourcePlace> places = {{}};  // the first is unknown
  std::vector<AnnotatedInstruction> code;  // by address
  std::vector<EventShare> others;          // of all samples, as in AnnotatedInstruction

  [[nodiscard]] const SourcePlace& place_of(const AnnotatedInstruction& each) const {
    return places[each.place];
  }
};

struct Annotation {
  std::vector<std::string> command;
  int exit_status = 0;
  std::string counts_from;                   // "virtual PMU, exact"; "none"
  std::vector<AnnotatedFunction> functions;  // longest first
  std::vector<std::string> notes;
  // That samples are of: `share` of the first is in the place of the time. Empty: of run time.
  std::vector<std::string> events;
};

// Everything waits for it so often that it holds the function back.
inline constexpr double kHoldsBack = 0.1;  // of the function's modelled time
[[nodiscard]] inline bool holds_back(const AnnotatedInstruction& each) {
  return each.waited.value_or(0) >= kHoldsBack;
}

// "its result", "load from DRAM", "a free unit": what of an instruction others wait for.
[[nodiscard]] std::string_view words_of(core::Wait wait);

// What an instruction, or all of one line, have together.
struct AnnotatedSum {
  std::optional<double> count;  // the largest
  std::uint64_t samples = 0;
  double share = 0;
  std::optional<double> waited;
  std::vector<EventShare> others;

  void add(const AnnotatedInstruction& each);
};

// Source lines with what their instructions have, by file and line; inlined bodies apart.
struct AnnotatedLine {
  std::uint32_t place = 0;
  AnnotatedSum sum;
};
[[nodiscard]] std::vector<AnnotatedLine> lines_of(const AnnotatedFunction& function);

}  // namespace loft::model
