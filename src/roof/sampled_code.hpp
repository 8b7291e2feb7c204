// The code of functions that the samples of a recording met, read from their binaries: of
// recordings by perf or `loft record`, which count nothing by instruction.
//
//   LOFT_TRY(const auto annotation, annotate_samples(*recording, {.names = {"triad"}}));
//
// Each instruction has its share of the function's samples, of each event. Functions whose binary
// is not there, or is another by now, have the addresses that samples met.
#pragma once

#include "base/result.hpp"
#include "model/annotation.hpp"
#include "roof/annotate.hpp"
#include "source/file/recording.hpp"

namespace loft::roof {

// Fails where no sample says where in a program it was taken, or no function has one of the names.
[[nodiscard]] Result<model::Annotation> annotate_samples(const source::Recording& recording,
                                                         const AnnotateWanted& wanted);

}  // namespace loft::roof
