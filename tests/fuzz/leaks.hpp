// libtraceevent loses some bytes of formats that it refuses; they are not ours to free. To be
// included by one file of each program.
#pragma once

extern "C" __attribute__((visibility("default"), used)) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libtraceevent"; }
