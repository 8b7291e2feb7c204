#include "view/page_template.hpp"

// The assembler takes the file in as it is; a string in C++ would have to be escaped by a tool.
asm(R"(
    .pushsection .rodata
    .global loft_page_template_begin
    .global loft_page_template_end
    .hidden loft_page_template_begin
    .hidden loft_page_template_end
loft_page_template_begin:
    .incbin ")" LOFT_PAGE_TEMPLATE R"("
loft_page_template_end:
    .popsection
)");

extern "C" {
extern const char loft_page_template_begin[];
extern const char loft_page_template_end[];
}

namespace loft::view {

std::string_view page_template() {
  return {loft_page_template_begin,
          static_cast<std::size_t>(loft_page_template_end - loft_page_template_begin)};
}

}  // namespace loft::view
