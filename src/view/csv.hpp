// Fields of comma-separated tables (RFC 4180), harmless to terminals and spreadsheets.
#pragma once

#include <string>
#include <string_view>

namespace loft::view {

// Quotes a field where it needs it. Control characters are escaped, and a text that a spreadsheet
// would take for a formula gets a leading apostrophe.
std::string csv_field(std::string_view text);

}  // namespace loft::view
