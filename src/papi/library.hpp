// The state of the library: whether it was started, threads, options.
#pragma once

namespace loft::papi {

// PAPI_OK, or PAPI_ENOINIT before PAPI_library_init, and in a child of fork until it calls that.
[[nodiscard]] int check_started();

// Domains of sets that are created from now on; the engine counts user mode alone.
[[nodiscard]] int set_domain(int domain);
[[nodiscard]] int set_granularity(int granularity);

}  // namespace loft::papi
