// What `loft annotate` shows: the code of functions, as text of 80 columns, JSON, CSV or page.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/annotation.hpp"

namespace loft::view {

struct AnnotateTextOptions {
  bool all = false;  // also code that took no time, and was not waited for
};
std::string annotate_text(const model::Annotation& annotation,
                          const AnnotateTextOptions& options = {});
std::string annotate_json(const model::Annotation& annotation);
std::string annotate_csv(const model::Annotation& annotation);
[[nodiscard]] Result<std::string> annotate_html(const model::Annotation& annotation);

// An instruction for people: sizes that its registers tell are left out, a jump inside the function
// says where by its offset.
std::string shown_instruction(const model::AnnotatedFunction& function,
                              const model::AnnotatedInstruction& each);

}  // namespace loft::view
