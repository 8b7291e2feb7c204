// Which code is MPI's own, by the library it is in.
#pragma once

#include <string_view>

namespace loft::job {

// Libraries of MPI and of the transports below it: time and bytes there are of communication.
[[nodiscard]] bool is_mpi_library(std::string_view binary);

// Functions in which an MPI that waits gives its CPU away. Their callers cannot always be told, for
// few libraries keep frame pointers; a program with ranks hardly calls them itself.
[[nodiscard]] bool is_wait_function(std::string_view name);

}  // namespace loft::job
