// What is thrown at the readers. Each target takes any bytes and must neither crash nor hang nor
// allocate beyond what the bytes justify; results are of no interest here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace loft::fuzz {

using Bytes = std::span<const std::byte>;

void fuzz_header(Bytes bytes);     // file header, attributes, feature sections
void fuzz_records(Bytes bytes);    // the walk, resynchronization, every typed view
void fuzz_samples(Bytes bytes);    // the first 64 bytes choose the layout
void fuzz_tracing(Bytes bytes);    // tracing data and tracepoint fields
void fuzz_recording(Bytes bytes);  // a whole recording, from its bytes to its report
void fuzz_elf(Bytes bytes);        // ELF headers, symbols, DWARF, unwind tables
void fuzz_notes(Bytes bytes);      // the build id among ELF notes
void fuzz_metric(Bytes bytes);     // metric files of every format, and files of counts
void fuzz_window(Bytes bytes);     // a window of a run for the timing model
void fuzz_geometry(Bytes bytes);   // caches, TLBs and predictors as text
void fuzz_machine(Bytes bytes);    // machine files and the user's constants
void fuzz_jit(Bytes bytes);        // perf maps and jitdumps
void fuzz_events(Bytes bytes);     // the user's events and sets, and tables of presets
void fuzz_unit(Bytes bytes);       // configuration and stimulus of a counter unit
void fuzz_http(Bytes bytes);       // the head of a request
void fuzz_control(Bytes bytes);    // what a core is to count
void fuzz_run(Bytes bytes);        // what a kept roofline run says
void fuzz_rank(Bytes bytes);       // the summary of a rank of a job, and the file around it
void fuzz_stream(Bytes bytes);     // the first bytes are code, the others a record of its addresses

struct Target {
  std::string_view name;
  void (*run)(Bytes bytes);
};
inline constexpr Target kTargets[] = {
    {"header", fuzz_header},
    {"records", fuzz_records},
    {"samples", fuzz_samples},
    {"tracing", fuzz_tracing},
    {"recording", fuzz_recording},
    {"elf", fuzz_elf},
    {"notes", fuzz_notes},
    {"metric", fuzz_metric},
    {"window", fuzz_window},
    {"geometry", fuzz_geometry},
    {"machine", fuzz_machine},
    {"jit", fuzz_jit},
    {"events", fuzz_events},
    {"unit", fuzz_unit},
    {"http", fuzz_http},
    {"control", fuzz_control},
    {"run", fuzz_run},
    {"rank", fuzz_rank},
#ifdef LOFT_HAS_ENGINE
    {"stream", fuzz_stream},
#endif
};

}  // namespace loft::fuzz
