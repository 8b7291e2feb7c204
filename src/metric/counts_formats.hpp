// Inside read_counts(): one function for each layout.
#pragma once

#include "metric/counts_file.hpp"

namespace loft::metric {

// Fields of one CSV line: quotes hold separators, "" inside quotes is a quote.
std::vector<std::string> csv_fields(std::string_view line, char separator);

// A cell as a quantity in base units: "msec" becomes seconds. Unknown units are kept as they are.
Quantity quantity_of(std::string_view value, std::string_view unit, sample::Origin origin);

Failure bad_counts(const std::string& file_name, std::size_t line, std::string why);

[[nodiscard]] Result<CountsFile> read_perf_counts(const std::string& file_name,
                                                  std::string_view text, char separator);
[[nodiscard]] Result<CountsFile> read_likwid_counts(const std::string& file_name,
                                                    std::string_view text);
[[nodiscard]] Result<CountsFile> read_json_counts(const std::string& file_name,
                                                  std::string_view text);

}  // namespace loft::metric
