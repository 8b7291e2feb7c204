#include "view/page_template.hpp"

#include "base/embedded_file.hpp"

LOFT_EMBEDDED_FILE(loft_page_template, LOFT_PAGE_TEMPLATE)

namespace loft::view {

std::string_view page_template() { return LOFT_EMBEDDED_TEXT(loft_page_template); }

}  // namespace loft::view
