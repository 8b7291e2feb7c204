// How long loops took, by the samples that met their code in the native run.
//
//   add_loop_subjects(counted.loops, addresses_of(native), machine.frequency_hz, subjects);
//
// A loop has the share of its function's time that it has of the function's samples. Plain data in
// and out.
#pragma once

#include <map>
#include <vector>

#include "roof/counted_work.hpp"
#include "roof/native.hpp"
#include "sample/trie.hpp"

namespace loft::roof {

// A loop that took, or did, a smaller share of the run is no point of its own.
inline constexpr double kLoopWorthAPoint = 0.001;

// Samples of functions by address in the binary.
using AddressTimes = std::map<FunctionKey, std::map<std::uint64_t, sample::Weight>>;
[[nodiscard]] AddressTimes addresses_of(const NativeProfile& native);

// What samples met in some code of a function.
[[nodiscard]] sample::Weight weight_in(const std::map<std::uint64_t, sample::Weight>& addresses,
                                       const std::vector<CodeRange>& code);

// Cycles of an iteration, of a loop whose time is known to be its own.
void set_cycles(double frequency_hz, model::Subject& loop);

// Adds a subject for each loop that is worth one: that took a thousandth of the time, or did as
// much of the run's instructions. Functions are among the subjects already.
void add_loop_subjects(const std::vector<LoopWork>& loops, const AddressTimes& times,
                       double frequency_hz, std::vector<model::Subject>& subjects);

}  // namespace loft::roof
